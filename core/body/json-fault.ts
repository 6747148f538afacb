// Where a text stops being JSON, in words. Runs only after JSON.parse has refused it: the engine's own message quotes the text around the
// fault, which may be private, and does not always say where it is. Never quotes the text, and reads a bounded part of it.

import { printParseErrorCode, visit } from 'jsonc-parser';
import { levelsMax } from './depth.js';

/** A fault behind so many characters is not looked for: finding it would take longer than whoever waits for other calls should wait. */
const searchedCharactersMax = 1024 * 1024;

interface Fault {
  /** As the library calls it. */
  readonly name: string;
  readonly offset: number;
  readonly length: number;
  /** `line 2, column 12`; both count from 1. */
  readonly place: string;
}

const expected: ReadonlyMap<string, string> = new Map([
  ['ValueExpected', 'a value'], ['PropertyNameExpected', 'a member name in double quotes'], ['ColonExpected', '":"'],
  ['CommaExpected', '"," or a closing bracket'], ['EndOfFileExpected', 'the end'],
]);
/** `#` is the place. */
const broken: ReadonlyMap<string, string> = new Map([
  ['CloseBraceExpected', 'it ends inside an object; "}" is missing'],
  ['CloseBracketExpected', 'it ends inside a list; "]" is missing'],
  ['UnexpectedEndOfString', 'the string that begins at # is not closed, or holds a line break; write that as an escape'],
  ['InvalidCharacter', 'the string that begins at # holds a tab or another control character; write it as an escape'],
  ['InvalidUnicode', 'the string that begins at # holds a broken escape'],
  ['InvalidEscapeCharacter', 'the string that begins at # holds a broken escape'],
  ['UnexpectedEndOfNumber', 'the number at # is not complete'],
  ['InvalidCommentToken', 'there is a comment at #; take it out'],
]);

/** `expected a value at line 2, column 12`. */
export function explainFault(text: string): string {
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark; send it without';
  const isCut = text.length > searchedCharactersMax;
  const searched = isCut ? text.slice(0, searchedCharactersMax) : text;
  if (!isCut && searched.trim() === '') return 'it is empty';
  const fault = firstFault(searched);
  if (fault === undefined) return 'it cannot be read';
  if (fault.name === tooDeep) return `it is nested more than ${levelsMax} levels deep at ${fault.place}, and broken behind that`;
  const isAtEnd = fault.offset + fault.length >= searched.length;
  if (isCut && isAtEnd) return `its fault lies behind the first ${searchedCharactersMax} characters`;
  const wanted = expected.get(fault.name);
  if (wanted !== undefined) return fault.length === 0 && isAtEnd ? `it ends where ${wanted} should follow` : `expected ${wanted} at ${fault.place}`;
  return (broken.get(fault.name) ?? 'unexpected characters at #; outside of double quotes only numbers, true, false, null and {}[]:, may stand').replace('#', fault.place);
}

const tooDeep = 'TooDeep';

function firstFault(text: string): Fault | undefined {
  let fault: Fault | undefined;
  let depth = 0;
  const stop = (name: string, offset: number, length: number, line: number, character: number): never => {
    fault = { name, offset, length, place: `line ${line + 1}, column ${character + 1}` };
    throw new Error(name);
  };
  // The library calls itself for each level.
  const enter = (offset: number, length: number, line: number, character: number): void => {
    depth += 1;
    if (depth > levelsMax) stop(tooDeep, offset, length, line, character);
  };
  const leave = (): void => { depth -= 1; };
  try {
    visit(text, {
      onObjectBegin: enter, onObjectEnd: leave, onArrayBegin: enter, onArrayEnd: leave,
      onError: (code, offset, length, line, character) => stop(printParseErrorCode(code), offset, length, line, character),
    }, { disallowComments: true });
  } catch (thrown) {
    // Thrown by `stop`, since the library would go on behind a fault; anything else is nobody's to hide.
    if (fault === undefined) throw thrown;
  }
  return fault;
}
