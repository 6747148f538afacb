// Stands for the library's response object: keeps what a client would see, and objects to everything the real one would punish (writes
// outside cork(), any touch after the end).

import assert from 'node:assert/strict';
import type { UwsResponse, UwsText } from '../../../core/server/uws.js';

const bytesOf = (text: UwsText): Buffer => (typeof text === 'string' ? Buffer.from(text) : Buffer.from(text instanceof ArrayBuffer ? new Uint8Array(text) : text));

export class FakeUwsResponse implements UwsResponse {
  status = '';
  readonly headers: string[] = [];
  /** Body bytes the client has, or that wait in the library's buffer. */
  body = Buffer.alloc(0);
  /** One line for each call that reached the library: `write 5`, `tryEnd 3/10`, `end 2`. */
  readonly calls: string[] = [];
  corks = 0;
  pauses = 0;
  resumes = 0;
  isEnded = false;
  isClosed = false;
  /** The connection was told to close after the answer. */
  isLast = false;
  /** Bytes the socket takes before it is full. */
  room = Number.POSITIVE_INFINITY;

  #isCorked = false;
  #onWritable: ((offset: number) => boolean) | null = null;
  #onAborted: (() => void) | null = null;
  #onData: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null;

  // ---- the test's side ----

  get isWaiting(): boolean {
    return this.#onWritable !== null;
  }

  /** The socket has room again; true when the writer had nothing left to say. */
  drain(room = Number.POSITIVE_INFINITY): boolean {
    this.room = room;
    const handler = this.#onWritable;
    assert.ok(handler !== null, 'nobody waits for room');
    this.#onWritable = null;
    return handler(this.body.length);
  }

  abortFromClient(): void {
    this.isClosed = true;
    this.#onAborted?.();
  }

  /** The chunk is wiped afterwards, as the library takes its memory back. */
  data(text: string, isLast: boolean): void {
    const bytes = new Uint8Array(Buffer.from(text));
    assert.ok(this.#onData !== null, 'nobody listens for the body');
    this.#onData(bytes.buffer, isLast);
    bytes.fill(0x58);
  }

  get hasDataHandler(): boolean {
    return this.#onData !== null;
  }

  // ---- the library's side ----

  cork(work: () => void): UwsResponse {
    this.#assertAlive('cork');
    this.corks += 1;
    this.#isCorked = true;
    work();
    this.#isCorked = false;
    return this;
  }

  writeStatus(status: UwsText): UwsResponse {
    this.#assertCorked('writeStatus');
    assert.equal(this.status, '', 'a second head');
    this.status = String(status);
    return this;
  }

  writeHeader(name: UwsText, value: UwsText): UwsResponse {
    this.#assertCorked('writeHeader');
    assert.notEqual(this.status, '', 'a header before the status');
    assert.equal(this.body.length, 0, 'a header after the body began');
    this.headers.push(String(name), String(value));
    return this;
  }

  write(chunk: UwsText): boolean {
    this.#assertCorked('write');
    const bytes = bytesOf(chunk);
    this.calls.push(`write ${bytes.length}`);
    this.body = Buffer.concat([this.body, bytes]);
    // What does not fit is kept by the library.
    this.room -= bytes.length;
    return this.room > 0;
  }

  tryEnd(chunk: UwsText, totalBytes: number): [ok: boolean, done: boolean] {
    // The library lets tryEnd() run uncorked inside onWritable.
    this.#assertAlive('tryEnd');
    const bytes = bytesOf(chunk);
    const taken = bytes.subarray(0, Math.max(0, Math.min(this.room, bytes.length)));
    this.calls.push(`tryEnd ${taken.length}/${bytes.length}`);
    this.body = Buffer.concat([this.body, taken]);
    this.room -= taken.length;
    assert.ok(this.body.length <= totalBytes, 'more bytes than announced');
    if (this.body.length === totalBytes) this.isEnded = true;
    return [taken.length === bytes.length, this.isEnded];
  }

  end(body?: UwsText, closeConnection?: boolean): UwsResponse {
    this.#assertCorked('end');
    const bytes = body === undefined ? Buffer.alloc(0) : bytesOf(body);
    this.calls.push(`end ${bytes.length}`);
    this.body = Buffer.concat([this.body, bytes]);
    this.isEnded = true;
    this.isLast = closeConnection === true;
    return this;
  }

  endWithoutBody(_reportedBytes?: number, closeConnection?: boolean): UwsResponse {
    this.#assertCorked('endWithoutBody');
    this.calls.push('endWithoutBody');
    this.isEnded = true;
    this.isLast = closeConnection === true;
    return this;
  }

  close(): UwsResponse {
    this.#assertAlive('close');
    this.calls.push('close');
    this.isClosed = true;
    return this;
  }

  getWriteOffset(): number {
    this.#assertAlive('getWriteOffset');
    return this.body.length;
  }

  onWritable(handler: (offset: number) => boolean): UwsResponse {
    this.#assertAlive('onWritable');
    this.#onWritable = handler;
    return this;
  }

  onAborted(handler: () => void): UwsResponse {
    this.#onAborted = handler;
    return this;
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse {
    this.#onData = handler;
    return this;
  }

  getRemoteAddress(): ArrayBuffer {
    return new Uint8Array([127, 0, 0, 1]).buffer;
  }

  pause(): void {
    this.#assertAlive('pause');
    this.pauses += 1;
  }

  resume(): void {
    this.#assertAlive('resume');
    this.resumes += 1;
  }

  #assertAlive(name: string): void {
    assert.ok(!this.isEnded && !this.isClosed, `${name}() after the end`);
  }

  #assertCorked(name: string): void {
    this.#assertAlive(name);
    assert.ok(this.#isCorked, `${name}() outside cork()`);
  }
}

/** Resolves when everything that was planned for the end of this task has run. */
export const endOfTask = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });
