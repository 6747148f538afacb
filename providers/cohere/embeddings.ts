import { isObject, ProviderError, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

type Wire = Record<string, Json>;

const textsMax = 96;
const translated: ReadonlySet<string> = new Set(['input', 'dimensions', 'encoding_format', 'user']);

const base: EndpointSpec = { path: '/v2/embed', request: (body, call) => embedRequests(body, call)[0] ?? null, response: (body, call) => embedAnswer([body], call) };
const fanOut: EndpointSpec = {
  path: '/v2/embed', isFanOut: true, request: embedRequests,
  response: (bodies, call) => embedAnswer(Array.isArray(bodies) ? bodies as readonly Json[] : [bodies], call),
};

/** Cohere takes 96 inputs in a call; longer lists are several calls. */
export const embeddings = (call: ProviderCall): EndpointSpec => (inputsOf(call.body).length > textsMax ? fanOut : base);

const inputsOf = (body: JsonObject): readonly Json[] => (Array.isArray(body.input) ? body.input as readonly Json[] : []);

function embedRequests(body: JsonObject, call: ProviderCall): Json[] {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  if (body.user !== undefined && body.user !== null) call.report('user');
  if (body.dimensions !== undefined && body.dimensions !== null) wire.output_dimension = body.dimensions;
  if (wire.embedding_types === undefined) {
    const format = body.encoding_format ?? 'float';
    if (format !== 'float' && format !== 'base64') call.refuse('encoding_format', 'must be float or base64; for other types give embedding_types');
    wire.embedding_types = [format];
  }
  const types = wire.embedding_types;
  if (!Array.isArray(types) || types.length !== 1) call.refuse('embedding_types', 'must be a list of one type: the answer has room for one');
  wire.input_type ??= wire.images === undefined ? 'search_document' : 'image';
  if (body.input === undefined || body.input === null) {
    // The client speaks Cohere's own form.
    return wire.texts === undefined && wire.images === undefined && wire.inputs === undefined ? call.refuse('input', 'must be a text or a list of texts') : [wire];
  }
  const inputs = typeof body.input === 'string' ? [body.input] : inputsOf(body);
  if (inputs.length === 0) call.refuse('input', 'must be a text or a list of texts');
  if (typeof inputs[0] === 'number') call.refuse('input', 'Cohere takes texts, no tokens');
  const areTexts = inputs.every((input) => typeof input === 'string');
  const read = areTexts ? inputs : inputs.map((input, index) => ({ content: contentOf(input, index, call) }));
  const requests: Json[] = [];
  for (let from = 0; from < read.length; from += textsMax) {
    requests.push({ ...wire, [areTexts ? 'texts' : 'inputs']: read.slice(from, from + textsMax) });
  }
  return requests;
}

/** An input of text and images: `{ text, image }`, a content part, or Cohere's own `{ content: [...] }`. */
function contentOf(input: Json, index: number, call: ProviderCall): Json {
  if (typeof input === 'string') return [{ type: 'text', text: input }];
  if (Array.isArray(input)) return call.refuse(`input[${index}]`, 'Cohere takes texts, no tokens');
  if (!isObject(input)) return call.refuse(`input[${index}]`, 'must be a text, or an object with a text or an image');
  if (Array.isArray(input.content)) return input.content as readonly Json[];
  const { image_url: imageUrl } = input;
  if (imageUrl !== undefined) return [{ type: 'image_url', image_url: typeof imageUrl === 'string' ? { url: imageUrl } : imageUrl }];
  const content: Json[] = [];
  if (typeof input.text === 'string') content.push({ type: 'text', text: input.text });
  const image = isObject(input.image) ? input.image.url ?? input.image.base64 : input.image;
  if (typeof image === 'string') content.push({ type: 'image_url', image_url: { url: image } });
  return content.length === 0 ? call.refuse(`input[${index}]`, 'must be a text, or an object with a text or an image') : content;
}

function embedAnswer(bodies: readonly Json[], call: ProviderCall): Json {
  const data: Json[] = [];
  let tokens = 0;
  for (const body of bodies) {
    if (!isObject(body)) continue;
    for (const embedding of vectorsOf(body.embeddings)) data.push({ object: 'embedding', index: data.length, embedding });
    tokens += tokensOf(body.meta);
  }
  if (data.length === 0) throw new ProviderError('the response has no embeddings');
  return { object: 'list', data, model: call.model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** The vectors of the one type that was asked for. */
function vectorsOf(embeddings: Json | undefined): readonly Json[] {
  if (Array.isArray(embeddings)) return embeddings as readonly Json[];
  if (!isObject(embeddings)) return [];
  return Object.values(embeddings).find((vectors): vectors is readonly Json[] => Array.isArray(vectors) && vectors.length > 0) ?? [];
}

function tokensOf(meta: Json | undefined): number {
  if (!isObject(meta)) return 0;
  const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
  if (isObject(meta.tokens) && typeof meta.tokens.input_tokens === 'number') return meta.tokens.input_tokens;
  return isObject(meta.billed_units) ? count(meta.billed_units.input_tokens) + count(meta.billed_units.image_tokens) : 0;
}
