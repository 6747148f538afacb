import { ParameterError, patternSize, type Weight } from '@gateway/plugin-sdk';
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { patternBytes, type PatternBudget } from './pattern-size.js';

/** Characters of one pattern. */
const charactersMax = 4000;
/** Instructions of one pattern: what a character of text may cost. */
const sizeMax = 2000;
/** Bytes that the automaton of one pattern may keep between calls. */
const automatonBytesMax = 128 * 1024;
/** What an instruction may take for a character where the automaton gives up. */
const instructionNanoseconds = 15;

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface PatternMatch extends Span {
  readonly text: string;
  /** By number; undefined for a group that took no part. */
  readonly captures: readonly (string | undefined)[];
  /** By name, when the pattern names groups. */
  readonly groups: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * A regular expression that a user wrote. Configs come from clients, so it runs on RE2, in time linear in the text, and its size is bounded
 * before it is compiled.
 */
export class TextPattern {
  /** Longest possible match in UTF-16 units; Infinity when there is no limit. */
  readonly lengthMax: number;
  /** A match can depend on the character behind it: `$`, `\b`. */
  readonly looksAhead: boolean;
  /** What it may come to hold, and to take. */
  readonly weight: Weight;
  readonly #compiled: RE2JS;

  private constructor(compiled: RE2JS) {
    this.#compiled = compiled;
    const shape = shapeOf(compiled.re2().prog as unknown as Program);
    this.lengthMax = shape.lengthMax;
    this.looksAhead = shape.looksAhead;
    const size = compiled.programSize();
    this.weight = { bytes: patternBytes(size) + automatonBytesMax, nanosecondsPerCharacter: size * instructionNanoseconds };
    const { dfa } = compiled.re2();
    dfa.stateBudget = automatonBytesMax;
    dfa.memBudget = automatonBytesMax;
  }

  /** Takes `pattern` and `/pattern/flags`. Throws a ParameterError with `path` when it cannot be compiled, or is too large. */
  static compile(rule: string, path: string): TextPattern {
    const { source, flags } = readRule(rule);
    return TextPattern.#compile(source, flags, path, rule);
  }

  /** Takes a pattern only, as JSON Schema has them. */
  static compileExact(source: string, path: string, budget: PatternBudget): TextPattern {
    // An empty pattern is one that always fits.
    const rule = source === '' ? '(?:)' : source;
    budget.take(rule, path);
    const pattern = TextPattern.#compile(rule, 0, path, rule);
    budget.addWeight(pattern.weight);
    return pattern;
  }

  static #compile(source: string, flags: number, path: string, rule: string): TextPattern {
    if (rule === '') throw new ParameterError(path, 'is empty and would match everywhere; give a regular expression');
    if (rule.length > charactersMax) throw new ParameterError(path, `has more than ${charactersMax} characters; shorten the regular expression`);
    // Measured before it is compiled: compiling is where a repetition of repetitions would hurt.
    if (patternSize(source) > sizeMax) throw new ParameterError(path, `repeats too much: the regular expression has more than ${sizeMax} steps; use smaller counts in {}`);
    try {
      const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags);
      if (compiled.programSize() > sizeMax * 2) throw new ParameterError(path, `is too large: the regular expression has more than ${sizeMax * 2} steps; shorten it`);
      return new TextPattern(compiled);
    } catch (thrown) {
      if (!(thrown instanceof RE2JSSyntaxException)) throw thrown;
      throw new ParameterError(path, `is not a regular expression in RE2 syntax, which has no look-around and no back-references: ${thrown.getDescription()}`);
    }
  }

  /** Pattern and flags: what tells two of them apart. */
  toString(): string {
    return `${this.#compiled.flags()}/${this.#compiled.pattern()}`;
  }

  /** Whether it matches anywhere. Much cheaper than to say where. */
  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** The first match at `from` or behind it; what stands before `from` is still seen by `^` and `\b`. */
  first(text: string, from = 0): PatternMatch | undefined {
    const matcher = this.#compiled.matcher(text);
    if (!matcher.find(from)) return undefined;
    const captures: (string | undefined)[] = [];
    for (let group = 1; group <= matcher.groupCount(); group += 1) captures.push(matcher.group(group) ?? undefined);
    const names = Object.entries(this.#compiled.namedGroups());
    const groups = names.length === 0 ? undefined : Object.fromEntries(names.map(([name, group]) => [name, captures[group - 1]]));
    return { from: matcher.start(), to: matcher.end(), text: matcher.group() ?? '', captures, groups };
  }

  /** Every match that is not empty, from left to right, not overlapping. */
  spans(text: string): Span[] {
    const spans: Span[] = [];
    if (!this.test(text)) return spans;
    const matcher = this.#compiled.matcher(text);
    while (matcher.find()) {
      const from = matcher.start();
      const to = matcher.end();
      if (to > from) spans.push({ from, to });
    }
    return spans;
  }

  /** As `first`, without groups. */
  firstSpan(text: string, from: number): Span | undefined {
    const matcher = this.#compiled.matcher(text);
    return matcher.find(from) ? { from: matcher.start(), to: matcher.end() } : undefined;
  }
}

const slashed = /^\/([^]+)\/([dgimsuy]*)$/;

/** `/pattern/flags`, when the flags are some of JavaScript's; else all of it is the pattern. */
function readRule(rule: string): { readonly source: string; readonly flags: number } {
  const [, source, letters] = slashed.exec(rule) ?? [];
  if (source === undefined || letters === undefined || new Set(letters).size !== letters.length) return { source: rule, flags: 0 };
  // All matches are looked for anyway (g), and RE2 reads whole characters (u); y and d do not apply.
  const flags = (letters.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) | (letters.includes('m') ? RE2JS.MULTILINE : 0) | (letters.includes('s') ? RE2JS.DOTALL : 0);
  return { source, flags };
}

/** The members that are read of a program that RE2 compiled. */
interface Program {
  readonly start: number;
  getInst(index: number): { readonly op: number; readonly out: number; readonly arg: number; readonly runes: ArrayLike<number> };
}

const endOfLine = 2;
const endOfText = 8;
const wordBoundary = 16;
const noWordBoundary = 32;
const lastOfBasicPlane = 0xffff;

/** The longest way through the program; a loop on it means that there is none. */
function shapeOf(program: Program): { readonly lengthMax: number; readonly looksAhead: boolean } {
  const known = new Map<number, number>();
  const open = new Set<number>();
  let looksAhead = false;
  const longest = (index: number): number => {
    const before = known.get(index);
    if (before !== undefined) return before;
    if (open.has(index)) return Infinity;
    open.add(index);
    const length = lengthFrom(index);
    open.delete(index);
    known.set(index, length);
    return length;
  };
  const lengthFrom = (index: number): number => {
    const { op, out, arg, runes } = program.getInst(index);
    switch (op) {
      case 1: case 2: return Math.max(longest(out), longest(arg));
      case 3: case 7: return longest(out);
      case 4:
        if ((arg & (endOfLine | endOfText | wordBoundary | noWordBoundary)) !== 0) looksAhead = true;
        return longest(out);
      case 5: return -Infinity;
      case 6: return 0;
      case 8: case 9: return ((runes[runes.length - 1] ?? Infinity) > lastOfBasicPlane ? 2 : 1) + longest(out);
      case 10: case 11: return 2 + longest(out);
      // An instruction that this reader does not know: nothing is promised.
      default:
        looksAhead = true;
        return Infinity;
    }
  };
  const lengthMax = longest(program.start);
  return { lengthMax: lengthMax === -Infinity ? 0 : lengthMax, looksAhead };
}
