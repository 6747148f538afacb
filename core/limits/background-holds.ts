// What calls count whose response is made in the background: they end before anybody knows what it uses, and count with what was reserved for it. By the id of
// the response that is kept here until a call reads it, or cancels it, and is told what it used: then that takes the place of the reservation, once, whichever
// thread or start of the process it comes to.

import type { Store } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import type { Exchange } from '../exchange/exchange.js';
import { noUsage, type Usage } from '../exchange/usage.js';
import { microCentsOf, type RateUnit } from '../snapshot/limit-specs.js';
import { noRoom, type Counters } from './counters.js';
import type { SpendCharge, SpendWriter } from './journal.js';
import type { BackgroundCharge, BackgroundUse, Prices } from './hold.js';
import { lengthOf } from './windows.js';

/** Name of the store. */
export const backgroundStore = 'background-holds';
/** Nobody asks for what a response used when it is older. */
const keptMs = 7 * 86_400_000;
/** Rows that wait for the disk; beyond them a response counts with what was reserved for it. */
const pendingMax = 1_000;
const sweepRows = 1_000;
const bytesPerToken = 4;
const lookupsMax = 8;

interface BackgroundRow extends BackgroundUse {
  readonly expiresAtMs: number;
}

export interface BackgroundServices {
  readonly store: Store;
  readonly counters: Counters;
  readonly journal: SpendWriter | null;
  readonly prices: Prices;
  readonly onFault: (thrown: unknown) => void;
}

export class BackgroundHolds {
  readonly #packr = new Packr({ useRecords: false });
  #pending = 0;

  constructor(readonly services: BackgroundServices) {}

  /** Never throws. */
  keep(exchange: Exchange, id: string, use: BackgroundUse): void {
    if (this.#pending >= pendingMax) {
      this.services.onFault(new Error(`${pendingMax} responses wait to be written`));
      return;
    }
    this.#pending += 1;
    const value = this.#packr.pack({ ...use, expiresAtMs: this.services.counters.now() + keptMs } satisfies BackgroundRow);
    this.#write(keyOf(exchange, id), value).catch(this.services.onFault).finally(() => { this.#pending -= 1; });
  }

  async #write(key: string, value: Uint8Array): Promise<void> {
    await this.services.store.write([{ op: 'put', key, value }]);
  }

  /** Of a call about a stored response, when it has ended. Never throws; nobody waits for it. */
  note(exchange: Exchange, usage: Usage | null): void {
    this.settle(exchange, usage).catch(this.services.onFault);
  }

  /** Resolves when what the call says is counted. */
  async settle(exchange: Exchange, usage: Usage | null): Promise<void> {
    const [, id = '', action = '', ...rest] = exchange.suffix.split('/');
    const isCancel = exchange.head.method === 'POST' && action === 'cancel';
    const isTold = usage !== null && usage.totalTokens >= 1;
    if (id === '' || rest.length > 0 || exchange.status !== 200 || exchange.attempts === 0 || exchange.ending !== 'complete') return;
    if (!isCancel && !(isTold && exchange.head.method === 'GET' && action === '')) return;
    await this.#settle(exchange, keyOf(exchange, id), isTold ? usage : null);
  }

  async #settle(exchange: Exchange, key: string, told: Usage | null): Promise<void> {
    const { store, prices } = this.services;
    const stored = await store.get(key);
    if (stored === undefined) return;
    const row = this.#packr.unpack(stored.value) as BackgroundRow;
    const usage = told ?? usageOfCancelled(exchange, row);
    const hasCost = row.charges.some(({ counted }) => counted === 'cost');
    if (hasCost) await prices.load(exchange, usage.model);
    const microCents = hasCost ? microCentsOf(prices.cost(exchange, usage).cents) : 0;
    // Only who removes it counts.
    if (await store.write([{ op: 'remove', key, ifVersion: stored.version }])) this.#count(exchange, row, usage.totalTokens - row.tokens, microCents - row.microCents);
  }

  #count(exchange: Exchange, { charges }: BackgroundRow, tokens: number, microCents: number): void {
    const { counters, journal } = this.services;
    const spent: SpendCharge[] = [];
    for (const charge of charges) {
      const { counter, counted, unit, tag } = charge;
      const change = counted === 'tokens' ? tokens : microCents;
      if (change === 0) continue;
      if (unit !== null) this.#changeRate(exchange, charge, unit, change);
      else {
        const slot = counters.find(counter);
        if (slot >= 0) counters.settleUsage(slot, tag, change);
        spent.push({ counter, counted, period: tag, reserved: 0, used: change });
      }
    }
    if (spent.length > 0 && journal !== null) journal.settle(exchange.id, spent, true);
  }

  /** Less goes back to the window of the reservation, more counts in that of now. */
  #changeRate(exchange: Exchange, { counter, tag, isInvented }: BackgroundCharge, unit: RateUnit, change: number): void {
    const { counters } = this.services;
    const { workspaceId, organisationId } = exchange.principal;
    for (let lookup = 0; lookup < lookupsMax; lookup += 1) {
      const slot = change < 0 ? counters.find(counter) : counters.slot(counter, unit, workspaceId || organisationId, isInvented);
      if (slot < 0 || slot === noRoom || counters.settleRate(slot, lengthOf[unit], tag, change, counters.now())) return;
    }
  }

  /** Removes what is too old. */
  async sweep(): Promise<void> {
    const { store, counters } = this.services;
    const nowMs = counters.now();
    for (let from = ''; ;) {
      const keys: string[] = [];
      let last = '';
      let count = 0;
      for await (const { key, value } of store.range({ from, to: '\u{10ffff}', limit: sweepRows })) {
        count += 1;
        last = key;
        if ((this.#packr.unpack(value) as BackgroundRow).expiresAtMs <= nowMs) keys.push(key);
      }
      if (keys.length > 0) await store.write(keys.map((key) => ({ op: 'remove', key })));
      if (count < sweepRows) return;
      from = `${last}\u0000`;
    }
  }
}

/** Who cancels may be told nothing of what was used until then: then it is the input, and the text that came with the answer, as far as that was reserved. */
function usageOfCancelled({ responder }: Exchange, { tokens, inputTokens }: BackgroundRow): Usage {
  const output = Math.max(0, Math.min(tokens - inputTokens, Math.ceil(responder.bytesSent / bytesPerToken)));
  return { ...noUsage, inputTokens, outputTokens: output, totalTokens: inputTokens + output };
}

const keyOf = ({ principal: { workspaceId, organisationId } }: Exchange, id: string): string => `${workspaceId || organisationId}/${id}`;
