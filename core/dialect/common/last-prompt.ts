// Runs for calls of targets with a cache that compares by meaning.
// The last words of the user in a conversation that is a list of turns.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { LastPrompt } from '../dialect.js';

/** `member`: the list of turns. `partType`: of the parts of a content that are text. Null: the last turn is not plain text of the user. */
export function lastTurnPrompt(body: JsonObject, member: string, partType: string): LastPrompt | null {
  const turns = body[member];
  if (!Array.isArray(turns)) return null;
  const last: unknown = turns.at(-1);
  if (!isObject(last) || last.role !== 'user') return null;
  const text = plainText(last.content ?? null, partType);
  if (text === null || text.trim() === '') return null;
  return { text, rest: { ...body, [member]: [...turns.slice(0, -1) as Json[], { ...last, content: null }] } };
}

/** The member is the text. */
export function memberPrompt(body: JsonObject, member: string): LastPrompt | null {
  const text = body[member];
  return typeof text === 'string' ? { text, rest: { ...body, [member]: null } } : null;
}

function plainText(content: Json, partType: string): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  for (const part of content as readonly Json[]) {
    // What a part carries beside its text (a mark for the provider's own cache, a file) is not text to compare.
    if (!isObject(part) || part.type !== partType || typeof part.text !== 'string' || Object.keys(part).length > 2) return null;
    texts.push(part.text);
  }
  return texts.join('\n');
}
