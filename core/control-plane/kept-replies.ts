// Replies to creates, kept for a day under the key that the client sent with the call: the same call again gets the same reply and makes nothing. Written in
// the batch of what was made, so that there is never one without the other.

import { createHash } from 'node:crypto';
import { fail } from '../errors/gateway-error.js';
import { Change } from '../storage/change.js';
import { idempotency } from '../storage/tables/idempotency.js';
import type { ControlCall } from './control-call.js';
import type { ControlServices } from './services.js';

const keptMs = 86_400_000;
const keyShape = /^[\x20-\x7e]{1,255}$/;
const sweepEveryMs = 60_000;
const sweptRows = 200;
/** Batches of one sweep. */
const sweptBatches = 20;

export interface KeptReply {
  readonly body: string;
  readonly version: number | null;
}

export interface KeptCall {
  readonly id: string;
  readonly requestHash: string;
}

const hash = (...parts: readonly (string | Uint8Array)[]): string => {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${part.length} `).update(part);
  return sum.digest('hex');
};

export class KeptReplies {
  /** Calls under way: who sends the same again waits for the first. */
  readonly #running = new Map<string, Promise<void>>();
  #sweptAtMs = -Infinity;

  constructor(readonly services: ControlServices) {}

  /** Throws HEADER_INVALID. Undefined: the client sent no key. */
  callOf(call: ControlCall): KeptCall | undefined {
    const { idempotencyKey: key } = call;
    if (key === undefined) return undefined;
    if (!keyShape.test(key)) throw fail('HEADER_INVALID', { name: 'idempotency-key', reason: 'must have 1 to 255 printable ASCII characters', param: 'idempotency-key' });
    return { id: hash(call.caller.keyId, call.method, call.path.replace(/^\/v[12]\//, '/').replace(/\/+$/, ''), key), requestHash: hash(call.query, call.body) };
  }

  /** Runs `work` when no other call with the same key is under way. */
  async alone<T>({ id }: KeptCall, work: () => Promise<T>): Promise<T> {
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id)) await running;
    let done = (): void => {};
    this.#running.set(id, new Promise<void>((resolve) => { done = resolve; }));
    try {
      return await work();
    } finally {
      this.#running.delete(id);
      done();
    }
  }

  /** The reply of the same call before. Throws IDEMPOTENCY_KEY_USED for another call with this key. */
  async find({ id, requestHash }: KeptCall, nowMs: number): Promise<KeptReply | undefined> {
    const stored = await this.services.repository.get(idempotency, id);
    if (stored === undefined || stored.row.expiresAtMs <= nowMs) return undefined;
    if (stored.row.requestHash !== requestHash) throw fail('IDEMPOTENCY_KEY_USED', { param: 'idempotency-key' });
    return { body: this.services.sealer.open(stored.row.reply, placeOf(id)), version: stored.row.version };
  }

  /** Puts the reply into the change that it tells of. */
  async keep({ id, requestHash }: KeptCall, { body, version }: KeptReply, change: Change, nowMs: number): Promise<void> {
    const row = { id, requestHash, reply: this.services.sealer.seal(body, placeOf(id)), version, expiresAtMs: nowMs + keptMs };
    const expired = await this.services.repository.get(idempotency, id);
    if (expired === undefined) change.insert(idempotency, row);
    else change.update(expired, row);
  }

  /** Removes what is too old, now and then. */
  async sweep(nowMs: number): Promise<void> {
    if (nowMs - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = nowMs;
    const { repository } = this.services;
    for (let batch = 0; batch < sweptBatches; batch += 1) {
      const oldest = await repository.list(idempotency, { index: 'expiry', parts: [], limit: sweptRows });
      const change = new Change();
      for (const stored of oldest) if (stored.row.expiresAtMs <= nowMs) change.remove(stored);
      if (change.isEmpty) return;
      await repository.commit(change);
      if (change.rows.length < sweptRows) return;
    }
  }
}

const placeOf = (id: string): string => `${idempotency.name}/${id}/reply`;
