import { defineProvider, isObject, pathSegment, type EndpointSpec, type ProviderCall, type ProviderFault } from '@gateway/plugin-sdk';
import { awsAliases, awsCredentialProperties, checkKeyPair, eventStream, regionalUrl, signRequest } from '../common/aws.js';
import { chatAnswer } from './chat-answer.js';
import { ConverseStage } from './chat-stream.js';
import { chatExtensions, converseRequest, converseTokensRequest } from './chat.js';
import { embeddingsSpec } from './embeddings.js';
import { imagesSpec } from './images.js';
import { invokeHeaders, invokeRequest, InvokeStage, invokeTokensRequest, tokensAnswer } from './messages.js';
import { isClaude, readModel } from './model.js';
import { rerankSpec } from './rerank.js';

const messagesSpec: EndpointSpec = {
  path: '/model/{model}/invoke',
  streamPath: '/model/{model}/invoke-with-response-stream',
  headers: invokeHeaders,
  request: invokeRequest,
  framing: eventStream,
  stream: () => new InvokeStage(),
};

/** Counting is offered for foundation models, not for the inference profiles that route to them. */
function countTokensSpec(call: ProviderCall): EndpointSpec {
  const model = readModel(call.model);
  const path = `/model/${pathSegment(model.id === '' ? call.model : model.id)}/count-tokens`;
  if (isClaude(model)) return { path, request: invokeTokensRequest, response: tokensAnswer };
  return { path, from: 'chat', accepts: chatExtensions, request: converseTokensRequest, response: tokensAnswer };
}

/** The kind of an error is in a header, and in some answers in the body: `aws.protocoltests#ThrottlingException`, `ThrottlingException:http://...`. */
function fault(body: unknown, _status: number, header: (name: string) => string | undefined): ProviderFault | undefined {
  if (!isObject(body)) return undefined;
  const message = body.message ?? body.Message;
  if (typeof message !== 'string') return undefined;
  const kind = header('x-amzn-errortype') ?? body.__type;
  const [, type] = /^(?:[^#]*#)?(\w+)/.exec(typeof kind === 'string' ? kind : '') ?? [];
  return { message, ...(type === undefined ? {} : { type }) };
}

export default defineProvider({
  title: 'AWS Bedrock',
  describe: 'Models of many makers on AWS: chat by Converse, Anthropic messages natively, embeddings, images and rerank.',
  priceTable: 'aws',
  baseUrl: (credentials) => {
    checkKeyPair(credentials);
    return regionalUrl('bedrock-runtime', credentials);
  },
  auth: { type: 'signed', covers: 'body' },
  params: {
    type: 'object',
    properties: {
      api_key: { type: 'string', secret: true, description: 'Bedrock API key; used when there is no access key.' },
      ...awsCredentialProperties,
    },
  },
  aliases: awsAliases,
  endpoints: {
    chatCompletions: {
      path: '/model/{model}/converse',
      streamPath: '/model/{model}/converse-stream',
      accepts: chatExtensions,
      request: converseRequest,
      response: chatAnswer,
      framing: eventStream,
      stream: (call) => new ConverseStage(call),
    },
    messages: (call) => (isClaude(readModel(call.model)) ? messagesSpec : undefined),
    countTokens: countTokensSpec,
    embeddings: embeddingsSpec,
    imageGenerations: imagesSpec,
    rerank: rerankSpec,
  },
  error: fault,
  sign: (outgoing, keys, host) => signRequest('bedrock', outgoing, keys, new Date(host.now())),
});
