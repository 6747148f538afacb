// Responses kept for providers that have no Responses API, so that a client may read them and go on from them. Written beside the call;
// what is not yet on disk is read from memory. Rows older than the age limit are swept away, and are not found before they are.

import type { Maybe, Store } from '@gateway/plugin-sdk';
import { Packr } from 'msgpackr';
import { fail } from '../errors/gateway-error.js';
import { newResponseId, type StoredResponse } from '../dialect/responses/stored.js';

/** Answers that one conversation may go back, and their stored bytes. */
const chainMax = 1_000;
const chainBytesMax = 64 * 1024 * 1024;
/** Rows that may wait for the disk, and their packed bytes; beyond them a response is told as lost instead of held. */
export const pendingMax = 10_000;
const pendingBytesMax = 64 * 1024 * 1024;
const sweepRows = 1_000;

export class ResponseStore {
  /** Rows that are being written. */
  readonly #pending = new Map<string, StoredResponse>();
  #pendingBytes = 0;
  // Rows stand for themselves: no shared record structures.
  readonly #packr = new Packr({ useRecords: false });

  constructor(readonly store: Store, readonly ageMs: number, readonly onFault: (thrown: unknown) => void) {}

  get keeps(): boolean {
    return this.ageMs > 0;
  }

  /** Never throws: a row that cannot be kept is told to `onFault`, and costs no other its place. */
  put(id: string, row: StoredResponse): void {
    if (this.#pending.size >= pendingMax || this.#pendingBytes >= pendingBytesMax) {
      this.onFault(new Error(`too many responses wait to be written (${pendingMax}, or ${pendingBytesMax} bytes)`));
      return;
    }
    let value: Uint8Array;
    try {
      value = this.#packr.pack(row);
    } catch (thrown) {
      // Nested deeper than the packer's stack reaches, say.
      this.onFault(thrown);
      return;
    }
    this.#pending.set(id, row);
    this.#pendingBytes += value.length;
    this.#write(id, value)
      .catch(this.onFault)
      .finally(() => {
        this.#pendingBytes -= value.length;
        if (this.#pending.get(id) === row) this.#pending.delete(id);
      });
  }

  /** Async, so that a store that throws rejects. */
  async #write(id: string, value: Uint8Array): Promise<void> {
    await this.store.write([{ op: 'put', key: id, value }]);
  }

  /** Undefined: there is none, it is too old, or it belongs to another workspace. */
  async get(id: string, workspaceId: string): Promise<StoredResponse | undefined> {
    return this.#visible(this.#pending.get(id) ?? this.#unpacked(await this.#row(id)), workspaceId);
  }

  /** The response `id` and all that it went on from, oldest first; undefined when one of them is gone. Rejects when they are too much to hold. */
  async chain(id: string, workspaceId: string): Promise<StoredResponse[] | undefined> {
    const rows: StoredResponse[] = [];
    let bytes = 0;
    for (let next: string | null = id; next !== null;) {
      const packed = this.#pending.has(next) ? undefined : await this.#row(next);
      bytes += packed?.length ?? 0;
      if (bytes > chainBytesMax) throw fail('BODY_TOO_LARGE', { maximum: chainBytesMax, param: 'previous_response_id' });
      const row = this.#visible(this.#pending.get(next) ?? this.#unpacked(packed), workspaceId);
      if (row === undefined || rows.length >= chainMax) return undefined;
      rows.push(row);
      next = row.previous;
    }
    return rows.reverse();
  }

  async remove(id: string, workspaceId: string): Promise<boolean> {
    if (await this.get(id, workspaceId) === undefined) return false;
    await this.store.write([{ op: 'remove', key: id }]);
    this.#pending.delete(id);
    return true;
  }

  /** Removes what is too old; keys begin with the time. */
  async sweep(nowMs: number): Promise<void> {
    const to = newResponseId(Math.max(0, nowMs - this.ageMs), '');
    for (;;) {
      const keys: string[] = [];
      for await (const row of this.store.range({ from: newResponseId(0, ''), to, limit: sweepRows })) keys.push(row.key);
      if (keys.length > 0) await this.store.write(keys.map((key) => ({ op: 'remove', key })));
      if (keys.length < sweepRows) return;
    }
  }

  #visible(row: StoredResponse | undefined, workspaceId: string): StoredResponse | undefined {
    return row === undefined || row.workspaceId !== workspaceId || row.expiresAtMs <= Date.now() ? undefined : row;
  }

  async #row(id: string): Promise<Uint8Array | undefined> {
    const row: Maybe<{ value: Uint8Array } | undefined> = this.store.get(id);
    return (await row)?.value;
  }

  #unpacked(bytes: Uint8Array | undefined): StoredResponse | undefined {
    // Written by put() alone.
    return bytes === undefined ? undefined : this.#packr.unpack(bytes) as StoredResponse;
  }
}
