// The mock's other endpoints: small, deterministic, in OpenAI's formats.

import { createHash } from 'node:crypto';
import { tokensOf, type Body } from './chat.js';

const dimensionsDefault = 256;
const dimensionsMax = 4096;
const now = (): number => Math.floor(Date.now() / 1000);
const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A unit vector that depends on the text alone. */
function vectorOf(text: string, dimensions: number): number[] {
  const values: number[] = [];
  for (let round = 0; values.length < dimensions; round += 1) {
    for (const byte of createHash('sha256').update(`${round} ${text}`).digest()) if (values.length < dimensions) values.push(byte / 127.5 - 1);
  }
  const length = Math.hypot(...values) || 1;
  return values.map((value) => value / length);
}

export function embeddings(body: Body): Body {
  const isOne = typeof body.input === 'string' || (Array.isArray(body.input) && typeof body.input[0] === 'number');
  const inputs: unknown[] = isOne ? [body.input] : Array.isArray(body.input) ? body.input : [];
  const dimensions = typeof body.dimensions === 'number' ? Math.min(body.dimensions, dimensionsMax) : dimensionsDefault;
  const texts = inputs.map((input) => (typeof input === 'string' ? input : JSON.stringify(input)));
  const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0);
  return {
    object: 'list', model: body.model,
    data: texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      const embedding = body.encoding_format === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector;
      return { object: 'embedding', index, embedding };
    }),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

export const models = (): Body => ({ object: 'list', data: [model('mock'), model('mock-embedding')] });
export const model = (id: string): Body => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'gateway' });

const categories = ['hate', 'hate/threatening', 'harassment', 'harassment/threatening', 'self-harm', 'self-harm/intent', 'self-harm/instructions', 'sexual', 'sexual/minors', 'violence', 'violence/graphic'];

/** A text that names a category is flagged with it. */
export function moderations(body: Body): Body {
  const inputs: unknown[] = Array.isArray(body.input) ? body.input : [body.input];
  return {
    id: 'modr-mock', model: body.model ?? 'text-moderation-latest',
    results: inputs.map((input) => {
      const text = (typeof input === 'string' ? input : JSON.stringify(input)).toLowerCase();
      const hits = categories.map((name) => [name, text.includes(name)] as const);
      return {
        flagged: hits.some(([, isHit]) => isHit), categories: Object.fromEntries(hits),
        category_scores: Object.fromEntries(hits.map(([name, isHit]) => [name, isHit ? 0.99 : 0.01])),
      };
    }),
  };
}

/** One transparent pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
export const images = (body: Body): Body => ({
  created: now(), data: Array.from({ length: typeof body.n === 'number' ? body.n : 1 }, () => ({ b64_json: pixel, revised_prompt: body.prompt })),
});

/** A tenth of a second of silence: 8 kHz, mono, 8 bits. */
export function wave(): Buffer {
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
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

/** Scored by the share of the query's words that a document holds. */
export function rerank(body: Body): Body {
  const words = new Set(String(body.query).toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []);
  const documents = Array.isArray(body.documents) ? body.documents : [];
  const scored = documents.map((document: unknown, index) => {
    const text = typeof document === 'string' ? document : isObject(document) ? String(document.text) : '';
    const own = new Set(text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []);
    const shared = [...words].filter((word) => own.has(word)).length;
    return { index, relevance_score: words.size === 0 ? 0 : shared / words.size, document: { text } };
  }).sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  const results = scored.slice(0, typeof body.top_n === 'number' ? body.top_n : scored.length)
    .map((result) => (body.return_documents === false ? { index: result.index, relevance_score: result.relevance_score } : result));
  return { object: 'list', id: 'rerank-mock', model: body.model, results, usage: { search_units: 1 }, provider: 'mock' };
}
