// Wraps the responder of a prompt call. Clients of prompts read a plain answer in one of two forms: as a completion, or as `status`, `headers` and
// `body` around one. They get both at once. Streams, errors and answers that are not JSON pass unchanged.

import { ByteCollector } from '@gateway/plugin-sdk';
import { parseJsonObject } from '../../body/parse.js';
import type { HeaderList, Responder } from '../../exchange/responder.js';
import { ForwardingResponder } from './forwarding-responder.js';

const ownNames: readonly string[] = ['status', 'headers', 'body'];
const failedChecksStatus = 246;

export class PromptResponder extends ForwardingResponder {
  /** Collects an answer that has to be complete before it goes on; null: chunks are passed on as they come. */
  #collected: ByteCollector | null = null;
  #status = 0;
  #headers: HeaderList = [];
  #length = -1;

  /** Longer answers are sent as a completion only. */
  constructor(inner: Responder, readonly bytesMax: number) {
    super(inner);
  }

  override get isStarted(): boolean {
    return this.#collected !== null || super.isStarted;
  }

  override send(status: number, headers: HeaderList, body: Uint8Array | string): void {
    super.send(status, headers, isPlain(status, headers) ? inBothForms(headers, body) : body);
  }

  override start(status: number, headers: HeaderList, bodyBytes: number): void {
    if (!isPlain(status, headers) || bodyBytes > this.bytesMax) {
      super.start(status, headers, bodyBytes);
      return;
    }
    this.#status = status;
    this.#headers = headers;
    this.#length = bodyBytes;
    this.#collected = new ByteCollector();
  }

  override write(chunk: Uint8Array): boolean {
    const collected = this.#collected;
    if (collected === null) return super.write(chunk);
    collected.appendCopy(chunk);
    if (collected.length <= this.bytesMax) return true;
    this.#collected = null;
    super.start(this.#status, this.#headers, this.#length);
    return super.write(collected.take());
  }

  override end(): void {
    const collected = this.#collected;
    if (collected === null) {
      super.end();
      return;
    }
    this.#collected = null;
    super.send(this.#status, this.#headers, inBothForms(this.#headers, collected.take()));
  }

  override abort(): void {
    this.#collected = null;
    super.abort();
  }
}

function isPlain(status: number, headers: HeaderList): boolean {
  if (status !== 200 && status !== failedChecksStatus) return false;
  let isJson = false;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index];
    if (name === 'content-encoding') return false;
    if (name === 'content-type') isJson = /^application\/json\b/i.test(headers[index + 1] ?? '');
  }
  return isJson;
}

function inBothForms(headers: HeaderList, body: Uint8Array | string): string | Uint8Array {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  let parsed: Readonly<Record<string, unknown>>;
  try {
    parsed = parseJsonObject(bytes);
  } catch {
    // Members can only be added to an object.
    return body;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').trim();
  const isFree = ownNames.every((name) => !Object.hasOwn(parsed, name));
  const own = isFree ? text : JSON.stringify(Object.fromEntries(Object.entries(parsed).filter(([name]) => !ownNames.includes(name))));
  const members = `"status":"success","headers":${JSON.stringify(asObject(headers))},"body":${text}`;
  const inside = own.slice(1, -1).trim();
  return `{${inside}${inside === '' ? '' : ','}${members}}`;
}

/** Each character of a value is a byte on the wire; most are ASCII. */
function asObject(headers: HeaderList): Readonly<Record<string, string>> {
  const members = new Map<string, string>();
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = Buffer.from(headers[index + 1] ?? '', 'latin1').toString('utf8');
    const before = members.get(name);
    members.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(members);
}
