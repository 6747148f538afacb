// The mock's other endpoints: small, deterministic, in OpenAI's formats.

import { createHash } from 'node:crypto';
import { isObject } from '@gateway/plugin-sdk';
import { bytes, json, refusal, type Answer } from './answer.js';
import { contentText, countIn, idFor, nowSeconds, tokensOf, type Body } from './body.js';

const dimensionsDefault = 256;
const dimensionsMax = 4096;
/** Numbers in one answer: vectors are made while others wait. */
const numbersMax = 1_000_000;
const imagesMax = 10;

/** A unit vector that depends on the text alone. */
function vectorOf(text: string, dimensions: number): number[] {
  const values: number[] = [];
  for (let round = 0; values.length < dimensions; round += 1) {
    for (const byte of createHash('sha256').update(`${round} ${text}`).digest()) if (values.length < dimensions) values.push(byte / 127.5 - 1);
  }
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1;
  return values.map((value) => value / length);
}

export function embeddings(body: Body): Answer {
  const { input } = body;
  if (typeof input !== 'string' && !(Array.isArray(input) && input.length > 0)) return refusal('input', 'must be a string or an array with items');
  const inputs: unknown[] = typeof input === 'string' || typeof input[0] === 'number' ? [input] : input;
  const dimensions = body.dimensions === undefined || body.dimensions === null ? dimensionsDefault : countIn(body.dimensions, dimensionsMax);
  if (dimensions === -1) return refusal('dimensions', `must be a whole number from 1 to ${dimensionsMax}`);
  if (inputs.length * dimensions > numbersMax) return refusal('input', `inputs times dimensions must be at most ${numbersMax}`);
  const texts = inputs.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0);
  return json(200, {
    object: 'list', model: body.model ?? 'mock-embedding',
    data: texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      const embedding = body.encoding_format === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector;
      return { object: 'embedding', index, embedding };
    }),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

const modelOf = (id: string): Body => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'gateway' });
export const models = (): Answer => json(200, { object: 'list', data: [modelOf('mock'), modelOf('mock-embedding')] });
export const model = (id: string): Answer => json(200, modelOf(id));

const categories = ['hate', 'hate/threatening', 'harassment', 'harassment/threatening', 'self-harm', 'self-harm/intent', 'self-harm/instructions', 'sexual', 'sexual/minors', 'violence', 'violence/graphic'];

/** A text that names a category is flagged with it. */
export function moderations(body: Body): Answer {
  if (typeof body.input !== 'string' && !Array.isArray(body.input)) return refusal('input', 'must be a string or an array');
  const inputs: unknown[] = typeof body.input === 'string' ? [body.input] : body.input;
  return json(200, {
    id: idFor('modr'), model: body.model ?? 'text-moderation-latest',
    results: inputs.map((input) => {
      const text = (typeof input === 'string' ? input : contentText([input])).toLowerCase();
      const hits = categories.map((name) => [name, text.includes(name)] as const);
      return {
        flagged: hits.some(([, isHit]) => isHit), categories: Object.fromEntries(hits),
        category_scores: Object.fromEntries(hits.map(([name, isHit]) => [name, isHit ? 0.99 : 0.01])),
      };
    }),
  });
}

/** One transparent pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export function images(body: Body): Answer {
  if (typeof body.prompt !== 'string') return refusal('prompt', 'is missing; send a string');
  const count = countIn(body.n, imagesMax);
  if (count === -1) return refusal('n', `must be a whole number from 1 to ${imagesMax}`);
  return json(200, { created: nowSeconds(), data: Array.from({ length: count }, () => ({ b64_json: pixel, revised_prompt: body.prompt })) });
}

/** A tenth of a second of silence: 8 kHz, mono, 8 bits. */
export function speech(body: Body): Answer {
  if (typeof body.input !== 'string') return refusal('input', 'is missing; send the text to speak');
  const samples = 800;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples, 40);
  return bytes('audio/wav', Buffer.concat([head, Buffer.alloc(samples, 128)]));
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []);

/** Scored by the share of the query's words that a document holds. */
export function rerank(body: Body): Answer {
  if (typeof body.query !== 'string') return refusal('query', 'is missing; send a string');
  if (!Array.isArray(body.documents) || body.documents.length === 0) return refusal('documents', 'must be an array with items');
  const words = [...wordsOf(body.query)];
  const scored = body.documents.map((document: unknown, index) => {
    const text = typeof document === 'string' ? document : isObject(document) ? String(document.text) : '';
    const own = wordsOf(text);
    const shared = words.filter((word) => own.has(word)).length;
    return { index, relevance_score: words.length === 0 ? 0 : shared / words.length, document: { text } };
  }).sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  const results = scored.slice(0, typeof body.top_n === 'number' ? body.top_n : scored.length)
    .map((result) => (body.return_documents === false ? { index: result.index, relevance_score: result.relevance_score } : result));
  return json(200, { object: 'list', id: idFor('rerank'), model: body.model ?? 'mock', results, usage: { search_units: 1 }, provider: 'mock' });
}
