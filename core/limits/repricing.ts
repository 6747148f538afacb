// Prices history again: the records of a time, by the prices of now for their time. All are looked at before any is changed, so that what would change can be shown first.

import type { LogFilter, LogReader, LogRecord, RepricedRecord } from '@gateway/plugin-sdk';
import { fail } from '../errors/gateway-error.js';
import { tellsUsage } from './cost.js';
import { readPriceNote } from './price-note.js';
import { isRead, type Pricing, type RecordPricer } from './record-pricer.js';

/** Records that change, of one run: about 150 bytes each. */
export const changesMax = 2_000_000;
/** Written at once. */
const batchMax = 20_000;
/** Differences of money below this are none: prices are binary fractions. */
const sameCents = 1e-9;

/** Sums of what records of one model say. Money in US cents. */
export interface ModelDifference {
  readonly provider: string;
  readonly model: string;
  readonly records: number;
  readonly changed: number;
  readonly costBefore: number;
  readonly costAfter: number;
  readonly savedBefore: number;
  readonly savedAfter: number;
  /** Records with tokens whose model has no price. */
  readonly unpricedBefore: number;
  readonly unpricedAfter: number;
}

export interface RepriceReport {
  /** Dearest first. */
  readonly models: readonly ModelDifference[];
  readonly records: number;
  readonly changed: number;
  readonly isWritten: boolean;
}

type Sums = { -readonly [Name in keyof ModelDifference]: ModelDifference[Name] };

export class Repricing {
  readonly #models = new Map<string, Sums>();
  readonly #changes: RepricedRecord[] = [];
  #records = 0;

  constructor(readonly reader: LogReader, readonly pricer: Pick<RecordPricer, 'price' | 'load'>) {}

  /** Throws SETTINGS_INVALID when too many would change. */
  async look(filter: LogFilter, signal: AbortSignal): Promise<void> {
    for await (const page of this.reader.export({ ...filter, records: 'all' }, signal)) for (const record of page) await this.#add(record);
  }

  async write(): Promise<void> {
    for (let from = 0; from < this.#changes.length; from += batchMax) await this.reader.reprice(this.#changes.slice(from, from + batchMax));
  }

  report(isWritten: boolean): RepriceReport {
    return { models: [...this.#models.values()].toSorted((left, right) => right.costAfter - left.costAfter), records: this.#records, changed: this.#changes.length, isWritten };
  }

  async #price(record: LogRecord): Promise<Pricing | undefined> {
    // It was charged when it was read first, which may have been before.
    if (isRead(record) && record.isPriced && record.cost === 0) return record;
    const bare: LogRecord = { ...record, cost: -1, saved: 0, isPriced: false };
    const pricing = this.pricer.price(bare);
    if (pricing !== undefined) return pricing;
    await this.pricer.load();
    return this.pricer.price(bare);
  }

  async #add(record: LogRecord): Promise<void> {
    const pricing = await this.#price(record);
    this.#records += 1;
    // A cost that nobody can tell now stays as it is, as does one that was estimated under a budget, since the answer had not told it all.
    const after = pricing === undefined || pricing.cost === -1 || isEstimated(record) ? record : pricing;
    const isChanged = record.isPriced !== after.isPriced || isOther(record.cost, after.cost) || isOther(record.saved, after.saved);
    const sums = this.#sumsOf(record);
    sums.records += 1;
    sums.costBefore += Math.max(0, record.cost);
    sums.costAfter += Math.max(0, after.cost);
    sums.savedBefore += record.saved;
    sums.savedAfter += after.saved;
    if (record.totalTokens > 0) {
      if (!record.isPriced) sums.unpricedBefore += 1;
      if (!after.isPriced) sums.unpricedAfter += 1;
    }
    if (!isChanged) return;
    sums.changed += 1;
    if (this.#changes.length >= changesMax) throw fail('SETTINGS_INVALID', { reason: `more than ${changesMax} records would change; take a shorter time with --from and --to` });
    this.#changes.push({ id: record.id, cost: after.cost, saved: after.saved, isPriced: after.isPriced });
  }

  #sumsOf({ provider, model }: LogRecord): Sums {
    const key = `${provider}\n${model}`;
    let sums = this.#models.get(key);
    if (sums === undefined) this.#models.set(key, sums = { provider, model, records: 0, changed: 0, costBefore: 0, costAfter: 0, savedBefore: 0, savedAfter: 0, unpricedBefore: 0, unpricedAfter: 0 });
    return sums;
  }
}

const isOther = (before: number, after: number): boolean => Math.abs(before - after) > sameCents;

function isEstimated(record: LogRecord): boolean {
  if (record.cost <= 0) return false;
  if (!tellsUsage({ ...record, units: readPriceNote(record.decision).units })) return true;
  const { ended, inputTokens, outputTokens, totalTokens } = record;
  return (ended !== 'complete' || Math.max(inputTokens, outputTokens, totalTokens) === 0) && record.decision.includes('"about":"limit"');
}
