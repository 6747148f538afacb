import { pathSegments, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import type { GeminiDialect } from '../common/gemini.js';
import { chatToGemini } from '../common/gemini.js';

const dialect: GeminiDialect = { files: 'gemini' };

/** `models/` in front of a name, which Google's own libraries write, means nothing; tuned models are a collection of their own. */
function modelName(call: ProviderCall): string {
  const name = call.model.startsWith('tunedModels/') ? call.model : call.model.replace(/^models\//, '');
  return name === '' ? call.refuse('model', 'must name a model; it is part of Google\'s path') : name;
}

/** The resource as Google names it: `models/gemini-2.5-flash`. */
export const modelResource = (call: ProviderCall): string => {
  const name = modelName(call);
  return name.startsWith('tunedModels/') ? name : `models/${name}`;
};

export function modelPath(call: ProviderCall, action: string): string {
  return `/${pathSegments(modelResource(call))}:${action}`;
}

export const chatRequest = (body: JsonObject, call: ProviderCall): JsonObject => chatToGemini(body, call, dialect);

/** Only wrapped does Google count system texts and tools as well. */
export const countRequest = (body: JsonObject, call: ProviderCall): JsonObject => ({
  generateContentRequest: { model: modelResource(call), ...chatToGemini(body, call, dialect) },
});
