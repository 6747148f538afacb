// Hot: runs for each image generation.
// POST /v1/images/generations: the members of its body, some of whose limits depend on the model. /edits and /variations are uploads.

import { jsonEndpoint, uploadEndpoint } from './endpoint.js';
import { described, fault, filledText, integerIn, isLonger, oneOf, requiredText, text, type Body, type Check } from './rules.js';

interface ModelLimits {
  readonly promptCharacters: number;
  readonly imagesMax: number;
  readonly sizes: Check;
  readonly qualities: Check;
  /** Null: the model has no styles. */
  readonly styles: Check | null;
}

/** The two models that the specification's table speaks of; newer ones have limits of their own, which their provider checks. */
const limitsByModel: ReadonlyMap<unknown, ModelLimits> = new Map<unknown, ModelLimits>([
  ['dall-e-2', {
    promptCharacters: 1000, imagesMax: 10, sizes: oneOf(['256x256', '512x512', '1024x1024']),
    // What the model does anyway, and what clients send for every model.
    qualities: oneOf(['standard', 'auto']), styles: null,
  }],
  ['dall-e-3', {
    promptCharacters: 4000, imagesMax: 1, sizes: oneOf(['1024x1024', '1792x1024', '1024x1792']),
    qualities: oneOf(['standard', 'hd', 'auto']), styles: oneOf(['vivid', 'natural']),
  }],
]);

const limitsOf = (body: Body): ModelLimits | undefined => limitsByModel.get(body.model);

const prompt = described(filledText.schema, (value, name, body) => {
  const found = filledText(value, name, body);
  const limits = limitsOf(body);
  if (found !== undefined || limits === undefined || typeof value !== 'string' || !isLonger(value, limits.promptCharacters)) return found;
  return fault(name, `must have at most ${limits.promptCharacters} characters for ${String(body.model)}`);
});

const countRange = integerIn(1, 10);
const count = described(countRange.schema, (value, name, body) => {
  const found = countRange(value, name, body);
  const limits = limitsOf(body);
  if (found !== undefined || limits === undefined || typeof value !== 'number' || value <= limits.imagesMax) return found;
  return fault(name, `must be ${limits.imagesMax} for ${String(body.model)}`);
});

const byModel = { ...text.schema, description: 'some models take few values' };
const size = described(byModel, (value, name, body) => (limitsOf(body)?.sizes ?? text)(value, name, body));
const quality = described(byModel, (value, name, body) => (limitsOf(body)?.qualities ?? text)(value, name, body));
const style = described(byModel, (value, name, body) => {
  const limits = limitsOf(body);
  if (limits === undefined) return text(value, name, body);
  return limits.styles === null ? fault(name, `is not for ${String(body.model)}; leave it out`) : limits.styles(value, name, body);
});

export const imageGenerations = jsonEndpoint('imageGenerations', {
  required: { prompt: { expected: requiredText.expected, check: prompt } },
  optional: {
    model: text,
    n: count,
    quality,
    response_format: oneOf(['url', 'b64_json']),
    size,
    style,
    user: text,
  },
});
export const imageEdits = uploadEndpoint('imageEdits');
export const imageVariations = uploadEndpoint('imageVariations');
