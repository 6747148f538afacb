import type { EndpointSpec, ProviderCall } from '@gateway/plugin-sdk';
import { geminiImageRequests, geminiImages, geminiSpeech, geminiSpeechRequest, imagenImages, imagenRequest, isImagen } from '../common/gemini.js';
import { publisherPath, vertexModel } from './models.js';

export function imageGenerations(call: ProviderCall): EndpointSpec | undefined {
  const model = vertexModel(call);
  if (model.speaks !== 'gemini') return undefined;
  return isImagen(model.name)
    ? { path: publisherPath(call, model, 'predict'), request: imagenRequest, response: imagenImages }
    : { path: publisherPath(call, model, 'generateContent'), isFanOut: true, request: geminiImageRequests, response: geminiImages };
}

export function speech(call: ProviderCall): EndpointSpec | undefined {
  const model = vertexModel(call);
  if (model.speaks !== 'gemini') return undefined;
  return { path: publisherPath(call, model, 'generateContent'), request: geminiSpeechRequest, response: geminiSpeech };
}
