import type { Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';

/** The texts to embed. Google takes no tokens, which are another model's anyway. */
export function readInputs(body: JsonObject, call: ProviderCall): string[] {
  const { input } = body;
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return call.refuse('input', 'must be a text or a list of texts');
  const list: readonly Json[] = input;
  return list.map((text, index) => (typeof text === 'string' ? text : call.refuse(`input[${index}]`, 'must be a text; Google takes no tokens')));
}

/** A vector as the client wants it: numbers, or their 32-bit floats in little-endian order as base64. */
export function packVector(values: Json | undefined, call: ProviderCall): Json {
  const numbers = (Array.isArray(values) ? values as readonly Json[] : []).map(Number);
  if (call.body.encoding_format !== 'base64') return numbers;
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
