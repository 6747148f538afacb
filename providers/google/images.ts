import type { EndpointSpec, ProviderCall } from '@gateway/plugin-sdk';
import { geminiImageRequests, geminiImages, imagenImages, imagenRequest, isImagen } from '../common/gemini.js';
import { modelPath } from './chat.js';

/** Imagen draws several images in one call; Gemini's image models chat, and draw one. */
export function imageGenerations(call: ProviderCall): EndpointSpec {
  return isImagen(call.model)
    ? { path: modelPath(call, 'predict'), request: imagenRequest, response: imagenImages }
    : { path: modelPath(call, 'generateContent'), isFanOut: true, request: geminiImageRequests, response: geminiImages };
}
