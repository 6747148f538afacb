// Hot: runs for each chunk of a streamed chat completion that a check reads.
// What a chunk is besides its texts: whether anything is left when they are held, and what further chunks have in common with it.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';

export function blockOf(blocks: readonly Json[]): Json | null {
  for (const entry of blocks) if (isObject(entry) && isObject(entry.delta) && typeof entry.delta.text === 'string') return entry.index ?? null;
  return null;
}

export function textOfBlocks(blocks: readonly Json[]): string {
  let text = '';
  for (const entry of blocks) {
    const piece = isObject(entry) ? entry.delta ?? entry.content_block : undefined;
    if (isObject(piece) && typeof piece.text === 'string') text += piece.text;
  }
  return text;
}

/** What each chunk of an answer has; anything else is told once. */
export const isShape = (name: string): boolean =>
  name === 'id' || name === 'object' || name === 'created' || name === 'model' || name === 'choices' || name === 'system_fingerprint' || name === 'service_tier'
  || name === 'provider' || name === 'obfuscation';
export const isChoiceShape = (name: string): boolean => name === 'index' || name === 'delta' || name === 'message' || name === 'text' || name === 'logprobs';
export const isNothing = (): boolean => false;

/** There is a member with something in it, besides those that `isKnown` names. */
export function hasMore(object: JsonObject, isKnown: (name: string) => boolean): boolean {
  for (const name in object) {
    const value = object[name];
    if (value !== undefined && value !== null && value !== '' && !isKnown(name)) return true;
  }
  return false;
}

export const isEmptyDelta = (left: Json | undefined): boolean => (isObject(left) ? !hasMore(left, isNothing) : left === '' || left === null || left === undefined);

export function isEmptyCall(call: JsonObject): boolean {
  for (const name in call) {
    const value = call[name];
    if (name === 'index' || value === undefined || value === null || value === '') continue;
    if (!((name === 'function' || name === 'custom') && isObject(value) && !hasMore(value, isNothing))) return false;
  }
  return true;
}
