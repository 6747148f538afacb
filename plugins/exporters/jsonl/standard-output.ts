// Lines to the standard output. Not through process.stdout: in a thread beside the main one that goes over the main one, which serves calls. Whoever
// reads may stop to: then a write waits, and no second one is begun beside it, since each would hold a thread that all I/O of the process shares.

import { setTimeout as pause } from 'node:timers/promises';
import { constants, fstat, open, write, close } from 'node:fs';
import { promisify } from 'node:util';

const standardOutput = 1;
const [statOf, openFile, writeTo, closeFile] = [promisify(fstat), promisify(open), promisify(write), promisify(close)];
/** While there is no room, and nobody says when there is. */
const waitMsMin = 5;
const waitMsMax = 200;

/** Writes at least a byte and says how many; rejects with EAGAIN when there is no room. */
export type WriteBytes = (bytes: Uint8Array) => Promise<number>;

export class StandardOutput {
  #fd: number | null = null;
  #isOwn = false;
  /** A write has not returned. */
  #isStuck = false;
  /** A line was broken off. */
  #isCutOff = false;
  readonly #write: WriteBytes;

  /** `write`: for tests. */
  constructor(write?: WriteBytes) {
    this.#write = write ?? ((bytes) => this.#writeBytes(bytes));
  }

  /** Rejects when the signal is aborted before all is written; the last line may be broken off then. */
  async append(lines: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isStuck) throw new Error('nobody reads the standard output');
    const aborted = new Promise<never>((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason), { once: true }); });
    let left: Uint8Array = Buffer.from(`${this.#isCutOff ? '\n' : ''}${lines.join('\n')}\n`);
    for (let waitMs = waitMsMin; left.length > 0;) {
      const count = await Promise.race([this.#some(left), aborted]);
      left = left.subarray(count);
      if (count > 0) {
        waitMs = waitMsMin;
        continue;
      }
      await pause(waitMs, undefined, { signal, ref: false });
      waitMs = Math.min(waitMsMax, waitMs * 2);
    }
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = null;
    if (fd !== null && this.#isOwn && !this.#isStuck) await closeFile(fd);
  }

  /** Bytes written; 0: there is no room. Goes on by itself when nobody waits for it any more. */
  async #some(bytes: Uint8Array): Promise<number> {
    this.#isStuck = true;
    try {
      const count = await this.#write(bytes);
      // The last byte of all is the end of a line.
      if (count > 0) this.#isCutOff = count < bytes.length;
      return count;
    } catch (thrown) {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN') return 0;
      throw thrown;
    } finally {
      this.#isStuck = false;
    }
  }

  async #writeBytes(bytes: Uint8Array): Promise<number> {
    this.#fd ??= await this.#open();
    return (await writeTo(this.#fd, bytes)).bytesWritten;
  }

  /** A pipe or a terminal opened once more waits for nobody, and leaves those as they are who have it as well. A file keeps its place. */
  async #open(): Promise<number> {
    const status = await statOf(standardOutput);
    if (!status.isFIFO() && !status.isCharacterDevice()) return standardOutput;
    try {
      const fd = await openFile('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
      this.#isOwn = true;
      return fd;
    } catch {
      // Not to be had there, or not with these rights.
      return standardOutput;
    }
  }
}
