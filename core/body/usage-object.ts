// Runs once or twice at the end of each answer.
// Reads the token counts out of one usage object on the bytes, in the shapes of OpenAI's chat, completions, embeddings and responses APIs
// and of Anthropic's messages; other members are stepped over.

import { ObjectCursor } from './cursor.js';
import { isKey, scalarAt } from './scan.js';

/** -1 where nothing was said. */
export class TokenCounts {
  input = -1;
  output = -1;
  total = -1;
  cached = -1;
  reasoning = -1;
  /** Anthropic counts tokens read from and written to its cache beside the input, not in it. */
  besideInput = 0;

  get isEmpty(): boolean {
    return this.input === -1 && this.output === -1 && this.total === -1;
  }
}

/** The counts of the object at `at`; null when it is none, is cut off, or names no count. */
export function readTokenCounts(bytes: Buffer, at: number): TokenCounts | null {
  // Many streams say null until the end.
  if (bytes[at] !== 0x7b) return null;
  const counts = new TokenCounts();
  const cursor = new ObjectCursor(bytes, at);
  while (cursor.next()) readMember(cursor, counts);
  return cursor.isFault || counts.isEmpty ? null : counts;
}

function readMember(cursor: ObjectCursor, counts: TokenCounts): void {
  switch (cursor.keyEnd - cursor.keyStart - 2) {
    case 12:
      if (isKey(cursor, 'input_tokens')) counts.input = countAt(cursor);
      else if (isKey(cursor, 'total_tokens')) counts.total = countAt(cursor);
      return;
    case 13:
      if (isKey(cursor, 'prompt_tokens')) counts.input = countAt(cursor);
      else if (isKey(cursor, 'output_tokens')) counts.output = countAt(cursor);
      // Moonshot's place for it.
      else if (isKey(cursor, 'cached_tokens')) counts.cached = countAt(cursor);
      return;
    case 17:
      if (isKey(cursor, 'completion_tokens')) counts.output = countAt(cursor);
      return;
    case 20:
      if (isKey(cursor, 'input_tokens_details')) counts.cached = countBelow(cursor, 'cached_tokens', counts.cached);
      return;
    case 21:
      if (isKey(cursor, 'prompt_tokens_details')) counts.cached = countBelow(cursor, 'cached_tokens', counts.cached);
      else if (isKey(cursor, 'output_tokens_details')) counts.reasoning = countBelow(cursor, 'reasoning_tokens', counts.reasoning);
      return;
    case 23:
      // Anthropic's and DeepSeek's.
      if (isKey(cursor, 'cache_read_input_tokens')) counts.besideInput += Math.max(0, counts.cached = countAt(cursor));
      else if (isKey(cursor, 'prompt_cache_hit_tokens')) counts.cached = countAt(cursor);
      return;
    case 25:
      if (isKey(cursor, 'completion_tokens_details')) counts.reasoning = countBelow(cursor, 'reasoning_tokens', counts.reasoning);
      return;
    case 27:
      if (isKey(cursor, 'cache_creation_input_tokens')) counts.besideInput += Math.max(0, countAt(cursor));
  }
}

/** The member's value when it is a count, else -1. */
function countAt(cursor: ObjectCursor): number {
  const { bytes, valueStart, valueEnd } = cursor;
  let count = 0;
  for (let index = valueStart; index < valueEnd; index += 1) {
    const digit = (bytes[index] ?? 0) - 48;
    if (digit < 0 || digit > 9) return unusualCountAt(cursor);
    count = count * 10 + digit;
  }
  return count <= Number.MAX_SAFE_INTEGER ? count : -1;
}

/** `12.0` and `1e3` are counts too, if odd ones. */
function unusualCountAt(cursor: ObjectCursor): number {
  const value = scalarAt(cursor.bytes, cursor.valueStart, cursor.valueEnd);
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : -1;
}

function countBelow(cursor: ObjectCursor, name: string, otherwise: number): number {
  if (cursor.bytes[cursor.valueStart] !== 0x7b) return otherwise;
  const below = new ObjectCursor(cursor.bytes, cursor.valueStart);
  let count = otherwise;
  while (below.next()) if (isKey(below, name)) count = countAt(below);
  return count;
}
