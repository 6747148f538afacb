import { isObject, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';

/** One document and how relevant the provider found it. `index` is its place in the client's list. */
export interface RerankHit {
  readonly index: number;
  readonly score: number;
  readonly document?: Json;
}

export interface RerankAnswer {
  /** The provider's; default: one of our own. */
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly hits: readonly RerankHit[];
  /** The unit that the provider bills by: search units, or tokens where it knows no units. */
  readonly searchUnits: number | undefined;
}

/** The client's documents. An empty list is refused: there is nothing to rank. */
export function readDocuments(body: JsonObject, call: ProviderCall): readonly Json[] {
  const { documents } = body;
  if (!Array.isArray(documents) || documents.length === 0) return call.refuse('documents', 'must be a list of at least one document');
  return documents as readonly Json[];
}

/**
 * A document as the text that is ranked: a text itself, or the `text` of an object, whose other members are the client's metadata.
 * An object without `text`, or with the fields that `rank_fields` names, is structured data: YAML, which rerankers read best.
 */
export function documentText(document: Json, index: number, body: JsonObject, call: ProviderCall): string {
  if (typeof document === 'string') return document;
  if (!isObject(document)) return call.refuse(`documents[${index}]`, 'must be a text or an object with a text');
  const fields = rankFields(body);
  if (fields !== undefined) {
    const chosen: Record<string, Json> = {};
    for (const field of fields) {
      const value = document[field];
      if (value !== undefined && value !== null) chosen[field] = value;
    }
    const [only, ...others] = Object.values(chosen);
    if (only === undefined) return call.refuse(`documents[${index}]`, 'has none of the fields that rank_fields names');
    return others.length === 0 && typeof only === 'string' ? only : yaml(chosen);
  }
  if (typeof document.text === 'string') return document.text;
  return Object.keys(document).length === 0 ? call.refuse(`documents[${index}]`, 'must be a text or an object with a text') : yaml(document);
}

function rankFields(body: JsonObject): readonly string[] | undefined {
  const { rank_fields: fields } = body;
  if (!Array.isArray(fields)) return undefined;
  const names = fields.filter((field): field is string => typeof field === 'string');
  return names.length === 0 ? undefined : names;
}

/** `top_n`, which must be a whole number of at least 1. */
export function readTopN(body: JsonObject, call: ProviderCall): number | undefined {
  const { top_n: top } = body;
  if (top === undefined || top === null) return undefined;
  return typeof top === 'number' && Number.isInteger(top) && top >= 1 ? top : call.refuse('top_n', 'must be a whole number of at least 1');
}

/** Entries of `index` and `relevance_score`, as most rerankers give them. */
export function readHits(results: Json | undefined): RerankHit[] {
  if (!Array.isArray(results)) return [];
  return (results as readonly Json[]).flatMap((result) => {
    if (!isObject(result)) return [];
    const { index, relevance_score: score } = result;
    return typeof index === 'number' && typeof score === 'number' ? [{ index, score }] : [];
  });
}

/** The answer that all rerankers give: best first, whatever order the provider had. */
export function rerankAnswer(call: ProviderCall, answer: RerankAnswer): JsonObject {
  const { documents } = call.body;
  const own: readonly Json[] = Array.isArray(documents) ? documents as readonly Json[] : [];
  const isReturned = call.body.return_documents === true;
  const results = [...answer.hits].sort((one, other) => other.score - one.score).map((hit): Json => {
    const document = hit.document ?? (isReturned ? own[hit.index] : undefined);
    const shown = document === undefined ? undefined : shownDocument(document, hit.index, call);
    return shown === undefined ? { index: hit.index, relevance_score: hit.score } : { index: hit.index, relevance_score: hit.score, document: shown };
  });
  const wire: Record<string, Json> = {
    object: 'list',
    results,
    model: answer.model ?? call.model,
    id: answer.id ?? call.newId('rerank-'),
  };
  if (answer.searchUnits !== undefined) wire.usage = { search_units: answer.searchUnits };
  wire.provider = call.exchange.target.provider;
  return wire;
}

const translated: ReadonlySet<string> = new Set(['documents', 'top_n', 'max_chunks_per_doc', 'max_tokens_per_doc', 'rank_fields', 'priority', 'return_documents']);

/** Members that go up as they came, for rerankers that know nothing of chunks and priorities: these are reported. */
export function restOfRerank(body: JsonObject, call: ProviderCall): Record<string, Json> {
  const wire: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  for (const name of ['max_chunks_per_doc', 'max_tokens_per_doc', 'priority']) {
    if (body[name] !== undefined && body[name] !== null) call.report(name);
  }
  return wire;
}

/** The answer of rerankers that are paid by the token: `usage.total_tokens` are its search units. */
export function tokenRerankAnswer(call: ProviderCall, body: Json, results: Json | undefined): JsonObject {
  const given = isObject(body) ? body : {};
  const tokens = isObject(given.usage) ? given.usage.total_tokens : undefined;
  return rerankAnswer(call, {
    model: typeof given.model === 'string' ? given.model : undefined,
    hits: readHits(results),
    searchUnits: typeof tokens === 'number' ? tokens : undefined,
  });
}

/** An object with `text`; the client's metadata comes back with it. */
function shownDocument(document: Json, index: number, call: ProviderCall): JsonObject | undefined {
  if (typeof document === 'string') return { text: document };
  if (!isObject(document)) return undefined;
  return document.text !== undefined || document.image !== undefined ? document : { text: documentText(document, index, call.body, call) };
}

const plainKey = /^[A-Za-z_][\w-]*$/;
const plainText = /^[\p{L}][\p{L}\p{N} ,.'()/_-]*$/u;
/** Words that YAML would not read as text. */
const words = /^(?:y|n|yes|no|true|false|on|off|null|nan|inf)$/i;

/** Block YAML, keys in the order they came. */
function yaml(value: JsonObject, indent = ''): string {
  const keyText = (key: string): string => (plainKey.test(key) && !words.test(key) ? key : JSON.stringify(key));
  return Object.entries(value).map(([key, member]) => `${indent}${keyText(key)}:${yamlMember(member, indent)}`).join('');
}

function yamlMember(value: Json, indent: string): string {
  if (typeof value === 'string') return ` ${yamlText(value)}\n`;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.length === 0 ? ' []\n' : `\n${items.map((item) => `${indent}- ${typeof item === 'string' ? yamlText(item) : JSON.stringify(item)}\n`).join('')}`;
  }
  if (isObject(value)) return Object.keys(value).length === 0 ? ' {}\n' : `\n${yaml(value, `${indent}  `)}`;
  return ` ${String(value)}\n`;
}

/** JSON text is YAML too. */
const yamlText = (text: string): string => (plainText.test(text) && !words.test(text) && !text.endsWith(' ') ? text : JSON.stringify(text));
