import { ParameterError, patternSize, type Weight } from '@gateway/plugin-sdk';

/** Instructions of all patterns that one check is given. */
const budgetSizeMax = 10_000;
/** A small pattern costs more than its instructions. */
const patternSizeMin = 32;
/** Held by every pattern, and by each of its instructions. */
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
    const size = Math.max(patternSize(pattern), patternSizeMin);
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
