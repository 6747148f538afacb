import { ParameterError, patternSize, type Weight } from '@gateway/plugin-sdk';
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

/** Held by a pattern, and by each of its instructions. */
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

  /** The weight of all of them. */
  get weight(): Weight {
    return { bytes: this.#count * patternBytes + this.#size * instructionBytes };
  }

  /** Throws a ParameterError with `path` when `text` is not a pattern, or one too many. */
  compile(text: string, path: string): RE2JS {
    this.#count += 1;
    this.#characters += text.length;
    if (this.#characters > charactersMax) throw new ParameterError(path, `the regular expressions of this config have more than ${charactersMax} characters together; shorten them`);
    // Measured before it is compiled: compiling is where a repetition of repetitions would hurt.
    this.#size += patternSize(text);
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
