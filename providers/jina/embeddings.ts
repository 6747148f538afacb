import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** Nearly OpenAI's: only the encoding has another name, and images come as objects. */
function embeddingsRequest(body: JsonObject, call: ProviderCall): Json {
  const { encoding_format: format, user, ...rest } = body;
  const wire: Record<string, Json> = { ...rest };
  if (isGiven(format) && wire.embedding_type === undefined) {
    if (format !== 'float' && format !== 'base64') call.refuse('encoding_format', 'must be float or base64; for other types give embedding_type');
    if (format === 'base64') wire.embedding_type = format;
  }
  if (isGiven(user)) call.report('user');
  if (Array.isArray(body.input)) wire.input = (body.input as readonly Json[]).map((input, index) => writeInput(input, index, call));
  return wire;
}

/** A content part of OpenAI's form as `{ text }` or `{ image }`; Jina's own objects as they came. */
function writeInput(input: Json, index: number, call: ProviderCall): Json {
  if (typeof input === 'number' || Array.isArray(input)) return call.refuse('input', 'Jina takes texts, no tokens');
  if (!isObject(input)) return input;
  if (input.type === 'text' && typeof input.text === 'string') return { text: input.text };
  if (input.type !== 'image_url') return input;
  const url = isObject(input.image_url) ? input.image_url.url : input.image_url;
  if (typeof url !== 'string') return call.refuse(`input[${index}].image_url`, 'must be an object with a url');
  // Jina takes an address or bare base64.
  const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  return { image: data ?? url };
}

export const embeddings: EndpointSpec = { path: '/embeddings', request: embeddingsRequest };
