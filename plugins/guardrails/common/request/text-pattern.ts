import { ParameterError } from '@gateway/plugin-sdk';
import type { RE2JS } from 're2js';
import type { PatternBudget } from '../text/pattern-size.js';

/** Characters of one pattern. */
const patternCharactersMax = 2000;
/** Characters of a value that a pattern looks at. */
const textCharactersMax = 65_536;
/** Most work that one value may make: instructions times characters, some 20 ns each. A large pattern looks at less of a long value. */
const stepsMax = 2_000_000;

export interface TextPattern {
  /** Unanchored, in linear time. */
  finds(text: string): boolean;
}

/** Throws a ParameterError with `path` when `text` is not a pattern, or one too many. The library is loaded by the first pattern of the process. */
export async function compilePattern(text: string, path: string, budget: PatternBudget): Promise<TextPattern> {
  if (text.length > patternCharactersMax) throw new ParameterError(path, `has more than ${patternCharactersMax} characters; shorten it`);
  const { RE2JS: Engine, RE2JSSyntaxException: SyntaxFault } = await import('re2js');
  const size = budget.take(text, path);
  let pattern: RE2JS;
  try {
    pattern = Engine.compile(Engine.translateRegExp(text));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxFault)) throw thrown;
    throw new ParameterError(path, `is not a regular expression in RE2 syntax, which has no look-around and no back-references: ${thrown.getDescription()}`);
  }
  // find(), unlike test(), keeps no automaton.
  const maximum = Math.min(textCharactersMax, Math.floor(stepsMax / size));
  return { finds: (value) => pattern.matcher(value.length > maximum ? value.slice(0, maximum) : value).find() };
}
