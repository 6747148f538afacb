// Which web pages may call the gateway from a browser, and what their answers say about it (Fetch standard, section 3.3). Off without a setting; then
// nothing here runs. Keys travel in headers, never in cookies, so no answer allows credentials.

import type { RequestHead } from '../exchange/request-head.js';
import type { HeaderList } from '../exchange/responder.js';

const methods = 'GET, POST, PUT, DELETE';
/** As long as browsers keep it. */
const maxAgeSeconds = '7200';
const anyOrigin = '*';

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins.map((origin) => origin.toLowerCase()));
  }

  /** Headers of every answer, errors and streams too. A page that may not call gets no more than `vary`. */
  headersFor(head: RequestHead): HeaderList {
    const allowed = this.#allowed(head.header('origin'));
    const vary = this.#origins.has(anyOrigin) ? [] : ['vary', 'origin'];
    return allowed === undefined ? vary : [...vary, 'access-control-allow-origin', allowed, 'access-control-expose-headers', '*'];
  }

  /** The answer to the question of a browser whether it may send a request; undefined: it is none, or it may not. */
  preflight(head: RequestHead): HeaderList | undefined {
    if (head.method !== 'OPTIONS' || head.header('access-control-request-method') === undefined) return undefined;
    if (this.#allowed(head.header('origin')) === undefined) return undefined;
    const asked = head.header('access-control-request-headers');
    const names = asked !== undefined && /^[\w!#$%&'*+.^`|~, -]*$/.test(asked) ? ['access-control-allow-headers', asked] : [];
    return ['access-control-allow-methods', methods, ...names, 'access-control-max-age', maxAgeSeconds, 'vary', 'access-control-request-headers'];
  }

  #allowed(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins.has(anyOrigin)) return anyOrigin;
    return this.#origins.has(origin.toLowerCase()) ? origin : undefined;
  }
}

/** A provider's own word about who may read its answers is not ours. */
export const isCorsHeader = (name: string): boolean => name.startsWith('access-control-');
