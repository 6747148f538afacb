// Prices records of calls that were not priced where they ran. Runs on the log thread, on whose time the table of prices may be loaded, when the first record needs it.

import { isCachedAnswer, type LogRecord } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { callPrice, type CallPrice, type PricedIntegration } from './call-price.js';
import { costOf, tellsUsage, type BilledUse } from './cost.js';
import { readPriceNote } from './price-note.js';
import type { PriceTable } from './prices.js';

/** Of a record: what it says about money. */
export type Pricing = Pick<LogRecord, 'cost' | 'saved' | 'isPriced'>;

export interface RecordPricerOptions {
  readonly loadTable: () => Promise<PriceTable>;
  /** The name of a provider in the table. */
  readonly tableName: (provider: string) => Promise<string>;
  /** The integration behind a stored provider, for its prices; null: there is none. */
  readonly integration: (workspaceId: string, providerSlug: string) => Promise<PricedIntegration | null>;
  /** Differs when rows have changed. */
  readonly revision: () => number;
  readonly onFault: (reason: unknown) => void;
  readonly now: () => number;
}

/** Stored providers whose prices are kept, and names of provider plugins. */
const integrationsMax = 10_000;
/** Rows that another process changes move no revision here. */
const integrationMs = 5_000;
/** Rows that could not be read are tried again after so long; records until then are not priced. */
const faultMs = 1_000;
/** Batches and stored responses whose cost was told once. */
const toldMax = 100_000;

interface Kept {
  readonly integration: PricedIntegration | null;
  readonly revision: number;
  readonly untilMs: number;
}

/** Rates change from one minute to the next at the most. */
const minuteMs = 60_000;

interface LastPrice {
  readonly provider: string;
  readonly model: string;
  readonly asked: string;
  readonly integration: PricedIntegration | null;
  readonly minute: number;
  readonly price: CallPrice | undefined;
}

const free: Pricing = Object.freeze({ cost: 0, saved: 0, isPriced: true });
const unpriced: Pricing = Object.freeze({ cost: 0, saved: 0, isPriced: false });
const unknown: Pricing = Object.freeze({ cost: -1, saved: 0, isPriced: false });

export class RecordPricer {
  readonly #options: RecordPricerOptions;
  #table: PriceTable | null = null;
  readonly #tableNames = new LRUCache<string, string>({ max: integrationsMax });
  readonly #integrations = new LRUCache<string, Kept>({ max: integrationsMax });
  readonly #told = new LRUCache<string, true>({ max: toldMax });
  /** The record that waits for `load`. */
  #wanted: LogRecord | null = null;
  #faultUntilMs = 0;
  #last: LastPrice | null = null;

  constructor(options: RecordPricerOptions) {
    this.#options = options;
  }

