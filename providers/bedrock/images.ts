import { isObject, ProviderError, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { readModel } from './model.js';

const amazonImagesMax = 5;
const seedMax = 4_294_967_295;

const translated: ReadonlySet<string> = new Set([
  'model', 'prompt', 'n', 'size', 'quality', 'response_format', 'style', 'user', 'background', 'moderation', 'output_compression', 'output_format', 'stream', 'partial_images', 'negative_prompt', 'seed',
]);

export function imagesSpec(call: ProviderCall): EndpointSpec | undefined {
  const { id, vendor } = readModel(call.model);
  if (id.startsWith('amazon.titan-image') || id.startsWith('amazon.nova-canvas')) return { path: '/model/{model}/invoke', request: amazonRequest, response: amazonAnswer };
  if (vendor === 'stability') return { path: '/model/{model}/invoke', isFanOut: true, request: stabilityRequests, response: stabilityAnswer };
  return undefined;
}

/** The members that every family has in common; the rest of OpenAI's members are hints. */
function promptOf(body: JsonObject, call: ProviderCall): string {
  if (body.response_format === 'url') call.omit('response_format', 'Bedrock keeps no images; take b64_json');
  if (body.stream === true) call.refuse('stream', 'Bedrock sends images whole');
  if (body.background === 'transparent') call.omit('background', 'Bedrock draws a background always');
  for (const name of ['style', 'user', 'moderation', 'output_compression', 'partial_images']) {
    if (body[name] !== undefined && body[name] !== null) call.report(name);
  }
  if (typeof body.prompt !== 'string' || body.prompt === '') return call.refuse('prompt', 'must be a text');
  return body.prompt;
}

function sizeOf(body: JsonObject, call: ProviderCall): readonly [width: number, height: number] | undefined {
  if (body.size === undefined || body.size === null || body.size === 'auto') return undefined;
  const [, width, height] = (typeof body.size === 'string' ? /^(\d{2,5})x(\d{2,5})$/.exec(body.size) : null) ?? [];
  if (width === undefined || height === undefined) return call.refuse('size', 'must be width and height, such as 1024x1024');
  return [Number(width), Number(height)];
}

const countOf = (body: JsonObject): number => (typeof body.n === 'number' ? body.n : 1);
const others = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([name, value]) => !translated.has(name) && value !== null));

/** `textToImageParams` and `imageGenerationConfig` of the client are completed, everything else goes up as it is. */
function amazonRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const text = promptOf(body, call);
  const size = sizeOf(body, call);
  const count = countOf(body);
  if (count < 1 || count > amazonImagesMax) call.refuse('n', `Bedrock takes 1 to ${amazonImagesMax}`);
  if (body.output_format !== undefined && body.output_format !== null && body.output_format !== 'png') call.omit('output_format', 'the model makes png');
  const { textToImageParams, imageGenerationConfig, ...rest } = others(body);
  return {
    taskType: 'TEXT_IMAGE',
    textToImageParams: { text, ...(typeof body.negative_prompt === 'string' ? { negativeText: body.negative_prompt } : {}), ...(isObject(textToImageParams) ? textToImageParams : {}) },
    imageGenerationConfig: {
      numberOfImages: count,
      ...(size === undefined ? {} : { width: size[0], height: size[1] }),
      ...(typeof body.quality === 'string' && body.quality !== 'auto' ? { quality: isFine(body.quality) ? 'premium' : 'standard' } : {}),
      ...(typeof body.seed === 'number' ? { seed: body.seed } : {}),
      ...(isObject(imageGenerationConfig) ? imageGenerationConfig : {}),
    },
    ...rest,
  };
}

const isFine = (quality: string): boolean => quality === 'hd' || quality === 'high' || quality === 'premium';

function amazonAnswer(body: Json, call: ProviderCall): JsonObject {
  const answer = isObject(body) ? body : {};
  return imagesAnswer(textsOf(answer.images), typeof answer.error === 'string' ? answer.error : 'the provider gave no image', call);
}

/** Stability's models make one image a call; several are asked for by several calls. */
function stabilityRequests(body: JsonObject, call: ProviderCall): Json {
  const prompt = promptOf(body, call);
  const size = sizeOf(body, call);
  const count = countOf(body);
  if (count < 1 || count > 10) call.refuse('n', 'must be 1 to 10');
  if (typeof body.quality === 'string' && body.quality !== 'auto') call.report('quality');
  const request = {
    prompt,
    ...(size === undefined ? {} : { aspect_ratio: aspectRatio(size, call) }),
    ...(typeof body.output_format === 'string' ? { output_format: body.output_format } : {}),
    ...(typeof body.negative_prompt === 'string' ? { negative_prompt: body.negative_prompt } : {}),
    ...others(body),
  };
  const { seed } = body;
  // The same seed would draw the same image again.
  return Array.from({ length: count }, (_, index) => ({ ...request, ...(typeof seed === 'number' ? { seed: (seed + index) % (seedMax + 1) } : {}) }));
}

const aspectRatios: readonly (readonly [name: string, ratio: number])[] = [
  ['16:9', 16 / 9], ['1:1', 1], ['21:9', 21 / 9], ['2:3', 2 / 3], ['3:2', 3 / 2], ['4:5', 4 / 5], ['5:4', 5 / 4], ['9:16', 9 / 16], ['9:21', 9 / 21],
];

/** OpenAI's sizes of 1792 and 1024 are meant as 16 to 9, though not exactly so. */
function aspectRatio([width, height]: readonly [number, number], call: ProviderCall): string {
  const ratio = width / height;
  const found = aspectRatios.find(([, known]) => Math.abs(known / ratio - 1) < 0.02);
  return found?.[0] ?? call.refuse('size', `the model takes the aspect ratios ${aspectRatios.map(([name]) => name).join(', ')}`);
}

function stabilityAnswer(body: Json, call: ProviderCall): JsonObject {
  const answers = (Array.isArray(body) ? body : [body]).filter(isObject);
  const reasons = answers.flatMap((answer) => textsOf(answer.finish_reasons));
  return imagesAnswer(answers.flatMap((answer) => textsOf(answer.images)), reasons[0] ?? 'the provider gave no image', call);
}

const textsOf = (list: Json | undefined): string[] => (Array.isArray(list) ? list.filter((text): text is string => typeof text === 'string') : []);

/** An answer without any image is the provider's content filter, told with a status of 200. */
function imagesAnswer(images: readonly string[], reason: string, call: ProviderCall): JsonObject {
  if (images.length === 0) throw new ProviderError(reason, { status: 400, type: 'content_filter' });
  return { created: call.createdAt, data: images.map((image) => ({ b64_json: image })) };
}
