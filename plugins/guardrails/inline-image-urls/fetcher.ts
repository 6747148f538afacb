import { Buffer } from 'node:buffer';
import type { Host, OutboundResponse } from '@gateway/plugin-sdk';
import type { Image } from './images.js';
import { imageTypeOf } from './media-type.js';

/** Storage services like to answer with a redirect. */
const redirectsMax = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Of all images of a request together; a larger `maxSizeBytes` raises it. */
const totalBytesMax = 50 * 1024 * 1024;

/** The fetches of one request. */
export class ImageFetcher {
  #bytesLeft: number;
  readonly #endsAtMs: number;

  constructor(readonly host: Host, readonly bytesMax: number, readonly timeoutMs: number, readonly signal: AbortSignal) {
    this.#bytesLeft = Math.max(totalBytesMax, bytesMax);
    this.#endsAtMs = host.now() + timeoutMs;
  }

  async fetch(text: string): Promise<Image> {
    let url = parse(text);
    for (let hop = 0; hop <= redirectsMax; hop += 1) {
      const answer = await this.#ask(url);
      if (!redirectStatuses.has(answer.status)) return this.#imageOf(answer, url);
      const location = answer.header('location');
      if (location === undefined) throw new Error(`answered with status ${answer.status} without a place to go on`);
      url = parse(location, url);
    }
    throw new Error(`was redirected more than ${redirectsMax} times`);
  }

  async #ask(url: URL): Promise<OutboundResponse> {
    const timeoutMs = this.#endsAtMs - this.host.now();
    if (timeoutMs <= 0) throw new Error(`was not fetched within ${this.timeoutMs} ms`);
    try {
      return await this.host.fetch({ url: url.href, headers: { accept: 'image/*' }, timeoutMs, bytesMax: this.bytesMax, signal: this.signal });
    } catch (thrown) {
      if (this.signal.aborted) throw thrown;
      // The host's own sentence may name addresses behind the name.
      throw new Error(`could not be fetched within ${this.timeoutMs} ms and ${this.bytesMax} bytes, or may not be called`, { cause: thrown });
    }
  }

  async #imageOf(answer: OutboundResponse, url: URL): Promise<Image> {
    if (answer.status !== 200) throw new Error(`answered with status ${answer.status}`);
    let bytes: Uint8Array;
    try {
      bytes = await answer.bytes();
    } catch (thrown) {
      throw new Error(`is larger than ${this.bytesMax} bytes`, { cause: thrown });
    }
    if (bytes.length === 0) throw new Error('answered with nothing');
    if (bytes.length > this.bytesMax) throw new Error(`is larger than ${this.bytesMax} bytes`);
    const mediaType = imageTypeOf(answer.header('content-type'), bytes, url.pathname);
    if (mediaType === undefined) throw new Error('is not an image');
    if (bytes.length > this.#bytesLeft) throw new Error('would make the images of the request too large together');
    this.#bytesLeft -= bytes.length;
    return { mediaType, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  }
}

function parse(text: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw new Error('is not a URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('leads to something else than http or https');
  if (url.username !== '' || url.password !== '') throw new Error('carries a user name or password');
  return url;
}
