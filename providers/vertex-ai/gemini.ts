import type { JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { chatToGemini } from '../common/gemini.js';

export const geminiRequest = (body: JsonObject, call: ProviderCall): JsonObject => chatToGemini(body, call, { files: 'vertex' });

/** Counting takes what makes up the prompt and nothing else. */
export function countRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const { contents, systemInstruction, tools, generationConfig } = geminiRequest(body, call);
  return {
    contents: contents ?? [],
    ...(systemInstruction === undefined ? {} : { systemInstruction }),
    ...(tools === undefined ? {} : { tools }),
    ...(generationConfig === undefined ? {} : { generationConfig }),
  };
}
