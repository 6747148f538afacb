import { ParameterError } from '@gateway/plugin-sdk';
import type { RE2JS } from 're2js';

/** Characters of one pattern. RE2 bounds repetitions of repetitions by itself. */
const patternCharactersMax = 2000;
/** Characters of a value that a pattern looks at. */
const textCharactersMax = 65_536;

export interface TextPattern {
  /** Unanchored, in linear time. */
  finds(text: string): boolean;
}

/** Throws a ParameterError with `path` when `text` is no pattern. The library is loaded by the first pattern of the process. */
export async function compilePattern(text: string, path: string): Promise<TextPattern> {
  if (text.length > patternCharactersMax) throw new ParameterError(path, `has more than ${patternCharactersMax} characters; shorten it`);
  const { RE2JS: Engine, RE2JSSyntaxException: SyntaxFault } = await import('re2js');
  let pattern: RE2JS;
  try {
    pattern = Engine.compile(Engine.translateRegExp(text));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxFault)) throw thrown;
    throw new ParameterError(path, `is not a regular expression in RE2 syntax, which has no look-around and no back-references: ${thrown.getDescription()}`);
  }
  return { finds: (value) => pattern.matcher(value.length > textCharactersMax ? value.slice(0, textCharactersMax) : value).find() };
}
