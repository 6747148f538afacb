import type { Exchange } from '../src/exchange.js';
import { editText } from '../src/content/pieces.js';
import type { Check, TextWindow, Verdict } from '../src/kinds/guardrail.js';
import { fakeExchange } from './fake-exchange.js';

export interface StreamCheckRun {
  /** The text that the client would have got. */
  readonly text: string;
  /** The longest text that was held back between two windows. */
  readonly heldMax: number;
  /** The check said `fails`; nothing came after it. */
  readonly isEnded: boolean;
  readonly verdict: Verdict;
}

/** Drives `check.stream` over the pieces of one text, as the host does it: keeps what is not released, gives `before`, ends on `fails`. */
export function runStreamCheck(check: Check, texts: readonly string[], options: { readonly exchange?: Exchange; readonly lookBackMax: number; readonly kind?: TextWindow['kind'] }): StreamCheckRun {
  const { lookBackMax, kind = 'text' } = options;
  if (check.stream === undefined) throw new Error('the check has no stream');
  const stream = check.stream(options.exchange ?? fakeExchange());
  let before = '';
  let held = '';
  let out = '';
  let heldMax = 0;
  for (let index = 0; index <= texts.length; index += 1) {
    const isLast = index === texts.length;
    held += texts[index] ?? '';
    const result = stream.push({ channel: '0', kind, group: 0, before, text: held, isLast });
    const least = isLast ? held.length : Math.max(0, held.length - lookBackMax);
    if (result.release < 0 || result.release > held.length) throw new Error(`released ${result.release} of ${held.length} characters`);
    if (result.fails !== true) {
      if (isLast && result.release !== held.length) throw new Error('the last window was not released as a whole');
      if (result.release < least) throw new Error(`holds ${held.length - result.release} characters, more than its ${lookBackMax}`);
    }
    if (result.fails === true) return { text: out, heldMax, isEnded: true, verdict: stream.verdict() };
    out += editText(held.slice(0, result.release), result.edits ?? []);
    before = lookBackMax === 0 ? '' : (before + held.slice(0, result.release)).slice(-lookBackMax);
    held = held.slice(result.release);
    heldMax = Math.max(heldMax, held.length);
  }
  return { text: out, heldMax, isEnded: false, verdict: stream.verdict() };
}
