import { Buffer } from 'node:buffer';
import { BinaryAnswer, isObject, ProviderError, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

type Wire = Record<string, Json>;

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

function embeddingsRequest(body: JsonObject, call: ProviderCall): Json {
  const { user, dimensions, ...rest } = body;
  if (isGiven(user)) call.report('user');
  const first = Array.isArray(body.input) ? (body.input as readonly Json[])[0] : undefined;
  if (typeof first === 'number' || Array.isArray(first)) call.refuse('input', 'Mistral takes texts, no tokens');
  const wire: Wire = { ...rest };
  if (isGiven(dimensions)) wire.output_dimension = dimensions;
  return wire;
}

export const embeddings: EndpointSpec = { path: '/embeddings', request: embeddingsRequest };

/** Mistral tells the categories; whether anything was found is for us to say. */
function moderationsAnswer(body: Json): Json {
  if (!isObject(body) || !Array.isArray(body.results)) return body;
  const results = (body.results as readonly Json[]).map((result): Json => {
    if (!isObject(result)) return result;
    return { flagged: isObject(result.categories) && Object.values(result.categories).includes(true), ...result };
  });
  return { ...body, results };
}

export const moderations: EndpointSpec = { path: '/moderations', params: { model: { default: 'mistral-moderation-latest' } }, response: moderationsAnswer };

const audioTypes: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'], ['wav', 'audio/wav'], ['flac', 'audio/flac'], ['opus', 'audio/opus'], ['pcm', 'audio/pcm'],
]);

function speechRequest(body: JsonObject, call: ProviderCall): Json {
  const { voice, speed, instructions, stream_format: streamFormat, ...rest } = body;
  const wire: Wire = { ...rest };
  if (isGiven(voice)) wire.voice_id = isObject(voice) ? voice.id ?? null : voice;
  if (isGiven(speed) && speed !== 1) call.omit('speed', 'Mistral speaks at one speed');
  if (isGiven(instructions)) call.omit('instructions', 'Mistral takes no instructions on how to speak; choose another voice');
  if (isGiven(streamFormat)) {
    if (streamFormat === 'sse') call.refuse('stream_format', 'the answer is sound, not events; leave it out');
    call.report('stream_format');
  }
  const format = isGiven(body.response_format) ? body.response_format : 'mp3';
  if (typeof format !== 'string' || !audioTypes.has(format)) call.refuse('response_format', 'Mistral gives mp3, wav, flac, opus or pcm');
  wire.response_format = format;
  wire.stream = false;
  return wire;
}

/** The sound comes as base64 in JSON. */
function speechAnswer(body: Json, call: ProviderCall): BinaryAnswer {
  if (!isObject(body) || typeof body.audio_data !== 'string') throw new ProviderError('the response has no sound');
  const format = typeof call.body.response_format === 'string' ? call.body.response_format : 'mp3';
  return new BinaryAnswer(audioTypes.get(format) ?? 'application/octet-stream', Buffer.from(body.audio_data, 'base64'));
}

export const speech: EndpointSpec = { path: '/audio/speech', request: speechRequest, response: speechAnswer };
