// Facts that a call's price depends on beyond the members of its record: units beside tokens, batches, and a model that was asked for under another name than the answer has.
// It is among the decisions of the record (exchange/decision-log.ts), so that history can be priced again; most calls have none.

import { DecisionLog } from '../exchange/decision-log.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Usage } from '../exchange/usage.js';
import { askedModel } from './rate-book.js';

export interface PriceNote {
  /** Empty: the one in the record, or one that begins it. */
  readonly asked: string;
  readonly units: Usage['units'];
  readonly isBatch: boolean;
}

const nothing: PriceNote = Object.freeze({ asked: '', units: null, isBatch: false });
const mark = '"about":"price"';

/** To be called once, before the record of the call is written. */
export function notePrice(exchange: Exchange, usage: Usage | null): void {
  if (usage === null) return;
  const { model, units, isBatch } = usage;
  const asked = model === '' ? '' : askedModel(exchange);
  // Answers name the version that an alias stood for; the name without its date is looked up as well.
  const isOther = asked !== '' && !model.startsWith(asked);
  if (units === null && !isBatch && !isOther) return;
  (exchange.decisions ??= new DecisionLog()).add({ about: 'price', ...(isOther ? { asked } : {}), ...(units === null ? {} : { units }), ...(isBatch ? { isBatch } : {}) });
}

/** `decision`: of a record. */
export function readPriceNote(decision: string): PriceNote {
  if (!decision.includes(mark)) return nothing;
  let decisions: unknown;
  try {
    decisions = JSON.parse(decision);
  } catch {
    // It was cut where it was too long.
    return nothing;
  }
  if (!Array.isArray(decisions)) return nothing;
  const note: { readonly asked?: unknown; readonly units?: unknown; readonly isBatch?: unknown } = Object(decisions.findLast((each) => Object(each).about === 'price'));
  return { asked: typeof note.asked === 'string' ? note.asked : '', units: unitsOf(note.units), isBatch: note.isBatch === true };
}

function unitsOf(given: unknown): Usage['units'] {
  const units = Object.entries(Object(given)).filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0);
  return units.length === 0 ? null : Object.fromEntries(units);
}
