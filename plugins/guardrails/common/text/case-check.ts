import type { Check, StreamCheck, TextWindow, Verdict } from '@gateway/plugin-sdk';
import { measuredGroups, type Scope } from './groups.js';

export interface CaseCheckOptions {
  /** Letters of the other case: one of them is enough. */
  readonly wrongCase: RegExp;
  /** `upper case` */
  readonly name: string;
  readonly not: boolean;
  readonly scope: Scope;
}

/** Letters of every script; title case letters (U+01C5 and the like) are neither. */
export const notUpperCase = /[\p{Ll}\p{Lt}]/u;
export const notLowerCase = /[\p{Lu}\p{Lt}]/u;

/** A check that all letters have one case. Letters of scripts without case fit both. */
export function caseCheck(options: CaseCheckOptions): Check {
  const { wrongCase, not, scope } = options;
  return {
    evaluate: (input) => verdictOf(options, measuredGroups(input, scope).map(({ group, texts }) => ({ group, isWrong: texts.some((text) => wrongCase.test(text)) === !not }))),
    stream: () => new CaseStream(options),
  };
}

class CaseStream implements StreamCheck {
  readonly #options: CaseCheckOptions;
  /** Groups seen, and whether a letter of the other case was. */
  readonly #groups = new Map<number, boolean>();
  /** First halves of pairs at the end of a window. */
  readonly #halves = new Map<string, string>();

  constructor(options: CaseCheckOptions) {
    this.#options = options;
  }

  push(window: TextWindow): { readonly release: number; readonly fails?: true } {
    const release = window.text.length;
    if (window.kind !== 'text') return { release };
    const hasWrong = this.#groups.get(window.group) ?? false;
    if (!hasWrong) {
      const text = (this.#halves.get(window.channel) ?? '') + window.text;
      const last = text.charCodeAt(text.length - 1);
      this.#halves.set(window.channel, last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : '');
      this.#groups.set(window.group, this.#options.wrongCase.test(text));
    }
    return this.#groups.get(window.group) === true && !this.#options.not ? { release, fails: true } : { release };
  }

  verdict(): Verdict {
    const groups = this.#groups.size === 0 ? new Map([[0, false]]) : this.#groups;
    return verdictOf(this.#options, [...groups].sort(([left], [right]) => left - right).map(([group, hasWrong]) => ({ group, isWrong: hasWrong === !this.#options.not })));
  }
}

function verdictOf({ name, not }: CaseCheckOptions, groups: readonly { readonly group: number; readonly isWrong: boolean }[]): Verdict {
  const wrong = groups.find(({ isWrong }) => isWrong);
  const where = wrong !== undefined && groups.length > 1 ? ` of choice ${wrong.group}` : '';
  const explanation = (wrong === undefined) !== not ? `all letters${where} are ${name}` : `not all letters${where} are ${name}`;
  const data = { ...(groups.length > 1 && wrong !== undefined ? { choice: wrong.group } : {}), explanation };
  return wrong === undefined ? { pass: true, data } : { pass: false, why: explanation, data };
}
