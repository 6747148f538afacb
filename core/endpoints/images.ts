// POST /v1/images/generations, /edits, /variations

import type { BodyFault } from '../exchange/endpoint.js';
import { jsonEndpoint, uploadEndpoint } from './endpoint.js';
import { integerIn, oneOf, requiredText, text, type Body, type Rule } from './rules.js';

interface ModelLimits {
  readonly promptCharacters: number;
  readonly imagesMax: number;
  readonly sizes: readonly string[];
  readonly hasQualityAndStyle: boolean;
}

/** The two models that the specification's table speaks of; newer ones have limits of their own, which their provider checks. */
const limitsByModel: Readonly<Record<string, ModelLimits>> = {
  'dall-e-2': { promptCharacters: 1000, imagesMax: 10, sizes: ['256x256', '512x512', '1024x1024'], hasQualityAndStyle: false },
  'dall-e-3': { promptCharacters: 4000, imagesMax: 1, sizes: ['1024x1024', '1792x1024', '1024x1792'], hasQualityAndStyle: true },
};

const byModel: Rule = (body: Body): BodyFault | undefined => {
  const model = typeof body.model === 'string' ? body.model : '';
  const limits = Object.hasOwn(limitsByModel, model) ? limitsByModel[model] : undefined;
  if (limits === undefined) return undefined;
  if (typeof body.prompt === 'string' && body.prompt.length > limits.promptCharacters) {
    return { param: 'prompt', reason: `must have at most ${limits.promptCharacters} characters for ${model}; it has ${body.prompt.length}` };
  }
  if (typeof body.n === 'number' && body.n > limits.imagesMax) return { param: 'n', reason: `must be ${limits.imagesMax} for ${model}` };
  if (typeof body.size === 'string' && !limits.sizes.includes(body.size)) return { param: 'size', reason: `must be one of ${limits.sizes.join(', ')} for ${model}` };
  if (limits.hasQualityAndStyle) {
    return oneOf('quality', ['standard', 'hd'])(body) ?? oneOf('style', ['vivid', 'natural'])(body);
  }
  if (body.style !== undefined && body.style !== null) return { param: 'style', reason: `is not for ${model}; leave it out` };
  return undefined;
};

export const imageGenerations = jsonEndpoint('imageGenerations', [
  requiredText('prompt'),
  text('model'),
  integerIn('n', 1, 10),
  oneOf('response_format', ['url', 'b64_json']),
  text('size'),
  text('quality'),
  text('style'),
  byModel,
  text('user'),
]);
export const imageEdits = uploadEndpoint('imageEdits');
export const imageVariations = uploadEndpoint('imageVariations');
