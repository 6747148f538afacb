// Runs for answers on their way into a cache and out of it: only what was read, and is what its endpoint promises, is kept or used. Each body
// is read once in a thread, as long as the cache gives the same bytes.

import type { CacheHit, JsonObject } from '@gateway/plugin-sdk';
import { parseJsonObject } from '../../body/parse.js';
import { tellsError } from '../../dialect/common/told-error.js';
import { answerDialect, type EndpointDefinition } from '../../exchange/endpoint.js';

export interface KeptAnswer {
  /** It came as a stream whose client had not asked for usage: of no use to who wants to read it. */
  readonly lacksUsage: boolean;
}

/** To something asked there is something to say: an empty list is a fault that came with status 200. */
const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

const readBodies = new WeakMap<Uint8Array, KeptAnswer>();
const whole: KeptAnswer = Object.freeze({ lacksUsage: false });
const withoutUsage: KeptAnswer = Object.freeze({ lacksUsage: true });

/** Whether an answer with status 200 is what its endpoint promises, and not an error, half an answer or one that is still on its way. */
function isPromised(route: EndpointDefinition, answer: JsonObject): boolean {
  if (tellsError(answer)) return false;
  const dialect = answerDialect(route);
  if (dialect !== null) return dialect.isReplayable(answer) && answer.status !== 'failed';
  switch (route.name) {
    case 'embeddings': case 'imageGenerations': return isFilled(answer.data);
    case 'rerank': case 'moderations': return isFilled(answer.results);
    case 'countTokens': return typeof answer.input_tokens === 'number';
    default: return false;
  }
}

/** Null: it cannot be read, or is something else than promised. `answer`: the body when somebody has read it already. */
export function readKept(route: EndpointDefinition, body: Uint8Array, answer: JsonObject | null = null): KeptAnswer | null {
  const known = readBodies.get(body);
  if (known !== undefined) return known;
  let read = answer;
  try {
    // A parsed body is JSON: a change of name, not of type.
    read ??= parseJsonObject(body) as JsonObject;
  } catch {
    return null;
  }
  if (!isPromised(route, read)) return null;
  const kept = read.usage === null && answerDialect(route)?.asksForUsage === true ? withoutUsage : whole;
  readBodies.set(body, kept);
  return kept;
}

/** Checks an answer of a cache; plugins of others are not all written in TypeScript. */
export function readHit(route: EndpointDefinition, hit: CacheHit): KeptAnswer | null {
  // Data of a plugin: nothing of it is taken for granted.
  const given: unknown = hit;
  if (typeof given !== 'object' || given === null) return null;
  const { status, contentType, body, match } = given as Partial<Record<keyof CacheHit, unknown>>;
  if (status !== 200 || typeof contentType !== 'string' || /[^\t\x20-\x7e]/.test(contentType) || !(body instanceof Uint8Array)) return null;
  if (match !== 'exact' && match !== 'semantic') return null;
  return readKept(route, body);
}
