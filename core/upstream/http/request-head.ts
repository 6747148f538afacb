// Hot: runs for each call.
// The head of a request as bytes, up to what its body decides. A header that no message can carry is refused before anything is sent. The head
// of the call before is kept for each origin: most calls differ in nothing but their body.

import { fail, type GatewayError } from '../../errors/gateway-error.js';
import type { UpstreamRequest } from '../client.js';

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const badValue = /[^\t\x20-\x7e\x80-\xff]/;
const badPath = /[^\x21-\xff]/;
const lengthPattern = /^\d{1,15}$/;

const knownNames = new Set<string>();
const knownNamesMax = 1000;
/** What is told of the body by the client itself, and what HTTP/1.1 has for others than us. */
const ownNames: ReadonlySet<string> = new Set(['transfer-encoding', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer']);

/** Longest head that is kept. */
const keptBytesMax = 4_096;

export class RequestHead {
  constructor(
    readonly method: string,
    readonly path: string,
    readonly headers: readonly string[],
    /** From the request line to the last header; neither length nor empty line. */
    readonly bytes: Buffer,
    /** The content-length that was given; -1: none. */
    readonly length: number,
    /** The connection is closed behind the answer. */
    readonly isLast: boolean,
  ) {}

  /** Its length is told even when there is no body (RFC 9110, section 8.6). */
  get expectsBody(): boolean {
    const { method } = this;
    return method === 'POST' || method === 'PUT' || method === 'PATCH';
  }
}

/** The heads of one origin. */
export class RequestHeads {
  #last: RequestHead | null = null;

  constructor(readonly host: string) {}

  /** Gives the fault when the request cannot be sent. */
  of(request: UpstreamRequest): RequestHead | GatewayError {
    const last = this.#last;
    if (last !== null && last.path === request.path && last.method === request.method && isSame(last.headers, request.headers)) return last;
    const made = this.#make(request);
    if (made instanceof RequestHead && made.bytes.length <= keptBytesMax) this.#last = made;
    return made;
  }

  #make(request: UpstreamRequest): RequestHead | GatewayError {
    const { method, path, headers } = request;
    if (!tokenPattern.test(method) || method === 'CONNECT') return fail('INTERNAL', { id: 'unknown' }, new Error('the method is not a token'));
    if (badPath.test(path) || path.charCodeAt(0) !== 0x2f) return fail('PATH_INVALID', { reason: 'it holds a character that must be percent-encoded' });
    let { host } = this;
    let length = -1;
    let isLast = method === 'HEAD';
    let lines = '';
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      const value = headers[index + 1] as string;
      if (!isName(name)) return fail('INTERNAL', { id: 'unknown' }, new Error('the name of a header is not a token'));
      if (badValue.test(value)) return unusable(name, 'holds a character that no header can carry, such as a line break; check the API key, where this header takes it');
      switch (name) {
        case 'host':
          host = value;
          break;
        case 'content-length':
          if (length !== -1 || !lengthPattern.test(value)) return unusable(name, 'must be one number');
          length = Number(value);
          break;
        case 'connection':
          if (/(?:^|,)\s*close\s*(?:,|$)/i.test(value)) isLast = true;
          break;
        default:
          if (ownNames.has(name)) return unusable(name, 'is for the connection alone and cannot be sent on');
          lines += `${name}: ${value}\r\n`;
      }
    }
    const text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${isLast ? 'close' : 'keep-alive'}\r\n${lines}`;
    // The list is the caller's: it may fill it for another call.
    return new RequestHead(method, path, headers.slice(), Buffer.from(text, 'latin1'), length, isLast);
  }
}

const unusable = (name: string, reason: string): GatewayError => fail('HEADER_INVALID', { name, param: name, reason });

function isName(name: string): boolean {
  if (knownNames.has(name)) return true;
  if (!tokenPattern.test(name)) return false;
  if (knownNames.size < knownNamesMax) knownNames.add(name);
  return true;
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (left[index] !== right[index]) return false;
  return true;
}
