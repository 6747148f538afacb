// Hot: runs for each call.
// Trace and span ids: taken from the client where given, made otherwise. W3C traceparent is honoured in its strict form.

import { randomFillSync } from 'node:crypto';

const poolBytes = 8192;
const pool = Buffer.alloc(poolBytes);
let poolAt = poolBytes;

/** `bytes` random bytes as lower-case hex, from a pool: a system call once in 8 kB. */
export function randomHex(bytes: number): string {
  if (poolAt + bytes > poolBytes) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += bytes;
  return pool.toString('hex', poolAt - bytes, poolAt);
}

/** A version 4 UUID (RFC 9562). */
export function uuid(): string {
  const hex = randomHex(16);
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

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
