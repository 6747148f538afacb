import { placeOf, type Check, type CheckInput, type Exchange, type Json, type StreamCheck, type TextWindow, type Verdict, type Weight, type WindowResult } from '@gateway/plugin-sdk';
import { constant } from '../common/request/verdict.js';
import { PatternSearch } from '../common/text/pattern-stream.js';
import { TextPattern } from '../common/text/pattern.js';

interface Found {
  /** Characters of the match. */
  readonly length: number;
  readonly index: number;
  readonly place: string;
}

/** Whether a pattern matches anywhere. */
export class RegexMatch implements Check {
  readonly weight: Weight;
  readonly #rule: string;
  readonly #not: boolean;
  readonly #pattern: TextPattern;
  readonly stream?: (exchange: Exchange) => StreamCheck;
  /** The same for every text. */
  readonly #nowhere: Verdict;

  constructor(rule: string, not: boolean, lookBack: number) {
    this.#rule = rule;
    this.#not = not;
    this.#pattern = TextPattern.compile(rule, 'rule');
    this.weight = this.#pattern.weight;
    this.#nowhere = constant(this.#verdictOn(undefined));
    if (not) this.stream = () => new RegexMatchStream(this.#pattern, lookBack, (found) => this.#verdict(found));
  }

  evaluate(input: CheckInput): Verdict {
    for (const piece of input.pieces()) {
      if (!this.#pattern.test(piece.text)) continue;
      const match = this.#pattern.first(piece.text);
      if (match !== undefined) return this.#verdict({ length: match.to - match.from, index: match.from, place: placeOf(piece) });
    }
    return this.#verdict(undefined);
  }

  #verdict(found: Found | undefined): Verdict {
    return found === undefined ? this.#nowhere : this.#verdictOn(found);
  }

  #verdictOn(found: Found | undefined): Verdict {
    const pass = (found !== undefined) !== this.#not;
    const explanation = found === undefined ? 'the regular expression matches nowhere in the text' : `the regular expression matches in ${found.place}`;
    const data: Json = {
      regexPattern: this.#rule,
      not: this.#not,
      verdict: pass,
      // What matched may be withheld, or be what nobody should read.
      matchDetails: found === undefined ? null : { index: found.index, length: found.length },
      ...(found === undefined ? {} : { place: found.place }),
      explanation,
    };
    return pass ? { pass, data } : { pass, why: explanation, data };
  }
}

class RegexMatchStream implements StreamCheck {
  readonly #pattern: TextPattern;
  readonly #lookBack: number;
  readonly #verdict: (found: Found | undefined) => Verdict;
  readonly #channels = new Map<string, { readonly search: PatternSearch; at: number }>();
  #found: Found | undefined;

  constructor(pattern: TextPattern, lookBack: number, verdict: (found: Found | undefined) => Verdict) {
    this.#pattern = pattern;
    this.#lookBack = lookBack;
    this.#verdict = verdict;
  }

  push(window: TextWindow): WindowResult {
    // The verdict is settled; a hook that does not deny lets the rest go.
    if (this.#found !== undefined) return { release: window.text.length };
    const { before, text, isLast } = window;
    let channel = this.#channels.get(window.channel);
    if (channel === undefined) this.#channels.set(window.channel, channel = { search: new PatternSearch(this.#pattern, this.#lookBack, true), at: 0 });
    const { spans, release } = channel.search.push(before, text, isLast);
    const [span] = spans;
    if (span !== undefined) {
      // Once more, for its groups.
      const match = this.#pattern.first(before + text, before.length + span.from);
      if (match !== undefined) {
        this.#found = { length: match.to - match.from, index: channel.at + span.from, place: placeOfWindow(window) };
        return { release: text.length, fails: true };
      }
    }
    channel.at += release;
    if (isLast) this.#channels.delete(window.channel);
    return { release };
  }

  verdict(): Verdict {
    return this.#verdict(this.#found);
  }
}

const kindNames = { text: 'the text', thinking: 'the thinking', arguments: 'the tool arguments', field: 'a field' } as const;
const placeOfWindow = ({ kind, group }: TextWindow): string => `${kindNames[kind]} of choice ${group}`;
