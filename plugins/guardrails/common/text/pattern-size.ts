import { ParameterError, type Weight } from '@gateway/plugin-sdk';

/** Instructions of all patterns that one check is given. */
const budgetSizeMax = 10_000;
/** A small pattern costs more than its instructions. */
const patternSizeMin = 32;
/** What every pattern holds, and what each of its instructions does. */
const ownBytes = 4_096;
const instructionBytes = 128;

export const patternBytes = (size: number): number => ownBytes + size * instructionBytes;

/** Bounds what the patterns of one check cost together, before they are compiled. */
export class PatternBudget {
  #size = 0;
  #bytes = 0;
  #nanosecondsPerCharacter = 0;

  /** Of all that were taken. */
  get weight(): Weight {
    return { bytes: patternBytes(this.#size) + this.#bytes, nanosecondsPerCharacter: this.#nanosecondsPerCharacter };
  }

  /** Throws a ParameterError with `path` when this pattern is one too many; else gives its size. */
  take(pattern: string, path: string): number {
    const size = Math.max(sizeOf(pattern), patternSizeMin);
    this.#size += size;
    if (this.#size > budgetSizeMax) throw new ParameterError(path, `the regular expressions of this check have more than ${budgetSizeMax} steps together; use fewer, or smaller counts in {}`);
    return size;
  }

  /** What a pattern costs beside its instructions. */
  addWeight({ bytes, nanosecondsPerCharacter = 0 }: Weight): void {
    this.#bytes += bytes;
    this.#nanosecondsPerCharacter += nanosecondsPerCharacter;
  }
}

const token = /\\Q[^]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[^])|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d{1,6})(?:,(\d{0,6}))?\}|[^]/g;

/** About as many as the instructions that RE2 makes of the pattern, never much fewer. */
export function sizeOf(pattern: string): number {
  let size = 2;
  /** Size of what a repetition would repeat. */
  let last = 0;
  const open: number[] = [];
  for (const [text, least, most] of pattern.matchAll(token)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0));
      // Each repetition that may be left out is a branch more.
      size += last * Math.max(0, times - 1) + Math.max(0, times - Number(least));
      last *= Math.max(1, times);
    } else if (text === '(') {
      open.push(size);
      size += 2;
    } else if (text === ')') {
      last = size - (open.pop() ?? 0);
    } else if (text === '*' || text === '+' || text === '?') {
      size += 1;
      last += 1;
    } else {
      last = text.startsWith('\\Q') ? text.length : 1;
      size += last;
    }
  }
  return size;
}
