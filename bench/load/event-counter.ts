// Counts the events of one SSE stream and checks that it is whole: sequence numbers 1, 2, 3 … without a
// gap, and [DONE] at the end. Lines may be cut anywhere by chunks and reads.
import type { Histogram } from './histogram.js';

export interface StreamTimes {
  readonly gapUs: Histogram;
  /** From the provider's write to this process's read. */
  readonly deliveryUs: Histogram;
}

const newline = 10;
const at = 64;
const zero = 48;
const sequenceDigits = 8;
const timeDigits = 16;

export class EventCounter {
  events = 0;
  isDone = false;
  isOutOfOrder = false;
  lastAtUs = 0;
  #partial: Buffer | null = null;
  readonly #times: StreamTimes;

  constructor(times: StreamTimes) {
    this.#times = times;
  }

  /** Takes a span of the body that arrived at `nowUs` of the machine's monotonic clock. */
  feed(bytes: Buffer, start: number, end: number, nowUs: number): void {
    let source = bytes;
    let offset = start;
    let limit = end;
    if (this.#partial !== null) {
      source = Buffer.concat([this.#partial, bytes.subarray(start, end)]);
      offset = 0;
      limit = source.length;
      this.#partial = null;
    }
    while (offset < limit) {
      const lineEnd = source.indexOf(newline, offset);
      if (lineEnd < 0 || lineEnd >= limit) {
        this.#partial = Buffer.from(source.subarray(offset, limit));
        return;
      }
      // Only `data:` lines count; a blank line or a comment has another first letter.
      if (source[offset] === 100 && lineEnd - offset > 6) this.#readData(source, offset, lineEnd, nowUs);
      offset = lineEnd + 1;
    }
  }

  #readData(source: Buffer, start: number, end: number, nowUs: number): void {
    if (source[start + 6] === 91) {
      this.isDone = true;
      return;
    }
    const mark = source.indexOf(at, start);
    if (mark < 0 || mark >= end) return;
    this.events++;
    if (readDigits(source, mark + 1, sequenceDigits) !== this.events) this.isOutOfOrder = true;
    const sentAtUs = readDigits(source, mark + 2 + sequenceDigits, timeDigits);
    this.#times.deliveryUs.record(nowUs - sentAtUs);
    if (this.lastAtUs > 0) this.#times.gapUs.record(nowUs - this.lastAtUs);
    this.lastAtUs = nowUs;
  }
}

function readDigits(source: Buffer, start: number, count: number): number {
  let value = 0;
  for (let index = start; index < start + count; index++) value = value * 10 + ((source[index] ?? zero) - zero);
  return value;
}
