import { Buffer } from 'node:buffer';
import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

type Wire = Record<string, Json>;

const translated: ReadonlySet<string> = new Set(['input', 'dimensions', 'encoding_format', 'user']);

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** Members that both of Voyage's embedding calls take: everything but the input and its encoding. */
function common(body: JsonObject, call: ProviderCall): Wire {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  if (isGiven(body.dimensions)) wire.output_dimension = body.dimensions;
  if (isGiven(body.user)) call.report('user');
  return wire;
}

/** `base64`, or undefined for plain numbers: Voyage has no word for those. */
function encodingOf(body: JsonObject, call: ProviderCall): 'base64' | undefined {
  const format = body.encoding_format;
  if (!isGiven(format) || format === 'float') return undefined;
  return format === 'base64' ? format : call.refuse('encoding_format', 'must be float or base64');
}

function inputsOf(body: JsonObject, call: ProviderCall): readonly Json[] {
  const { input } = body;
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return call.refuse('input', 'must be a text or a list of texts');
  const inputs = input as readonly Json[];
  return typeof inputs[0] === 'number' || Array.isArray(inputs[0]) ? call.refuse('input', 'Voyage takes texts, no tokens') : inputs;
}

function textRequest(body: JsonObject, call: ProviderCall): Json {
  const wire = common(body, call);
  wire.input = inputsOf(body, call);
  const encoding = encodingOf(body, call);
  if (encoding !== undefined) wire.encoding_format = encoding;
  return wire;
}

function multimodalRequest(body: JsonObject, call: ProviderCall): Json {
  const wire = common(body, call);
  encodingOf(body, call);
  wire.inputs = inputsOf(body, call).map((input, index) => ({ content: contentOf(input, index, call) }));
  return wire;
}

/** A text, `{ text, image }`, a content part, or Voyage's own `{ content: [...] }`. */
function contentOf(input: Json, index: number, call: ProviderCall): readonly Json[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }];
  if (!isObject(input)) return call.refuse(`input[${index}]`, 'must be a text, or an object with a text or an image');
  if (Array.isArray(input.content)) return input.content as readonly Json[];
  const content: Json[] = [];
  if (typeof input.text === 'string') content.push({ type: 'text', text: input.text });
  for (const member of [input.image_url, input.image]) {
    const url = isObject(member) ? member.url ?? member.base64 : member;
    if (typeof url === 'string') content.push(url.startsWith('data:') ? { type: 'image_base64', image_base64: url } : { type: 'image_url', image_url: url });
  }
  return content.length === 0 ? call.refuse(`input[${index}]`, 'must be a text, or an object with a text or an image') : content;
}

/** Voyage counts tokens in one number. */
function answer(body: Json): Json {
  if (!isObject(body) || !isObject(body.usage)) return body;
  const tokens = body.usage.total_tokens;
  return body.usage.prompt_tokens === undefined && tokens !== undefined ? { ...body, usage: { prompt_tokens: tokens, ...body.usage } } : body;
}

/** Numbers are packed as OpenAI does it (32-bit floats, lowest byte first) where the client asked for base64. */
function multimodalAnswer(body: Json, call: ProviderCall): Json {
  const made = answer(body);
  if (call.body.encoding_format !== 'base64' || !isObject(made) || !Array.isArray(made.data)) return made;
  const data = (made.data as readonly Json[]).map((entry): Json => (
    isObject(entry) && Array.isArray(entry.embedding) ? { ...entry, embedding: packed(entry.embedding as readonly Json[]) } : entry
  ));
  return { ...made, data };
}

function packed(numbers: readonly Json[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * 4);
  numbers.forEach((number, index) => bytes.writeFloatLE(typeof number === 'number' ? number : 0, index * 4));
  return bytes.toString('base64');
}

const text: EndpointSpec = { path: '/embeddings', request: textRequest, response: answer };
const multimodal: EndpointSpec = { path: '/multimodalembeddings', request: multimodalRequest, response: multimodalAnswer };

/** Inputs with images, and models that take them, have a call of their own. */
export function embeddings(call: ProviderCall): EndpointSpec {
  const { input } = call.body;
  const hasObjects = Array.isArray(input) && (input as readonly Json[]).some(isObject);
  return hasObjects || call.model.startsWith('voyage-multimodal-') ? multimodal : text;
}
