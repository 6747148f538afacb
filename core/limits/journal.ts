// Hot: runs for each call with a usage limit.
// The reservations and the use of calls under a budget, written down so that no end of the process makes spending forgotten. One for each serving thread, in files that
// only it writes. Entries are gathered and written with one write at the end of the loop's turn, so a kill loses at most the calls of that turn; `strict`
// has them on the disk before a call is dispatched. The keeper (keeper.ts) reads the files on another thread. Never throws, never waits for a disk but in
// `strict`, and holds a bounded number of bytes while the disk takes none.

import { closeSync, constants, fdatasync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { fail, reasonOf } from '../errors/gateway-error.js';
import type { Counted } from '../snapshot/limit-specs.js';
import type { FaultReport } from '../telemetry/fault-report.js';
import { boundedKey, callIdBytesMax, chargeBytes, countedByNumber, counterKeyBytesMax, entryKind, estimatedFlag, frameHeadBytes, journalName } from './journal-layout.js';

/** One counter of a call. The object may go on changing: it is read while the call of `open` or `settle` runs. */
export interface SpendCharge {
  /** Name of the counter, without its period. */
  readonly counter: string;
  readonly counted: Counted;
  /** Number of the period that the counter was in when the amount was reserved: what is used belongs to that one, whenever it is known. */
  readonly period: number;
  /** Integers: micro-cents, tokens, calls. */
  readonly reserved: number;
  readonly used: number;
}

/** Where calls under a budget are written down. */
export interface SpendWriter {
  open(callId: string, charges: readonly SpendCharge[]): Promise<void> | null;
  settle(callId: string, charges: readonly SpendCharge[], isEstimated: boolean): void;
  close(): void;
}

export interface JournalOptions {
  /** Made when it is missing. */
  readonly folder: string;
  /** Name of this start of the process, which no other one has. */
  readonly process: string;
  readonly thread: number;
  readonly isStrict: boolean;
  readonly faults: Pick<FaultReport, 'add'>;
  /** A file is followed by the next one when it has grown to this. */
  readonly fileBytesMax?: number;
  readonly bufferBytesMax?: number;
  readonly strictWaitMs?: number;
  readonly now?: () => number;
}

const startBytes = 64 * 1024;
const fileBytesMax = 16 * 1024 * 1024;
/** Bytes that wait for a disk that takes none; half of it for calls that begin, the rest for those that end. */
const bufferBytesMax = 4 * 1024 * 1024;
/** After a write that failed, twice as long after each further one. */
const restMsMin = 250;
const restMsMax = 4_000;
/** A call whose reservation is not on the disk by then is refused. */
const strictWaitMs = 5_000;
/** Counters that the names of one file stand for; the next file begins anew. */
const countersMax = 50_000;
const headBytesMax = 2 + 8 + 1 + callIdBytesMax + 2;

interface Waiter {
  /** Where its entry is; -1: nowhere yet. */
  file: number;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

export class SpendJournal implements SpendWriter {
  readonly #options: JournalOptions;
  readonly #now: () => number;
  readonly #fileBytesMax: number;
  readonly #bufferBytesMax: number;
  readonly #numbers = new Map<string, number>();
  /** Numbers of the charges that are being written. */
  #found = new Uint32Array(16);
  #buffer = Buffer.allocUnsafe(startBytes);
  #at = frameHeadBytes;
  #file = -1;
  #sequence = 0;
  /** Where the next frame goes. One that was written in part is written again in the same place. */
  #position = 0;
  #isPlanned = false;
  #restMs = 0;
  #restUntilMs = 0;
  #retry: NodeJS.Timeout | undefined = undefined;
  /** Whose entries are in the buffer, written and waiting for a sync, and in the sync that runs. */
  #unwritten: Waiter[] = [];
  #unsynced: Waiter[] = [];
  #isSyncing = false;
  #isClosed = false;
  /** Files that are to be closed when the sync that runs has ended. */
  #closeAfterSync: number[] = [];

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#fileBytesMax = options.fileBytesMax ?? fileBytesMax;
    this.#bufferBytesMax = options.bufferBytesMax ?? bufferBytesMax;
  }

  /**
   * The reservation of a call, before it is dispatched; once more for what it reserves later. Null: go on. With `strict` a promise that resolves when
   * the entry is on the disk, and rejects with LEDGER_UNWRITTEN when that fails or takes too long; what was reserved is settled by the caller then.
   */
  open(callId: string, charges: readonly SpendCharge[]): Promise<void> | null {
    const isHeld = this.#entry(entryKind.open, 0, callId, charges, this.#bufferBytesMax / 2);
    if (!this.#options.isStrict) return null;
    if (!isHeld) return Promise.reject(fail('LEDGER_UNWRITTEN', { reason: 'the disk takes nothing' }));
    return this.#synced();
  }

  /** The use of a call, of each counter that it has reserved anything of. Once for each call. `isEstimated`: nobody told. */
  settle(callId: string, charges: readonly SpendCharge[], isEstimated: boolean): void {
    this.#entry(entryKind.settle, isEstimated ? estimatedFlag : 0, callId, charges, this.#bufferBytesMax);
  }

  /** Of a thread that takes no calls any more, when the last one is settled. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#write();
    // Where a file has just ended the next one says so.
    if (this.#at === frameHeadBytes && this.#sequence > 0) {
      this.#end(true);
      this.#write();
    }
    if (this.#at > frameHeadBytes) this.#options.faults.add('the end', 'the last entries could not be written');
    this.#leaveFile();
    this.#refuse(this.#unwritten, 'the gateway is shutting down');
    this.#unwritten = [];
  }

  #entry(kind: number, flags: number, callId: string, charges: readonly SpendCharge[], bytesMax: number): boolean {
    if (this.#isClosed || callId.length > callIdBytesMax) return this.#drop(this.#isClosed ? 'the journal is closed' : 'the id of a call is too long');
    const bytes = headBytesMax + charges.length * (chargeBytes + 8 + counterKeyBytesMax);
    if (this.#at + bytes > this.#buffer.length && !this.#grow(this.#at + bytes, bytesMax)) return this.#drop('the disk takes nothing, and no more is kept for it');
    if (charges.length > this.#found.length) this.#found = new Uint32Array(charges.length);
    const found = this.#found;
    // Names first, since they are entries of their own.
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as SpendCharge;
      found[index] = this.#numbers.get(charge.counter) ?? this.#define(charge);
    }
    const buffer = this.#buffer;
    let at = this.#at;
    buffer[at] = kind;
    buffer[at + 1] = flags;
    at = buffer.writeDoubleLE(this.#now(), at + 2);
    const idBytes = buffer.write(callId, at + 1, 'latin1');
    buffer[at] = idBytes;
    at = buffer.writeUInt16LE(charges.length, at + 1 + idBytes);
    for (let index = 0; index < charges.length; index += 1) {
      const charge = charges[index] as SpendCharge;
      at = buffer.writeUInt32LE(found[index] as number, at);
      at = buffer.writeUInt32LE(charge.period, at);
      at = buffer.writeDoubleLE(kind === entryKind.open ? charge.reserved : charge.used, at);
    }
    this.#at = at;
    this.#plan();
    return true;
  }

  #define({ counter, counted }: SpendCharge): number {
    const number = this.#numbers.size;
    this.#numbers.set(counter, number);
    const buffer = this.#buffer;
    const at = this.#at;
    buffer[at] = entryKind.define;
    buffer[at + 1] = countedByNumber.indexOf(counted);
    buffer.writeUInt32LE(number, at + 2);
    const bytes = buffer.write(boundedKey(counter), at + 8, counterKeyBytesMax, 'utf8');
    buffer.writeUInt16LE(bytes, at + 6);
    this.#at = at + 8 + bytes;
    return number;
  }

  #end(isLast: boolean): void {
    this.#buffer[this.#at] = entryKind.end;
    this.#buffer[this.#at + 1] = isLast ? 1 : 0;
    this.#at += 2;
  }

  #grow(bytes: number, bytesMax: number): boolean {
    if (bytes > bytesMax) return false;
    let length = this.#buffer.length;
    while (length < bytes) length *= 2;
    const grown = Buffer.allocUnsafe(length);
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
    return true;
  }

  #drop(reason: string): false {
    this.#options.faults.add(`thread ${this.#options.thread}`, reason);
    return false;
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    this.#isPlanned = false;
    if (!this.#isClosed) this.#write();
  };

  /** Everything that is in the buffer, unless the disk is given a rest. */
  #write(): void {
    if (this.#at === frameHeadBytes) return;
    if (this.#restMs > 0 && !this.#isClosed && this.#now() < this.#restUntilMs) {
      // The entries in the buffer are tried again; a call that waits for it is not kept waiting.
      if (this.#unwritten.length > 0) this.#refuseUnwritten('the disk takes nothing');
      return;
    }
    try {
      if (this.#file === -1) this.#openFile();
      this.#writeFrame();
    } catch (thrown) {
      this.#onRefused(reasonOf(thrown));
      return;
    }
    this.#restMs = 0;
    if (this.#buffer.length > startBytes * 4) this.#buffer = Buffer.allocUnsafe(startBytes);
    if (this.#unwritten.length > 0) {
      for (const waiter of this.#unwritten) waiter.file = this.#file;
      this.#unsynced = this.#unsynced.concat(this.#unwritten);
      this.#unwritten = [];
      this.#sync();
    }
    if (this.#position >= this.#fileBytesMax || this.#numbers.size >= countersMax) this.#rotate();
  }

  #writeFrame(): void {
    const buffer = this.#buffer;
    const bytes = this.#at;
    buffer.writeUInt32LE(bytes - frameHeadBytes, 0);
    buffer.writeUInt32LE(crc32(buffer.subarray(frameHeadBytes, bytes)), 4);
    let done = 0;
    while (done < bytes) {
      const written = writeSync(this.#file, buffer, done, bytes - done, this.#position + done);
      if (written === 0) throw new Error('nothing was written');
      done += written;
    }
    this.#position += bytes;
    this.#at = frameHeadBytes;
  }

  #openFile(): void {
    const { folder, process, thread, isStrict } = this.#options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = openSync(join(folder, journalName(process, thread, this.#sequence)), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    this.#sequence += 1;
    this.#position = 0;
    // The file is only there for good when its folder says so.
    if (isStrict) syncFolder(folder);
  }

  /** The buffer is empty. The next file defines all names anew. */
  #rotate(): void {
    this.#end(false);
    try {
      this.#writeFrame();
    } catch (thrown) {
      // The end is written later, with what follows; this file goes on until then.
      this.#at = frameHeadBytes;
      this.#onRefused(reasonOf(thrown));
      return;
    }
    this.#numbers.clear();
    this.#leaveFile();
  }

  #leaveFile(): void {
    if (this.#file === -1) return;
    if (this.#isSyncing || this.#unsynced.length > 0) this.#closeAfterSync.push(this.#file);
    else closeFile(this.#file);
    this.#file = -1;
  }

  #onRefused(reason: string): void {
    this.#options.faults.add(`thread ${this.#options.thread}`, reason);
    this.#restMs = Math.min(restMsMax, Math.max(restMsMin, this.#restMs * 2));
    this.#restUntilMs = this.#now() + this.#restMs;
    this.#refuseUnwritten(reason);
    if (this.#isClosed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#restUntilMs = 0;
      this.#write();
    }, this.#restMs).unref();
  }

  #synced(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      let isOver = false;
      const timer = setTimeout(() => waiter.reject(fail('LEDGER_UNWRITTEN', { reason: 'the disk took too long' })), this.#options.strictWaitMs ?? strictWaitMs);
      const over = (then: () => void): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        then();
      };
      const waiter: Waiter = { file: -1, resolve: () => over(resolve), reject: (thrown) => over(() => reject(thrown)) };
      this.#unwritten.push(waiter);
    });
  }

  /** One at a time: what is written meanwhile is in the next one, all together. */
  #sync(): void {
    const [first] = this.#unsynced;
    if (this.#isSyncing || first === undefined) return;
    const { file } = first;
    const group = this.#unsynced.filter((waiter) => waiter.file === file);
    this.#unsynced = this.#unsynced.filter((waiter) => waiter.file !== file);
    this.#isSyncing = true;
    fdatasync(file, (fault) => {
      this.#isSyncing = false;
      if (fault === null || fault === undefined) for (const each of group) each.resolve();
      else {
        this.#options.faults.add(`thread ${this.#options.thread}`, reasonOf(fault));
        this.#refuse(group, reasonOf(fault));
      }
      this.#sync();
      if (this.#isSyncing) return;
      for (const each of this.#closeAfterSync) closeFile(each);
      this.#closeAfterSync = [];
    });
  }

  #refuseUnwritten(reason: string): void {
    const refused = this.#unwritten;
    this.#unwritten = [];
    this.#refuse(refused, reason);
  }

  #refuse(waiters: readonly Waiter[], reason: string): void {
    for (const each of waiters) each.reject(fail('LEDGER_UNWRITTEN', { reason }));
  }
}

function closeFile(file: number): void {
  try {
    closeSync(file);
  } catch {
    // It is gone either way, and what was written to it has been told.
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, constants.O_RDONLY);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
