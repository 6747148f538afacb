import type { Json, JsonObject, ProviderCall, ResponseFormat } from '@gateway/plugin-sdk';
import { isExactNumber, isObject, readMaxTokens, readResponseFormat, readStops } from '@gateway/plugin-sdk';
import { thinkingConfig } from './thinking.js';

/** Members of `generationConfig` that clients send beside OpenAI's fields, under either of Google's spellings. */
export const generationNames: ReadonlyMap<string, string> = new Map([
  ['topK', 'topK'], ['topP', 'topP'], ['candidateCount', 'candidateCount'], ['maxOutputTokens', 'maxOutputTokens'], ['stopSequences', 'stopSequences'],
  ['thinking_config', 'thinkingConfig'], ['thinkingConfig', 'thinkingConfig'],
  ['response_modalities', 'responseModalities'], ['responseModalities', 'responseModalities'],
  ['media_resolution', 'mediaResolution'], ['mediaResolution', 'mediaResolution'],
  ['speech_config', 'speechConfig'], ['speechConfig', 'speechConfig'],
  ['image_config', 'imageConfig'], ['imageConfig', 'imageConfig'],
  ['audio_timestamp', 'audioTimestamp'], ['audioTimestamp', 'audioTimestamp'],
  ['routing_config', 'routingConfig'], ['routingConfig', 'routingConfig'],
  ['response_mime_type', 'responseMimeType'], ['responseMimeType', 'responseMimeType'],
  ['response_schema', 'responseSchema'], ['responseSchema', 'responseSchema'],
  ['response_json_schema', 'responseJsonSchema'], ['responseJsonSchema', 'responseJsonSchema'],
  ['enable_affective_dialog', 'enableAffectiveDialog'], ['enableAffectiveDialog', 'enableAffectiveDialog'],
]);

type Open = Record<string, Json>;

export function generationConfig(body: JsonObject, call: ProviderCall): JsonObject {
  const config: Open = {};
  number(config, body, call, 'temperature', 'temperature', 0, 2);
  number(config, body, call, 'top_p', 'topP', 0, 1);
  number(config, body, call, 'top_k', 'topK', 0);
  // Many models know no penalties and refuse even the one that changes nothing.
  if (body.presence_penalty !== 0) number(config, body, call, 'presence_penalty', 'presencePenalty', -2, 2);
  if (body.frequency_penalty !== 0) number(config, body, call, 'frequency_penalty', 'frequencyPenalty', -2, 2);
  number(config, body, call, 'seed', 'seed');
  if (typeof body.n === 'number' && body.n !== 1) number(config, body, call, 'n', 'candidateCount', 1, 8);
  const maxTokens = readMaxTokens(body);
  if (maxTokens !== undefined) config.maxOutputTokens = maxTokens;
  const stops = readStops(body);
  if (stops.length > 5) call.omit('stop', 'Gemini takes 5 or less');
  else if (stops.length > 0) config.stopSequences = stops;
  logprobs(config, body, call);
  const format = readResponseFormat(body, call);
  if (format !== undefined) Object.assign(config, formatFields(format));
  const thinking = thinkingConfig(body, call);
  if (thinking !== undefined) config.thinkingConfig = thinking;
  modalities(config, body, call);
  for (const [name, own] of generationNames) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    config[own] = isObject(value) && isObject(config[own]) ? { ...config[own], ...value } : value;
  }
  const given = body.generationConfig ?? body.generation_config;
  return isObject(given) ? { ...config, ...given } : config;
}

function number(config: Open, body: JsonObject, call: ProviderCall, name: string, own: string, min = -Infinity, max = Infinity): void {
  const value = body[name];
  if (value === undefined || value === null) return;
  if (isExactNumber(value)) {
    config[own] = value;
    return;
  }
  if (typeof value !== 'number') return call.refuse(name, 'must be a number');
  if (value < min || value > max) return call.omit(name, max === Infinity ? `must be ${min} or more` : `must be from ${min} to ${max}`);
  config[own] = value;
}

function logprobs(config: Open, body: JsonObject, call: ProviderCall): void {
  if (body.logprobs !== true) return;
  config.responseLogprobs = true;
  if (typeof body.top_logprobs === 'number' && body.top_logprobs > 0) number(config, body, call, 'top_logprobs', 'logprobs', 1, 20);
}

/** Google takes JSON Schema as it is, and ignores the keywords it does not know. */
function formatFields(format: ResponseFormat): JsonObject {
  switch (format.kind) {
    case 'text': return {};
    case 'json': return { responseMimeType: 'application/json' };
    case 'schema': {
      const isDescribed = format.description === undefined || format.schema.description !== undefined || format.schema.$ref !== undefined;
      return { responseMimeType: 'application/json', responseJsonSchema: isDescribed ? format.schema : { ...format.schema, description: format.description ?? '' } };
    }
  }
}

/** Sound is asked for with `modalities` and `audio`. Google's speaking models give sound alone, so text is not asked for beside it. */
function modalities(config: Open, body: JsonObject, call: ProviderCall): void {
  if (!Array.isArray(body.modalities)) return;
  const wanted: unknown[] = body.modalities;
  for (const modality of wanted) {
    if (modality !== 'text' && modality !== 'audio' && modality !== 'image') call.refuse('modalities', 'must be text, audio or image');
  }
  if (wanted.includes('audio')) {
    config.responseModalities = ['AUDIO'];
    const audio = isObject(body.audio) ? body.audio : {};
    if (audio.format !== 'wav' && audio.format !== 'pcm16') call.refuse('audio.format', 'Gemini gives plain samples only; must be wav or pcm16');
    if (call.isStream && audio.format !== 'pcm16') call.refuse('audio.format', 'must be pcm16 in streams');
    const voice = isObject(audio.voice) ? audio.voice.id : audio.voice;
    if (typeof voice === 'string') config.speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  } else if (wanted.includes('image')) config.responseModalities = wanted.includes('text') ? ['TEXT', 'IMAGE'] : ['IMAGE'];
}
