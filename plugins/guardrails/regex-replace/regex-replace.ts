import type { Check, CheckInput, StreamCheck, TextEdit, TextWindow, Verdict, Weight, WindowResult } from '@gateway/plugin-sdk';
import { PatternSearch } from '../common/text/pattern-stream.js';
import { TextPattern } from '../common/text/pattern.js';

export interface RegexReplaceOptions {
  readonly rule: string;
  readonly redactText: string;
  readonly failOnDetection: boolean;
  readonly lookBack: number;
}

/** Puts a fixed text in place of every match. Matches of nothing at all are left alone. */
export class RegexReplace implements Check {
  readonly weight: Weight;
  readonly #options: RegexReplaceOptions;
  readonly #pattern: TextPattern;

  constructor(options: RegexReplaceOptions) {
    this.#options = options;
    this.#pattern = TextPattern.compile(options.rule, 'rule');
    this.weight = this.#pattern.weight;
  }

  evaluate(input: CheckInput): Verdict {
    const edits: TextEdit[] = [];
    input.pieces().forEach((piece, index) => {
      for (const { from, to } of this.#pattern.spans(piece.text)) edits.push({ piece: index, from, to, text: this.#options.redactText });
    });
    const verdict = this.#verdict(edits.length);
    return edits.length === 0 ? verdict : { ...verdict, edits };
  }

  stream(): StreamCheck {
    const channels = new Map<string, PatternSearch>();
    const { redactText, failOnDetection, lookBack } = this.#options;
    let count = 0;
    return {
      push: ({ channel, before, text, isLast }: TextWindow): WindowResult => {
        let search = channels.get(channel);
        if (search === undefined) channels.set(channel, search = new PatternSearch(this.#pattern, lookBack, false));
        if (isLast) channels.delete(channel);
        const { spans, release } = search.push(before, text, isLast);
        if (spans.length === 0) return { release };
        count += spans.length;
        const edits = spans.map(({ from, to }) => ({ from, to, text: redactText }));
        return failOnDetection ? { release, edits, fails: true } : { release, edits };
      },
      verdict: () => this.#verdict(count),
    };
  }

  #verdict(count: number): Verdict {
    const explanation = count === 0
      ? 'the regular expression matches nowhere in the text'
      : `the regular expression matched and was replaced ${count === 1 ? 'once' : `${count} times`}`;
    const data = { explanation };
    return count > 0 && this.#options.failOnDetection ? { pass: false, why: explanation, data } : { pass: true, data };
  }
}
