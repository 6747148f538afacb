import { isObject, listOf, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { inlineOf, modalityOf, partsOf, usageOf } from './answer.js';

/** OpenAI's fields. Everything else is Google's own. */
const openai = new Set([
  'model', 'prompt', 'n', 'size', 'quality', 'style', 'response_format', 'output_format', 'output_compression', 'background', 'moderation', 'user', 'stream', 'partial_images',
]);

const ownFields = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([name, value]) => !openai.has(name) && value !== null));

function readPrompt(body: JsonObject, call: ProviderCall): string {
  if (body.response_format === 'url') call.omit('response_format', 'Google gives the image itself and no address; must be b64_json');
  if (body.background === 'transparent') call.omit('background', 'Google\'s models draw no transparent images');
  if (body.stream === true) call.refuse('stream', 'Google gives whole images only');
  if (isSet(body.quality, 'auto', 'standard')) call.report('quality');
  if (isSet(body.style)) call.report('style');
  if (isSet(body.moderation, 'auto')) call.report('moderation');
  if (isSet(body.user)) call.report('user');
  return typeof body.prompt === 'string' ? body.prompt : call.refuse('prompt', 'must be a text');
}

const isSet = (value: Json | undefined, ...defaults: string[]): boolean => value !== undefined && value !== null && !(typeof value === 'string' && defaults.includes(value));

function readCount(body: JsonObject, call: ProviderCall, max: number): number {
  if (body.n === undefined || body.n === null) return 1;
  return typeof body.n === 'number' && Number.isInteger(body.n) && body.n >= 1 && body.n <= max ? body.n : call.refuse('n', `must be from 1 to ${max}`);
}

/** Google draws by aspect ratio: a size that has one of them, give or take what Google's own sizes are off. */
function readRatio(body: JsonObject, call: ProviderCall, ratios: readonly string[]): string | undefined {
  const { size } = body;
  if (size === undefined || size === null || size === 'auto') return undefined;
  const [, width, height] = /^(\d+)x(\d+)$/.exec(typeof size === 'string' ? size : '') ?? [];
  const wanted = Number(width) / Number(height);
  const found = ratios.find((ratio) => {
    const [wide = '1', high = '1'] = ratio.split(':');
    return Math.abs(Math.log(wanted / (Number(wide) / Number(high)))) < 0.04;
  });
  if (found === undefined) return call.refuse('size', `must be auto or have one of the aspect ratios ${ratios.join(', ')}`);
  if (size !== '1024x1024') call.report('size');
  return found;
}

const imagenRatios = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const geminiRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** The body of Imagen's `predict`. */
export function imagenRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const prompt = readPrompt(body, call);
  const aspectRatio = readRatio(body, call, imagenRatios);
  const output = outputOptions(body, call);
  return {
    instances: [{ prompt }],
    parameters: {
      sampleCount: readCount(body, call, 4),
      ...(aspectRatio === undefined ? {} : { aspectRatio }),
      ...(output === undefined ? {} : { outputOptions: output }),
      ...ownFields(body),
    },
  };
}

function outputOptions(body: JsonObject, call: ProviderCall): JsonObject | undefined {
  const { output_format: format, output_compression: compression } = body;
  if (format === 'webp') call.omit('output_format', 'must be png or jpeg');
  const options = {
    ...(typeof format === 'string' && format !== 'webp' ? { mimeType: `image/${format}` } : {}),
    ...(typeof compression === 'number' ? { compressionQuality: compression } : {}),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}

export function imagenImages(answer: Json, call: ProviderCall): JsonObject {
  const predictions = isObject(answer) ? listOf(answer.predictions).filter(isObject) : [];
  const data = predictions.flatMap((prediction) => {
    if (typeof prediction.bytesBase64Encoded !== 'string') return [];
    return [{ b64_json: prediction.bytesBase64Encoded, ...(typeof prediction.prompt === 'string' ? { revised_prompt: prediction.prompt } : {}) }];
  });
  const filtered = predictions.flatMap((prediction) => (typeof prediction.raiFilteredReason === 'string' ? [prediction.raiFilteredReason] : []));
  return { created: call.createdAt, data, ...(filtered.length === 0 || call.isStrict ? {} : { raiFilteredReasons: filtered }) };
}

/** The bodies of `generateContent`, one for each image: Gemini's image models give one candidate. */
export function geminiImageRequests(body: JsonObject, call: ProviderCall): JsonObject[] {
  const prompt = readPrompt(body, call);
  if (isSet(body.output_format)) call.omit('output_format', 'the model chooses the format by itself');
  if (isSet(body.output_compression)) call.omit('output_compression', 'the model chooses the compression by itself');
  const aspectRatio = readRatio(body, call, geminiRatios);
  const { generationConfig, imageConfig, image_config: imageConfigToo, ...own } = ownFields(body);
  const given = imageConfig ?? imageConfigToo;
  const image = { ...(aspectRatio === undefined ? {} : { aspectRatio }), ...(isObject(given) ? given : {}) };
  const request = {
    ...own,
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      ...(Object.keys(image).length === 0 ? {} : { imageConfig: image }),
      ...(isObject(generationConfig) ? generationConfig : {}),
    },
  };
  return Array.from({ length: readCount(body, call, 10) }, () => request);
}

export function geminiImages(answers: Json, call: ProviderCall): JsonObject {
  const list = listOf(answers).filter(isObject);
  const candidates = list.flatMap((answer) => listOf(answer.candidates).filter(isObject));
  const data = candidates.flatMap((candidate) => partsOf(candidate).flatMap((part) => {
    const image = part.thought === true ? undefined : inlineOf(part);
    return image === undefined ? [] : [{ b64_json: image.data }];
  }));
  const usage = imageUsage(list);
  const reasons = candidates.flatMap((candidate) => (typeof candidate.finishReason === 'string' && candidate.finishReason !== 'STOP' ? [candidate.finishReason] : []));
  return { created: call.createdAt, data, ...(usage === undefined ? {} : { usage }), ...(reasons.length === 0 || call.isStrict ? {} : { finishReasons: reasons }) };
}

function imageUsage(answers: readonly JsonObject[]): JsonObject | undefined {
  let isTold = false;
  const sum = { input: 0, output: 0, text: 0, image: 0, made: 0 };
  for (const { usageMetadata } of answers) {
    const usage = usageOf(usageMetadata);
    if (usage === undefined || !isObject(usageMetadata)) continue;
    isTold = true;
    const image = modalityOf(usageMetadata.promptTokensDetails, 'IMAGE') ?? 0;
    sum.input += usage.input;
    sum.output += usage.output;
    sum.image += image;
    sum.text += usage.input - image;
    sum.made += usage.imageOutput ?? 0;
  }
  if (!isTold) return undefined;
  return {
    input_tokens: sum.input, output_tokens: sum.output, total_tokens: sum.input + sum.output,
    input_tokens_details: { text_tokens: sum.text, image_tokens: sum.image },
    // Left out where the provider did not tell them apart: images cost more than text.
    ...(sum.made > 0 ? { output_tokens_details: { text_tokens: sum.output - sum.made, image_tokens: sum.made } } : {}),
  };
}
