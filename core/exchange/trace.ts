// Hot: runs for each call.
// Trace and span ids: taken from the client where given, made otherwise. W3C traceparent is honoured in its strict form.

import { randomFillSync } from 'node:crypto';

const poolBytes = 8192;
const pool = Buffer.alloc(poolBytes);
const poolWords = new Int32Array(pool.buffer, pool.byteOffset, poolBytes / 4);
let poolAt = poolBytes;
/** Where the bytes of the last id lie, on a whole word. */
let lastAt = 0;

/** From a pool: a system call once in 8 kB. */
function take(bytes: number): void {
  if (poolAt + bytes > poolBytes) {
    randomFillSync(pool);
    poolAt = 0;
  }
  lastAt = poolAt;
  poolAt += (bytes + 3) & ~3;
}

/** `bytes` random bytes as lower-case hex. */
export function randomHex(bytes: number): string {
  take(bytes);
  return pool.toString('hex', lastAt, lastAt + bytes);
}

/** A version 4 UUID (RFC 9562). */
export function uuid(): string {
  take(16);
  pool[lastAt + 6] = ((pool[lastAt + 6] as number) & 0x0f) | 0x40;
  pool[lastAt + 8] = ((pool[lastAt + 8] as number) & 0x3f) | 0x80;
  const hex = pool.toString('hex', lastAt, lastAt + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Four bytes of the id that was made last, in the order of memory: who keeps ids as bytes need not read their hex. */
export const lastIdWord = (index: number): number => poolWords[(lastAt >> 2) + index] as number;

export interface TraceParent {
  readonly traceId: string;
  readonly parentSpanId: string;
}

/** `00-<32 hex>-<16 hex>-<2 hex>`, ids not all zero (W3C Trace Context, section 3.2). */
export function parseTraceParent(text: string): TraceParent | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text);
  if (match === null || text.startsWith('ff')) return undefined;
  const [, traceId = '', parentSpanId = ''] = match;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return undefined;
  return { traceId, parentSpanId };
}
