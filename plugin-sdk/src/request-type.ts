import type { EndpointName } from './shared.js';

/** What users call the kinds of requests: the names of the reference gateway, and ours for what it has no name for. */
export const requestTypes = [
  'complete', 'chatComplete', 'embed', 'rerank', 'moderate', 'proxy', 'imageGenerate', 'imageEdit', 'imageVariation', 'createSpeech',
  'createTranscription', 'createTranslation', 'realtime', 'uploadFile', 'listFiles', 'retrieveFile', 'deleteFile', 'retrieveFileContent',
  'createBatch', 'retrieveBatch', 'cancelBatch', 'listBatches', 'getBatchOutput', 'listFinetunes', 'createFinetune', 'retrieveFinetune',
  'cancelFinetune', 'createModelResponse', 'getModelResponse', 'deleteModelResponse', 'cancelModelResponse', 'listResponseInputItems', 'messages',
  'messagesCountTokens', 'listModels', 'agent', 'mcp',
] as const;
export type RequestType = (typeof requestTypes)[number];

const fixed: Readonly<Partial<Record<EndpointName, RequestType>>> = {
  chatCompletions: 'chatComplete', completions: 'complete', messages: 'messages', countTokens: 'messagesCountTokens', embeddings: 'embed',
  imageGenerations: 'imageGenerate', imageEdits: 'imageEdit', imageVariations: 'imageVariation', speech: 'createSpeech',
  transcriptions: 'createTranscription', translations: 'createTranslation', rerank: 'rerank', moderations: 'moderate', models: 'listModels',
};

/** From what the call does, never from what the caller says about it. */
export function requestTypeOf({ endpoint, request: { method, path } }: { readonly endpoint: EndpointName; readonly request: { readonly method: string; readonly path: string } }): RequestType {
  const known = fixed[endpoint];
  if (known !== undefined) return known;
  switch (endpoint) {
    case 'files': {
      const [id, action] = below(path, '/files');
      if (id === '') return method === 'POST' ? 'uploadFile' : 'listFiles';
      if (method === 'DELETE') return 'deleteFile';
      return action === 'content' ? 'retrieveFileContent' : 'retrieveFile';
    }
    case 'batches': {
      const [id, action] = below(path, '/batches');
      if (id === '') return method === 'POST' ? 'createBatch' : 'listBatches';
      return action === 'cancel' ? 'cancelBatch' : action === 'output' ? 'getBatchOutput' : 'retrieveBatch';
    }
    case 'fineTuning': {
      const [id, action] = below(path, '/fine_tuning/jobs');
      if (id === '') return method === 'POST' ? 'createFinetune' : 'listFinetunes';
      return action === 'cancel' ? 'cancelFinetune' : 'retrieveFinetune';
    }
    case 'responses': {
      const [id, action] = below(path, '/responses');
      if (id === '') return 'createModelResponse';
      if (action === 'cancel') return 'cancelModelResponse';
      if (action === 'input_items') return 'listResponseInputItems';
      return method === 'DELETE' ? 'deleteModelResponse' : 'getModelResponse';
    }
    default:
      if (method === 'GET' && path === '/v1/realtime') return 'realtime';
      return method === 'GET' && /^\/v1\/batches\/[^/]+\/output$/.test(path) ? 'getBatchOutput' : 'proxy';
  }
}

/** The two segments behind a family's path; empty where there are none. */
function below(path: string, family: string): readonly [string, string] {
  const from = path.indexOf(family);
  const [, id = '', action = ''] = from === -1 ? [] : path.slice(from + family.length).split('/');
  return [id, action];
}
