import { Buffer } from 'node:buffer';
import { isObject, ProviderError, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

type Open = Record<string, Json>;

/** `/api/embed` takes a text or a list of texts, and gives as many vectors. */
export function embedBody(body: JsonObject, call: ProviderCall): JsonObject {
  const { input, encoding_format: encoding, user, ...rest } = body;
  if (encoding !== undefined && encoding !== null && encoding !== 'float' && encoding !== 'base64') call.refuse('encoding_format', 'must be float or base64');
  if (user !== undefined && user !== null) call.report('user');
  const texts: readonly Json[] = Array.isArray(input) ? input as readonly Json[] : [input ?? ''];
  if (!texts.every((text) => typeof text === 'string')) call.refuse('input', 'must be a text or a list of texts; ollama takes no tokens');
  const wire: Open = { ...rest, model: call.model, input: input ?? '' };
  if (wire.dimensions === null) delete wire.dimensions;
  return wire;
}

export function embeddingList(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer) || !Array.isArray(answer.embeddings)) throw new ProviderError('ollama answered without embeddings');
  const isPacked = call.body.encoding_format === 'base64';
  const vectors = answer.embeddings as readonly (readonly number[])[];
  const count = typeof answer.prompt_eval_count === 'number' ? answer.prompt_eval_count : 0;
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isPacked ? packed(vector) : vector })),
    model: typeof answer.model === 'string' && answer.model !== '' ? answer.model : call.model,
    usage: { prompt_tokens: count, total_tokens: count },
  };
}

/** Little-endian 32-bit floats, whatever the machine. */
function packed(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
