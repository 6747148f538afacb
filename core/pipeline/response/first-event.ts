// The first event of a stream, read while it is held back, and whether it tells of an error (first-event-handler.ts).

import { ByteCollector, isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { tellsError } from '../../dialect/common/told-error.js';

/** A first event that is longer is not an error. */
const heldBytesMax = 16 * 1024;
/** Statuses of errors that are told in words, in the APIs that providers share. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400, authentication_error: 401, permission_error: 403, not_found_error: 404, request_too_large: 413,
  rate_limit_error: 429, rate_limit_exceeded: 429, insufficient_quota: 429, resource_exhausted: 429, tokens: 429, requests: 429,
  unavailable: 503, service_unavailable: 503, timeout_error: 504, deadline_exceeded: 504, overloaded_error: 529,
};

export class FirstEvent {
  /** Of the error that the first event tells; 0: it tells of none; -1: it is not there yet. */
  status = -1;
  readonly #held = new ByteCollector();
  #text = '';
  #blockAt = 0;

  push(chunk: Uint8Array): void {
    this.#held.appendCopy(chunk);
    if (this.#held.length > heldBytesMax) {
      this.status = 0;
      return;
    }
    // Bytes as characters: the marks that are looked for are ASCII.
    const from = Math.max(this.#blockAt, this.#text.length - 3);
    this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const blank = /\r\n\r\n|\n\n|\r\r/g;
    blank.lastIndex = from;
    for (let end = blank.exec(this.#text); end !== null && this.status < 0; end = blank.exec(this.#text)) {
      this.status = statusOf(this.#text.slice(this.#blockAt, end.index));
      this.#blockAt = blank.lastIndex;
    }
  }

  /** All that came. */
  take(): Uint8Array {
    return this.#held.take();
  }
}

/** -1 for a block without an event: comments, or what only names a time to wait. */
function statusOf(block: string): number {
  let name = '';
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    else if (line.startsWith('data:')) data.push(line.slice(5));
  }
  if (name === '' && data.length === 0) return -1;
  const text = data.join('\n');
  if (name !== 'error' && !text.includes('"error"')) return 0;
  const body = parsed(text);
  const given = body?.error;
  const isNamed = name === 'error' || body?.type === 'error';
  if (!isNamed && (body === undefined || !tellsError(body))) return 0;
  if (isObject(given)) return statusOfError(given);
  return isNamed ? statusOfError(body ?? {}) : 500;
}

function statusOfError(error: JsonObject): number {
  for (const value of [error.status, error.status_code, error.code]) {
    const status = typeof value === 'number' || (typeof value === 'string' && /^\d{3}$/.test(value)) ? Number(value) : 0;
    if (status >= 400 && status <= 599) return status;
  }
  for (const word of [error.type, error.code, error.status]) {
    const status = typeof word === 'string' ? statuses[word.toLowerCase()] : undefined;
    if (status !== undefined) return status;
  }
  return 500;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Of an event that is named an error, the name is enough.
    return undefined;
  }
}
