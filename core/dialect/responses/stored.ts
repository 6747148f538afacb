// Responses that are kept on our side, because the provider keeps none: ids, input items, the conversation so far.
// Pure functions around the storage: run when a response is stored, continued or asked for. May not read or write anything.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { typeOf } from './conversation.js';

export type StoredResponse = {
  readonly response: JsonObject;
  /** As `itemsOf` gives them. */
  readonly input: Json[];
  /** Id of the response that this one continued. */
  readonly previous: string | null;
  readonly workspaceId: string;
  readonly expiresAtMs: number;
};

/** What is wrong with a query, for an answer with 400. */
export interface PageFault {
  readonly fault: { readonly param: string; readonly reason: string };
}

const ownId = /^resp_gw_[0-9a-f]{32}$/;

/** Given by this gateway, not by a provider. */
export const isOwnId = (id: string): boolean => ownId.test(id);

/** Ordered by time; `randomHex` are 20 hexadecimal digits. */
export function newResponseId(nowMs: number, randomHex: string): string {
  const time = Math.max(0, Math.floor(nowMs)).toString(16).padStart(12, '0').slice(-12);
  return `resp_gw_${time}${randomHex.toLowerCase().padStart(20, '0').slice(-20)}`;
}

/** The response that an item of ours belongs to, by the item's id; undefined: the item is not ours. */
export function responseIdOf(itemId: string): string | undefined {
  const [, suffix] = /^[a-z]+_(gw_[0-9a-f]{32})_(?:in_)?\d+$/.exec(itemId) ?? [];
  return suffix === undefined ? undefined : `resp_${suffix}`;
}

/** Ids of the items that the input names without sending them (`item_reference`). */
export function referencesOf(input: Json | undefined): string[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: Json) => (isObject(item) && typeOf(item) === 'item_reference' && typeof item.id === 'string' ? [item.id] : []));
}

/** The input with references replaced by the items they name, where `items` has them. Items of the history need no place in it: they are sent anyway. */
export function withReferences(input: Json | undefined, items: ReadonlyMap<string, Json>): Json | undefined {
  if (!Array.isArray(input)) return input;
  return input.map((item: Json) => (isObject(item) && typeOf(item) === 'item_reference' && typeof item.id === 'string' ? items.get(item.id) ?? item : item));
}

/** The client's input as items with ids, types and statuses. */
export function itemsOf(input: Json | undefined, responseId: string): Json[] {
  const list: readonly Json[] = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : Array.isArray(input) ? input : [];
  const suffix = responseId.startsWith('resp_') ? responseId.slice(5) : responseId;
  return list.flatMap((item, index): Json[] => {
    if (!isObject(item)) return [];
    const type = typeOf(item);
    const id = typeof item.id === 'string' && item.id !== '' ? item.id : `${idPrefixes.get(type) ?? 'item'}_${suffix}_in_${index}`;
    if (type !== 'message') return [{ ...item, id, type, ...(withStatus.has(type) ? { status: item.status ?? 'completed' } : {}) }];
    return [{ ...item, id, type, status: item.status ?? 'completed', content: contentOf(item) }];
  });
}

const idPrefixes: ReadonlyMap<string, string> = new Map([['message', 'msg'], ['function_call', 'fc'], ['function_call_output', 'fco'], ['reasoning', 'rs']]);
const withStatus: ReadonlySet<string> = new Set(['function_call', 'function_call_output']);

function contentOf(item: JsonObject): Json {
  const { content } = item;
  if (typeof content === 'string') return [item.role === 'assistant' ? { type: 'output_text', text: content, annotations: [], logprobs: [] } : { type: 'input_text', text: content }];
  return Array.isArray(content) ? content.map(wholePart) : [];
}

/** With the members that a client may leave out but expects to read. */
function wholePart(part: Json): Json {
  if (!isObject(part)) return part;
  if (part.type === 'output_text') return { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] };
  return part.type === 'input_image' ? { ...part, detail: part.detail ?? 'auto' } : part;
}

/** One page of `GET /v1/responses/{id}/input_items`. */
export function inputItemsPage(items: readonly Json[], query: URLSearchParams): JsonObject | PageFault {
  const limit = Number(query.get('limit') ?? '20');
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return fault('limit', 'must be a whole number from 1 to 100');
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') return fault('order', 'must be asc or desc');
  const ordered = order === 'asc' ? [...items] : [...items].reverse();
  let from = 0;
  let to = ordered.length;
  const after = query.get('after');
  if (after !== null && after !== '') {
    from = ordered.findIndex((item) => idOf(item) === after) + 1;
    if (from === 0) return fault('after', `there is no item ${after} in this response`);
  }
  const before = query.get('before');
  const isBackward = before !== null && before !== '';
  if (isBackward) {
    to = ordered.findIndex((item) => idOf(item) === before);
    if (to === -1) return fault('before', `there is no item ${before} in this response`);
  }
  // Backwards the page is what lies right before the cursor.
  const isFromEnd = isBackward && (after === null || after === '');
  const data = isFromEnd ? ordered.slice(Math.max(from, to - limit), to) : ordered.slice(from, Math.min(to, from + limit));
  const count = Math.max(0, to - from);
  return { object: 'list', data, first_id: idOf(data[0]), last_id: idOf(data.at(-1)), has_more: count > data.length };
}

const fault = (param: string, reason: string): PageFault => ({ fault: { param, reason } });
const idOf = (item: Json | undefined): string | null => (isObject(item) && typeof item.id === 'string' ? item.id : null);

export const isPageFault = (page: JsonObject | PageFault): page is PageFault => 'fault' in page;

export const deletedResponse = (id: string): JsonObject => ({ id, object: 'response', deleted: true });

/** What the model saw and said so far; `chain` oldest first. Instructions are of their own response only. */
export function historyOf(chain: readonly StoredResponse[]): Json[] {
  return chain.flatMap(({ input, response }) => [...input, ...(Array.isArray(response.output) ? response.output : [])]);
}
