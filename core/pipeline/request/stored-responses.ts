// Runs for calls of the Responses API whose response this gateway keeps itself, because the provider has no such API.

import type { Json, JsonObject } from '@gateway/plugin-sdk';
import type { AnswerContext } from '../../dialect/context.js';
import {
  deletedResponse, historyOf, inputItemsPage, isOwnId, isPageFault, itemsOf, referencesOf, responseIdOf, withReferences,
} from '../../dialect/responses/stored.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import { randomHex } from '../../exchange/trace.js';
import type { ResponseStore } from '../../storage/response-store.js';

/** Responses that one request may name items of. */
const referencedMax = 200;

/** Facts of the call for a translated answer. */
export function answerContext(exchange: Exchange, model: string, responses: ResponseStore): AnswerContext {
  const request = exchange.json() as JsonObject;
  return {
    id: exchange.id,
    model,
    createdAt: Math.floor(exchange.startedAtMs / 1000),
    request,
    isStored: exchange.route.dialect.keepsAnswers && responses.keeps && request.store !== false,
    randomHex,
  };
}

export function keepResponse(exchange: Exchange, response: JsonObject, responses: ResponseStore): void {
  const request = exchange.json() as JsonObject;
  const { id } = response;
  if (typeof id !== 'string') throw new TypeError('a response without an id');
  const { previous_response_id: previous } = request;
  responses.put(id, {
    response,
    // Whole: what an item only names may be gone before this response is.
    input: itemsOf(exchange.references === null ? request.input : withReferences(request.input, exchange.references), id),
    previous: typeof previous === 'string' && isOwnId(previous) ? previous : null,
    workspaceId: exchange.principal.workspaceId,
    expiresAtMs: Date.now() + responses.ageMs,
  });
}

/** The id of our own that the path names (`/{id}/input_items`); undefined for a provider's. */
export function ownIdIn(suffix: string): string | undefined {
  const [, id = ''] = suffix.split('/');
  return isOwnId(id) ? id : undefined;
}

/** Whether the request goes on from, or names items of, responses that are kept here. */
export function usesStored(request: Readonly<Record<string, unknown>>): boolean {
  const { previous_response_id: previous, input } = request as JsonObject;
  return (typeof previous === 'string' && isOwnId(previous)) || (Array.isArray(input) && referencesOf(input).some((id) => responseIdOf(id) !== undefined));
}

/** Puts into the exchange what it goes on from and what it names; rejects when the response before it is gone. */
export async function loadStored(exchange: Exchange, responses: ResponseStore): Promise<void> {
  const { workspaceId } = exchange.principal;
  const { previous_response_id: previous, input } = exchange.json() as JsonObject;
  if (typeof previous === 'string' && isOwnId(previous)) {
    const chain = await responses.chain(previous, workspaceId);
    if (chain === undefined) throw fail('RESPONSE_UNKNOWN', { id: previous, param: 'previous_response_id' });
    exchange.history = historyOf(chain);
  }
  const ids = new Set(referencesOf(input));
  const wanted = new Set([...ids].flatMap((id) => responseIdOf(id) ?? []));
  if (wanted.size > referencedMax) throw fail('BODY_INVALID', { param: 'input', reason: `names items of more than ${referencedMax} responses` });
  const items = new Map<string, Json>();
  for (const id of wanted) {
    const row = await responses.get(id, workspaceId);
    if (row === undefined) continue;
    const output = row.response.output;
    for (const item of [...row.input, ...(Array.isArray(output) ? output : [])]) {
      const itemId = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
      if (typeof itemId === 'string' && ids.has(itemId)) items.set(itemId, item);
    }
  }
  if (items.size > 0) exchange.references = items;
}

/** Answers GET, DELETE, cancel and input_items of a stored response; rejects with a client error. */
export async function answerStored(id: string, exchange: Exchange, responses: ResponseStore): Promise<JsonObject> {
  const { workspaceId } = exchange.principal;
  const { method } = exchange.head;
  if (method === 'DELETE') {
    if (!await responses.remove(id, workspaceId)) throw fail('RESPONSE_UNKNOWN', { id });
    return deletedResponse(id);
  }
  const row = await responses.get(id, workspaceId);
  if (row === undefined) throw fail('RESPONSE_UNKNOWN', { id });
  if (exchange.suffix.endsWith('/cancel')) throw fail('RESPONSE_FINISHED', { id });
  const query = new URLSearchParams(exchange.head.query);
  if (exchange.suffix.endsWith('/input_items')) {
    const page = inputItemsPage(row.input, query);
    if (isPageFault(page)) throw fail('BODY_INVALID', { param: page.fault.param, reason: page.fault.reason });
    return page;
  }
  if (query.get('stream') === 'true') throw fail('BODY_INVALID', { param: 'stream', reason: 'a stored response is read whole; leave stream out' });
  return row.response;
}