  /** Undefined: `load` is to be waited for, and then this is to be asked again. */
  price(record: LogRecord): Pricing | undefined {
    const { cost, saved, isPriced, provider, model, status } = record;
    if (cost !== -1) return { cost, saved, isPriced };
    const note = readPriceNote(record.decision);
    const use = usedBy(record, note.units);
    const isUsed = tellsUsage(use);
    const isNamed = model !== '' || note.asked !== '';
    if (provider === '' || (!isUsed && (!isNamed || status >= 400))) return free;
    if (isList(record)) return free;
    if (!isNamed) return unpriced;
    const table = this.#table;
    const tableName = this.#tableNames.get(provider);
    const integration = this.#integrationOf(record);
    if (table === null || tableName === undefined || integration === undefined) {
      if (this.#options.now() < this.#faultUntilMs) return unknown;
      this.#wanted = record;
      return undefined;
    }
    const price = this.#priceOf(record, note.asked, integration, table, tableName);
    if (price === undefined || price.rates === null) return unpriced;
    const isBatch = note.isBatch || record.endpoint === 'batches' || (isRead(record) && storedPath(record).includes('/batches/'));
    const cents = costOf(price.rates, use, { isBatch, adjustments: price.adjustments });
    if (isCachedAnswer(record.cacheStatus)) return { cost: 0, saved: cents, isPriced: true };
    if (cents > 0 && isRead(record) && !this.#isFirstOf(record)) return free;
    return { cost: cents, saved: 0, isPriced: true };
  }

  /** Most records have the model of the one before. */
  #priceOf({ provider, model, startedAtMs }: LogRecord, asked: string, integration: PricedIntegration | null, table: PriceTable, tableName: string): CallPrice | undefined {
    const last = this.#last;
    const minute = Math.floor(startedAtMs / minuteMs);
    if (last !== null && last.provider === provider && last.model === model && last.asked === asked && last.integration === integration && last.minute === minute) return last.price;
    const price = callPrice(model, asked, integration, (name) => table.find(tableName, name, startedAtMs)?.rates ?? null);
    this.#last = { provider, model, asked, integration, minute, price };
    return price;
  }

  /** Reads what the last record lacked. Never rejects; what cannot be read leaves records unpriced for a while. */
  async load(): Promise<void> {
    const record = this.#wanted;
    this.#wanted = null;
    if (record === null) return;
    const { loadTable, tableName, integration, revision, now, onFault } = this.#options;
    try {
      this.#table ??= await loadTable();
      if (this.#tableNames.get(record.provider) === undefined) this.#tableNames.set(record.provider, await tableName(record.provider));
      if (record.providerSlug !== '' && this.#integrationOf(record) === undefined) {
        // Before the row is read: a change meanwhile is noticed.
        const seen = revision();
        this.#integrations.set(keyOf(record), { integration: await integration(record.workspaceId, record.providerSlug), revision: seen, untilMs: now() + integrationMs });
      }
    } catch (thrown) {
      this.#faultUntilMs = now() + faultMs;
      onFault(thrown);
    }
  }

  /** Undefined: not known. */
  #integrationOf(record: LogRecord): PricedIntegration | null | undefined {
    if (record.providerSlug === '') return null;
    const kept = this.#integrations.get(keyOf(record));
    return kept === undefined || kept.revision !== this.#options.revision() || this.#options.now() >= kept.untilMs ? undefined : kept.integration;
  }

  /** What is stored tells its usage whenever it is looked at; it is paid for once. */
  #isFirstOf(record: LogRecord): boolean {
    const key = `${record.workspaceId}\n${record.provider}\n${storedPath(record)}`;
    if (this.#told.has(key)) return false;
    this.#told.set(key, true);
    return true;
  }
}

/** Of the object alone, whatever is asked of it and on which way. */
const storedPath = ({ path }: LogRecord): string => path.replace(/\?.*$/s, '').replace(/^\/v1\/proxy(?=\/)/, '').replace(/(?<!^)\/$/, '').replace(/\/cancel$/, '');

/** They ask for nothing that is made for them. */
const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);
const isReadByProxy = ({ endpoint, method }: LogRecord): boolean => endpoint === 'proxy' && readingMethods.has(method);

/** Batches, and responses and the like that are there already. */
export const isRead = (record: LogRecord): boolean => record.endpoint === 'batches' || isReadByProxy(record) || (record.endpoint === 'responses' && !storedPath(record).endsWith('/responses'));

/** What several objects have used, of which each tells it by itself. */
const isList = (record: LogRecord): boolean => readingMethods.has(record.method) && (record.endpoint === 'batches' || isReadByProxy(record)) && /\/(?:batches|responses|completions|runs|steps|messages)$/.test(storedPath(record));

const keyOf = ({ workspaceId, providerSlug }: LogRecord): string => `${workspaceId}\n${providerSlug}`;

function usedBy(record: LogRecord, units: BilledUse['units']): BilledUse {
  const { inputTokens, outputTokens, totalTokens, cachedTokens, cacheWriteTokens, inputAudioTokens, inputImageTokens, reasoningTokens, outputAudioTokens, outputImageTokens } = record;
  return { inputTokens, outputTokens, totalTokens, cachedTokens, cacheWriteTokens, inputAudioTokens, inputImageTokens, reasoningTokens, outputAudioTokens, outputImageTokens, units };
}
