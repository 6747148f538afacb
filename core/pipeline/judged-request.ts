// The request as the hooks before it judge it: the client's body and, for a response that goes on from kept ones, what comes before it. What a
// provider is sent has to have been seen, whoever wrote it and whenever.

import type { Json, JsonObject } from '@gateway/plugin-sdk';
import type { Exchange } from '../exchange/exchange.js';

export function requestToJudge(exchange: Exchange): Json {
  const body = exchange.request.json();
  if ((exchange.history === null && exchange.references === null) || !isMembers(body)) return body;
  return { ...body, input: [...exchange.history ?? [], ...inputItems(body).map((item) => referenced(exchange, item) ?? item)] };
}

/** What the hooks made of it goes back to where it came from. */
export function takeJudgedRequest(exchange: Exchange, judged: JsonObject): void {
  const { history, references } = exchange;
  const body = exchange.request.json();
  if ((history === null && references === null) || !isMembers(body) || !Array.isArray(judged.input)) {
    exchange.replaceBody(judged);
    return;
  }
  const before = history === null ? 0 : history.length;
  const given = inputItems(body);
  const items = judged.input as readonly Json[];
  if (items.length !== before + given.length) {
    // A hook wrote the conversation anew: it is all in the request now.
    if (history !== null) exchange.history = [];
    exchange.references = null;
    exchange.replaceBody(judged);
    return;
  }
  if (history !== null) exchange.history = items.slice(0, before);
  const changed = references === null ? null : new Map(references);
  const input = given.map((item, index) => {
    const next = items[before + index] as Json;
    if (changed === null || referenced(exchange, item) === undefined) return next;
    changed.set(idOf(item), next);
    return item;
  });
  exchange.references = changed;
  const [only] = input;
  const isText = typeof body.input === 'string' && isMembers(only) && typeof only.content === 'string';
  exchange.replaceBody({ ...judged, input: isText ? only.content as string : input });
}

function inputItems(body: JsonObject): readonly Json[] {
  if (typeof body.input === 'string') return [{ role: 'user', content: body.input }];
  return Array.isArray(body.input) ? body.input as readonly Json[] : [];
}

function referenced(exchange: Exchange, item: Json): Json | undefined {
  return exchange.references === null ? undefined : exchange.references.get(idOf(item));
}

/** The id of an item that only names another; empty for every other item. */
const idOf = (item: Json): string => (isMembers(item) && typeof item.id === 'string' && (item.type === undefined || item.type === 'item_reference') && item.role === undefined ? item.id : '');

const isMembers = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);
