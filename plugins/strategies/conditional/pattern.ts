import { ParameterError, type Weight } from '@gateway/plugin-sdk';
import { RE2JS, RE2JSSyntaxException } from 're2js';

/** Characters of all patterns of one config together. */
const charactersMax = 8000;
/** Instructions of all patterns of one config together. */
const sizeMax = 10_000;
/** Characters of a value that patterns look at. */
const textCharactersMax = 65_536;
/**
 * Most work that all patterns of a config may do on one call: instructions times characters, which RE2 never exceeds (a step takes
 * some 20 ns). When the patterns are large, the text they look at has to be shorter.
 */
const stepsMax = 5_000_000;

/** What a pattern holds, and what each of its instructions does. */
const patternBytes = 4_096;
const instructionBytes = 128;

/**
 * The regular expressions of one config. Configs come from clients, and a pattern runs on the thread that serves everybody, so time and
 * memory are bounded before the first call: RE2 matches in linear time, and `find` (unlike `test`) keeps no automaton between calls.
 */
export class Patterns {
  #characters = 0;
  #size = 0;
  #count = 0;

  /** What all of them hold. */
  get weight(): Weight {
    return { bytes: this.#count * patternBytes + this.#size * instructionBytes };
  }

  /** Throws a ParameterError with `path` when `text` is no pattern, or one too many. */
  compile(text: string, path: string): RE2JS {
    this.#count += 1;
    this.#characters += text.length;
    if (this.#characters > charactersMax) throw new ParameterError(path, `the regular expressions of this config have more than ${charactersMax} characters together; shorten them`);
    // Measured before it is compiled: compiling is where a repetition of repetitions would hurt.
    this.#size += sizeOf(text);
    if (this.#size > sizeMax) throw new ParameterError(path, 'the regular expressions of this config repeat too much; use smaller counts in {}');
    try {
      return RE2JS.compile(RE2JS.translateRegExp(text));
    } catch (thrown) {
      if (!(thrown instanceof RE2JSSyntaxException)) throw thrown;
      throw new ParameterError(path, `is not a regular expression in RE2 syntax, which has no look-around and no back-references: ${thrown.getDescription()}`);
    }
  }

  /** Unanchored, over as much of `text` as the work of all patterns together allows. */
  finds(pattern: RE2JS, text: string): boolean {
    const maximum = Math.min(textCharactersMax, Math.floor(stepsMax / Math.max(1, this.#size)));
    return pattern.matcher(text.length > maximum ? text.slice(0, maximum) : text).find();
  }
}

const token = /\\Q[^]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[^])|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\{(\d{1,6})(?:,(\d{0,6}))?\}|[^]/g;

/** About as many as the instructions that RE2 makes of the pattern, never much fewer. */
export function sizeOf(pattern: string): number {
  let size = 2;
  /** Size of what a repetition would repeat. */
  let last = 0;
  const open: number[] = [];
  for (const match of pattern.matchAll(token)) {
    const [text, least, most] = match;
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
