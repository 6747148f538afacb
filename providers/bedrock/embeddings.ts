import { isObject, type EndpointSpec, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { readModel, type Model } from './model.js';

/** The models take one text a call, or 96: a longer list goes up as several calls. */
const cohereTextsMax = 96;

/** OpenAI's members that are translated. */
const translated: ReadonlySet<string> = new Set(['model', 'input', 'dimensions', 'encoding_format', 'user', 'input_type', 'embeddingPurpose']);

const novaPurposes: ReadonlyMap<string, string> = new Map([
  ['search_document', 'GENERIC_INDEX'], ['search_query', 'GENERIC_RETRIEVAL'], ['classification', 'CLASSIFICATION'], ['clustering', 'CLUSTERING'],
]);

/** A family's way of embedding texts. */
interface Family {
  readonly requests: (texts: readonly string[], body: JsonObject, call: ProviderCall) => JsonObject[];
  readonly vectors: (answer: JsonObject) => readonly Json[];
}

export function embeddingsSpec(call: ProviderCall): EndpointSpec | undefined {
  const family = familyOf(readModel(call.model));
  if (family === undefined) return undefined;
  return {
    path: '/model/{model}/invoke',
    isFanOut: true,
    request: (body) => embeddingRequests(body, call, family),
    response: (body) => embeddingsAnswer(body, call, family),
  };
}

function familyOf(model: Model): Family | undefined {
  if (model.id.startsWith('amazon.titan-embed-text-v1') || model.id.startsWith('amazon.titan-embed-g1-text')) return titanV1;
  if (model.id.startsWith('amazon.titan-embed-text')) return titanV2;
  if (model.id.startsWith('amazon.titan-embed-image')) return titanImage;
  if (model.id.startsWith('amazon.nova') && model.id.includes('embed')) return nova;
  return model.id.startsWith('cohere.embed') ? cohere : undefined;
}

function embeddingRequests(body: JsonObject, call: ProviderCall, family: Family): Json {
  if (body.user !== undefined && body.user !== null) call.report('user');
  return family.requests(textsOf(body.input, call), body, call);
}

function textsOf(input: Json | undefined, call: ProviderCall): string[] {
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input) || input.length === 0) return call.refuse('input', 'must be a text or a list of texts');
  return input.map((text, index) => (typeof text === 'string' ? text : call.refuse(`input[${index}]`, 'Bedrock embeds texts; tokens are the provider\'s own')));
}

/** Members that OpenAI does not have go up as they are. */
const others = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([name, value]) => !translated.has(name) && value !== null));

function dimensionsOf(body: JsonObject, call: ProviderCall, known: readonly number[]): number | undefined {
  if (typeof body.dimensions !== 'number') return undefined;
  if (!known.includes(body.dimensions)) call.refuse('dimensions', known.length === 0 ? `${call.model} has vectors of one length only` : `${call.model} takes ${known.join(', ')}`);
  return body.dimensions;
}

function withoutInputType(body: JsonObject, call: ProviderCall): void {
  if (body.input_type !== undefined && body.input_type !== null) call.report('input_type');
}

const single = (answer: JsonObject): readonly Json[] => [answer.embedding ?? []];

const titanV1: Family = {
  requests: (texts, body, call) => {
    dimensionsOf(body, call, []);
    withoutInputType(body, call);
    return texts.map((inputText) => ({ inputText, ...others(body) }));
  },
  vectors: single,
};

const titanV2: Family = {
  requests: (texts, body, call) => {
    const dimensions = dimensionsOf(body, call, [256, 512, 1024]);
    withoutInputType(body, call);
    return texts.map((inputText) => ({ inputText, ...(dimensions === undefined ? {} : { dimensions }), ...others(body) }));
  },
  vectors: (answer) => [answer.embedding ?? floatsOf(answer.embeddingsByType) ?? []],
};

const titanImage: Family = {
  requests: (texts, body, call) => {
    const length = dimensionsOf(body, call, [256, 384, 1024]);
    withoutInputType(body, call);
    return texts.map((inputText) => ({ inputText, ...(length === undefined ? {} : { embeddingConfig: { outputEmbeddingLength: length } }), ...others(body) }));
  },
  vectors: single,
};

const nova: Family = {
  requests: (texts, body, call) => {
    const embeddingDimension = dimensionsOf(body, call, [256, 384, 1024, 3072]);
    const embeddingPurpose = body.embeddingPurpose ?? novaPurpose(body.input_type, call);
    return texts.map((value) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose,
        ...(embeddingDimension === undefined ? {} : { embeddingDimension }),
        // A text that is too long is an error, as it is with OpenAI.
        text: { truncationMode: 'NONE', value },
      },
      ...others(body),
    }));
  },
  vectors: (answer) => (Array.isArray(answer.embeddings) ? answer.embeddings.map((entry) => (isObject(entry) ? entry.embedding ?? [] : [])) : []),
};

function novaPurpose(inputType: Json | undefined, call: ProviderCall): string {
  if (inputType === undefined || inputType === null) return 'GENERIC_INDEX';
  return (typeof inputType === 'string' ? novaPurposes.get(inputType) : undefined) ?? call.refuse('input_type', `Nova takes ${[...novaPurposes.keys()].join(', ')}; or give embeddingPurpose`);
}

const cohere: Family = {
  requests: (texts, body, call) => {
    const isV4 = call.model.includes('embed-v4');
    const dimensions = dimensionsOf(body, call, isV4 ? [256, 512, 1024, 1536] : []);
    const common = { input_type: body.input_type ?? 'search_document', ...(dimensions === undefined ? {} : { output_dimension: dimensions }), ...others(body) };
    const requests: JsonObject[] = [];
    for (let from = 0; from < texts.length; from += cohereTextsMax) requests.push({ texts: texts.slice(from, from + cohereTextsMax), ...common });
    return requests;
  },
  vectors: (answer) => (Array.isArray(answer.embeddings) ? answer.embeddings : floatList(answer.embeddings)),
};

const floatsOf = (byType: Json | undefined): Json | undefined => (isObject(byType) ? byType.float : undefined);
const floatList = (byType: Json | undefined): readonly Json[] => {
  // With `embedding_types` the first type that was asked for; usually there is one.
  const list = isObject(byType) ? byType.float ?? Object.values(byType)[0] : undefined;
  return Array.isArray(list) ? list : [];
};

function embeddingsAnswer(body: Json, call: ProviderCall, family: Family): JsonObject {
  const answers = (Array.isArray(body) ? body : [body]).filter(isObject);
  const isBase64 = call.body.encoding_format === 'base64';
  const vectors = answers.flatMap((answer) => family.vectors(answer));
  const counts = answers.map((answer) => answer.inputTextTokenCount ?? answer.inputTokenCount);
  const tokens = counts.reduce<number>((sum, given) => sum + (typeof given === 'number' ? given : 0), 0);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: isBase64 ? base64Of(vector) : vector })),
    model: call.model,
    // Cohere's models tell the count in a header only; nothing is better than a wrong number.
    ...(counts.some((given) => typeof given === 'number') ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {}),
  };
}

/** OpenAI's base64 form: 32-bit floats, least significant byte first. */
function base64Of(vector: Json): Json {
  if (!Array.isArray(vector)) return vector;
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(typeof value === 'number' ? value : 0, index * 4));
  return bytes.toString('base64');
}
