import { BinaryAnswer, isObject, listOf, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { inlineOf, partsOf } from './answer.js';
import { wavOf } from './sound.js';

const read = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format', 'stream', 'speech_config', 'speechConfig']);

/** Text to speech by a Gemini model. How to speak is said in front of the text, as Google documents it. */
export function geminiSpeechRequest(body: JsonObject, call: ProviderCall): JsonObject {
  const text = typeof body.input === 'string' ? body.input : call.refuse('input', 'must be a text');
  const format = body.response_format ?? 'wav';
  if (format !== 'wav' && format !== 'pcm') call.refuse('response_format', 'Gemini gives plain samples only; must be wav or pcm');
  if (typeof body.speed === 'number' && body.speed !== 1) call.omit('speed', 'Gemini takes no speed; say in instructions how fast to speak');
  if (body.stream_format === 'sse') call.refuse('stream_format', 'must be audio');
  const voice = isObject(body.voice) ? body.voice.id : body.voice;
  const own = body.speechConfig ?? body.speech_config;
  const speechConfig = isObject(own) ? own : typeof voice === 'string' ? { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } : undefined;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !read.has(name)));
  const spoken = typeof body.instructions === 'string' && body.instructions !== '' ? `${body.instructions.replace(/[:.\s]+$/, '')}: ${text}` : text;
  return {
    ...rest,
    contents: [{ role: 'user', parts: [{ text: spoken }] }],
    generationConfig: { responseModalities: ['AUDIO'], ...(speechConfig === undefined ? {} : { speechConfig }) },
  };
}

export function geminiSpeech(answer: Json, call: ProviderCall): BinaryAnswer {
  const candidates = isObject(answer) ? listOf(answer.candidates) : [];
  const pieces = candidates.filter(isObject).flatMap(partsOf).flatMap((part) => inlineOf(part) ?? []);
  const [first] = pieces;
  if (first === undefined) throw new Error('the response has no sound');
  const samples = Buffer.concat(pieces.map((piece) => Buffer.from(piece.data, 'base64')));
  // A model that ever gives something else than samples names it, and then it is passed on as it is.
  if (!/^audio\/(?:l16|pcm)/i.test(first.mimeType)) return new BinaryAnswer(first.mimeType, samples);
  const [, rate = '24000'] = /rate=(\d+)/.exec(first.mimeType) ?? [];
  if (call.body.response_format === 'pcm') return new BinaryAnswer('audio/pcm', samples);
  return new BinaryAnswer('audio/wav', wavOf(samples, Number(rate)));
}
