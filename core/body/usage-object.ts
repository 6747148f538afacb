// Runs once or twice at the end of each answer.
// Reads the token counts out of one usage object on the bytes, in the shapes of OpenAI's chat, completions, embeddings and responses APIs
// and of Anthropic's messages; other members are stepped over.

import { skipBlank, skipString, skipValue } from './cursor.js';
import { scalarAt } from './scan.js';

const quote = 0x22, comma = 0x2c, colon = 0x3a, braceOpen = 0x7b, braceClose = 0x7d;

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
  if (bytes[at] !== braceOpen) return null;
  const counts = new TokenCounts();
  return readObject(bytes, at, counts, ofUsage) === -1 || counts.isEmpty ? null : counts;
}

const bytesOf = (name: string): Uint8Array => Uint8Array.from(Buffer.from(name, 'latin1'));
const inputTokensDetails = bytesOf('input_tokens_details');
const promptTokensDetails = bytesOf('prompt_tokens_details');
const outputTokensDetails = bytesOf('output_tokens_details');
const completionTokensDetails = bytesOf('completion_tokens_details');
const cachedTokens = bytesOf('cached_tokens');
const reasoningTokens = bytesOf('reasoning_tokens');
const inputTokens = bytesOf('input_tokens');
const totalTokens = bytesOf('total_tokens');
const promptTokens = bytesOf('prompt_tokens');
const outputTokens = bytesOf('output_tokens');
const completionTokens = bytesOf('completion_tokens');
const cacheReadInputTokens = bytesOf('cache_read_input_tokens');
const promptCacheHitTokens = bytesOf('prompt_cache_hit_tokens');
const cacheCreationInputTokens = bytesOf('cache_creation_input_tokens');

/** Whose members an object has: those of the usage itself, or the one detail that is looked for below it. */
const ofUsage = 0, cachedBelow = 1, reasoningBelow = 2, nothingBelow = 3;

/** Index behind the object at `at`; -1 when it is cut off or broken. One pass: its bytes are looked at once, by whoever needs them. */
function readObject(bytes: Buffer, at: number, counts: TokenCounts, level: number): number {
  let index = skipBlank(bytes, at + 1);
  if (bytes[index] === braceClose) return index + 1;
  for (;;) {
    if (bytes[index] !== quote) return -1;
    const keyStart = index;
    index = skipString(bytes, index);
    if (index === -1) return -1;
    const keyEnd = index;
    index = skipBlank(bytes, index);
    if (bytes[index] !== colon) return -1;
    index = skipBlank(bytes, index + 1);
    const byte = bytes[index];
    if (byte === braceOpen && level === ofUsage) {
      index = readObject(bytes, index, counts, levelOf(bytes, keyStart, keyEnd));
    } else {
      const valueStart = index;
      index = skipValue(bytes, index);
      if (index !== -1 && level !== nothingBelow) take(bytes, keyStart, keyEnd, valueStart, index, counts, level);
    }
    if (index === -1) return -1;
    index = skipBlank(bytes, index);
    if (bytes[index] === braceClose) return index + 1;
    if (bytes[index] !== comma) return -1;
    index = skipBlank(bytes, index + 1);
  }
}

function levelOf(bytes: Buffer, keyStart: number, keyEnd: number): number {
  switch (keyEnd - keyStart - 2) {
    case 20: return isName(bytes, keyStart, inputTokensDetails) ? cachedBelow : nothingBelow;
    case 21:
      if (isName(bytes, keyStart, promptTokensDetails)) return cachedBelow;
      return isName(bytes, keyStart, outputTokensDetails) ? reasoningBelow : nothingBelow;
    case 25: return isName(bytes, keyStart, completionTokensDetails) ? reasoningBelow : nothingBelow;
    default: return nothingBelow;
  }
}

function take(bytes: Buffer, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number, counts: TokenCounts, level: number): void {
  const length = keyEnd - keyStart - 2;
  if (level === cachedBelow) {
    if (length === cachedTokens.length && isName(bytes, keyStart, cachedTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
    return;
  }
  if (level === reasoningBelow) {
    if (length === reasoningTokens.length && isName(bytes, keyStart, reasoningTokens)) counts.reasoning = countAt(bytes, valueStart, valueEnd);
    return;
  }
  switch (length) {
    case 12:
      if (isName(bytes, keyStart, inputTokens)) counts.input = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, totalTokens)) counts.total = countAt(bytes, valueStart, valueEnd);
      return;
    case 13:
      if (isName(bytes, keyStart, promptTokens)) counts.input = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, outputTokens)) counts.output = countAt(bytes, valueStart, valueEnd);
      // Moonshot's place for it.
      else if (isName(bytes, keyStart, cachedTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
      return;
    case 17:
      if (isName(bytes, keyStart, completionTokens)) counts.output = countAt(bytes, valueStart, valueEnd);
      return;
    case 23:
      // Anthropic's and DeepSeek's.
      if (isName(bytes, keyStart, cacheReadInputTokens)) counts.besideInput += Math.max(0, counts.cached = countAt(bytes, valueStart, valueEnd));
      else if (isName(bytes, keyStart, promptCacheHitTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
      return;
    case 27:
      if (isName(bytes, keyStart, cacheCreationInputTokens)) counts.besideInput += Math.max(0, countAt(bytes, valueStart, valueEnd));
  }
}

/** The value when it is a count, else -1. */
function countAt(bytes: Buffer, valueStart: number, valueEnd: number): number {
  let count = 0;
  for (let index = valueStart; index < valueEnd; index += 1) {
    const digit = (bytes[index] as number) - 48;
    if (digit < 0 || digit > 9) return unusualCountAt(bytes, valueStart, valueEnd);
    count = count * 10 + digit;
  }
  return count <= Number.MAX_SAFE_INTEGER ? count : -1;
}

/** `12.0` and `1e3` are counts too, if odd ones. */
function unusualCountAt(bytes: Buffer, valueStart: number, valueEnd: number): number {
  const value = scalarAt(bytes, valueStart, valueEnd);
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : -1;
}

/** Of a key as long as `name`. Names of counts have no escapes in any API; one with escapes is another name. */
function isName(bytes: Buffer, keyStart: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) if (bytes[keyStart + 1 + index] !== name[index]) return false;
  return true;
}
