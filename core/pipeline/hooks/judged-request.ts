// The request as the hooks before it judge it: the client's body and, for a response that goes on from kept ones, what comes before it. What a
// provider is sent has to have been seen, whoever wrote it and whenever.

import { hasLongNumber, isObject, readJson, writeJson, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { textOf } from '../../body/parse.js';
import { typeOf } from '../../dialect/responses/conversation.js';
import type { Exchange } from '../../exchange/exchange.js';

export const requestToJudge = (exchange: Exchange): Json => withStored(exchange, exchange.request.json());

/** The same with all digits of its numbers; `judged` itself when it has them. */
export function exactRequestToJudge(exchange: Exchange, judged: Json): Json {
  if (exchange.hasLongNumbers === false || !exchange.isJson) return judged;
  const text = textOf(exchange.bytes);
  return hasLongNumber(text) ? withStored(exchange, readJson(text)) : judged;
}

function withStored(exchange: Exchange, body: Json): Json {
  if ((exchange.history === null && exchange.references === null) || !isObject(body)) return body;
  return { ...body, input: [...exchange.history ?? [], ...inputItems(body).map((item) => referenced(exchange, item) ?? item)] };
}

/** Puts what the hooks made of the request in the place of the client's. */
export type TakeRequest = () => void;

/** Puts the request, as the hooks changed it, back to where it came from. Throws when it cannot be written; the function that it returns does not throw any more. */
export function writeJudgedRequest(exchange: Exchange, judged: JsonObject): TakeRequest {
  const { history, references } = exchange;
  const body = exchange.request.json();
  if ((history === null && references === null) || !isObject(body) || !Array.isArray(judged.input)) return replacing(exchange, judged, history, references);
  const before = history === null ? 0 : history.length;
  const given = inputItems(body);
  const items = judged.input as readonly Json[];
  // A hook wrote the conversation anew: it is all in the request now.
  if (items.length !== before + given.length) return replacing(exchange, judged, history === null ? null : [], null);
  const changed = references === null ? null : new Map(references);
  const input = given.map((item, index) => {
    const next = items[before + index] as Json;
    if (changed === null || referenced(exchange, item) === undefined) return next;
    changed.set(idOf(item), next);
    return item;
  });
  const [only] = input;
  const isText = typeof body.input === 'string' && isObject(only) && typeof only.content === 'string';
  return replacing(exchange, { ...judged, input: isText ? only.content as string : input }, history === null ? null : items.slice(0, before), changed);
}

function replacing(exchange: Exchange, body: JsonObject, history: Exchange['history'], references: Exchange['references']): TakeRequest {
  const text = writeJson(body);
  const bytes = Buffer.from(text);
  return () => {
    exchange.history = history;
    exchange.references = references;
    exchange.replaceBody(hasLongNumber(text) ? JSON.parse(text) as JsonObject : body, bytes);
  };
}

function inputItems(body: JsonObject): readonly Json[] {
  if (typeof body.input === 'string') return [{ role: 'user', content: body.input }];
  return Array.isArray(body.input) ? body.input as readonly Json[] : [];
}

function referenced(exchange: Exchange, item: Json): Json | undefined {
  return exchange.references === null ? undefined : exchange.references.get(idOf(item));
}

/** The id of an item that only names another; empty for every other item. */
const idOf = (item: Json): string => (isObject(item) && typeof item.id === 'string' && typeOf(item) === 'item_reference' ? item.id : '');
