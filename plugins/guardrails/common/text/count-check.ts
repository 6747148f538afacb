import { ParameterError, type Check, type CheckInput, type Json, type StreamCheck, type TextWindow, type Verdict } from '@gateway/plugin-sdk';
import { measuredGroups, type Scope } from './groups.js';

/** Counts something in one text that arrives in parts. */
export interface Counter {
  push(part: string): void;
  /** What there is if the text ends here. Never less than it was before. */
  total(): number;
}

export interface CountBounds {
  readonly least: number;
  readonly most: number;
  readonly not: boolean;
  readonly scope: Scope;
}

export interface CountCheckOptions extends CountBounds {
  /** `words` */
  readonly unit: string;
  readonly makeCounter: () => Counter;
  /** Names in `data`. */
  readonly names: { readonly least: string; readonly most: string; readonly count: string };
  /** Name of the parameter for the lower bound. */
  readonly leastParam: string;
}

interface GroupCount {
  readonly group: number;
  readonly count: number;
}

/** A check that a number counted in a text lies between two bounds. */
export function countCheck(options: CountCheckOptions): Check {
  const { least, most } = options;
  if (least > most) throw new ParameterError(options.leastParam, 'is greater than the most that is allowed; lower it');
  return {
    evaluate: (input: CheckInput) => verdictOf(options, measuredGroups(input, options.scope).map(({ group, texts }) => ({ group, count: countIn(texts, options) }))),
    stream: () => new CountStream(options),
  };
}

function countIn(texts: readonly string[], { makeCounter }: CountCheckOptions): number {
  let sum = 0;
  for (const text of texts) {
    const counter = makeCounter();
    counter.push(text);
    sum += counter.total();
  }
  return sum;
}

class CountStream implements StreamCheck {
  readonly #options: CountCheckOptions;
  readonly #channels = new Map<string, { readonly group: number; readonly counter: Counter }>();
  /** Totals of the groups, kept up to date so that a window costs its own channel only. */
  readonly #totals = new Map<number, number>();

  constructor(options: CountCheckOptions) {
    this.#options = options;
  }

  push(window: TextWindow): { readonly release: number; readonly fails?: true } {
    const release = window.text.length;
    if (window.kind !== 'text') return { release };
    let channel = this.#channels.get(window.channel);
    if (channel === undefined) this.#channels.set(window.channel, channel = { group: window.group, counter: this.#options.makeCounter() });
    const before = channel.counter.total();
    channel.counter.push(window.text);
    const total = (this.#totals.get(window.group) ?? 0) + channel.counter.total() - before;
    this.#totals.set(window.group, total);
    // A total never falls, so more than the most is final; all else is known at the end only.
    return !this.#options.not && total > this.#options.most ? { release, fails: true } : { release };
  }

  verdict(): Verdict {
    const counts = [...this.#totals].map(([group, count]) => ({ group, count })).sort((left, right) => left.group - right.group);
    return verdictOf(this.#options, counts.length === 0 ? [{ group: 0, count: 0 }] : counts);
  }
}

const none: Readonly<Record<string, Json>> = {};
const choicesOf = (shown: GroupCount, counts: readonly GroupCount[], name: string): Readonly<Record<string, Json>> =>
  ({ choice: shown.group, counts: counts.map(({ group, count }) => ({ choice: group, [name]: count })) });

function verdictOf({ least, most, not, unit, names }: CountCheckOptions, counts: readonly GroupCount[]): Verdict {
  const isWrong = ({ count }: GroupCount): boolean => (count >= least && count <= most) === not;
  const wrong = counts.find(isWrong);
  const shown = wrong ?? counts[0] ?? { group: 0, count: 0 };
  const where = counts.length > 1 && wrong !== undefined ? ` in choice ${shown.group}` : '';
  const within = shown.count >= least && shown.count <= most;
  const explanation = `${shown.count} ${unit}${where} ${within ? 'lie' : 'do not lie'} between ${least} and ${most}${within && not ? ', which is not allowed' : ''}`;
  const data: Json = {
    [names.count]: shown.count,
    [names.least]: least,
    [names.most]: most,
    not,
    ...(counts.length > 1 ? choicesOf(shown, counts, names.count) : none),
    explanation,
  };
  return wrong === undefined ? { pass: true, data } : { pass: false, why: explanation, data };
}
