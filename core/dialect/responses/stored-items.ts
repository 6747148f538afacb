// Runs for requests that build on responses kept here: go on from one, or name items of them.
// What of those a provider is sent. Pure.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { StoredItems, TranslateContext } from '../context.js';
import { responsesToChat } from './request.js';
import { responseIdOf, withReferences } from './stored.js';

/** A response that this gateway does not keep cannot be gone on from at a provider without the API. */
export function storedToChat(request: JsonObject, context: TranslateContext, stored: StoredItems): JsonObject {
  const { previous_response_id: previous } = request;
  if (typeof previous === 'string' && stored.history === null) {
    return context.refuse('previous_response_id', `no stored response ${previous.slice(0, 100)}; it was made elsewhere, was not stored, or is too old`);
  }
  const input = inputOf(request, stored);
  return responsesToChat(input === undefined || input === request.input ? request : { ...request, input }, stored.history ?? [], context);
}

/** The provider keeps responses of its own, but this conversation began at another one: it gets the whole of it. */
export function withStored(request: JsonObject, stored: StoredItems): JsonObject {
  const { history } = stored;
  const { previous_response_id: previous, ...rest } = request;
  const input = inputOf(request, stored);
  const items: readonly Json[] = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : Array.isArray(input) ? input : [];
  return {
    ...rest,
    ...(history === null && previous !== undefined ? { previous_response_id: previous } : {}),
    input: [...(history ?? []), ...items].filter((item) => !isOwnReasoning(item)).map(withoutOwnId),
  };
}

/** The client's input, with what is kept here in the place of what only names it. */
const inputOf = (request: JsonObject, { references }: StoredItems): Json | undefined =>
  (references === null ? request.input : withReferences(request.input, references));

/** Our ids are known here alone. */
function withoutOwnId(item: Json): Json {
  if (!isObject(item) || item.type === 'item_reference' || !isOwnItem(item)) return item;
  const { id: _, status: __, ...rest } = item;
  return rest;
}

const isOwnItem = (item: JsonObject): boolean => typeof item.id === 'string' && responseIdOf(item.id) !== undefined;
/** Made here out of another provider's thinking: nobody else can read it. */
const isOwnReasoning = (item: Json): boolean => isObject(item) && item.type === 'reasoning' && isOwnItem(item);
