// The session cookie of people who are signed in, checked on the thread that took the call. Only control calls without a key use it. A page
// of another site cannot: browsers do not send the cookie from there, and a call that changes something must prove its origin.

import { hashKey } from '../auth/key.js';
import type { Caller } from '../control-plane/context.js';
import { cookieOf, isSecureOrigin, sessionCookie, withoutCookie } from '../control-plane/cookies.js';
import { fail } from '../errors/gateway-error.js';
import type { RequestHead } from '../exchange/request-head.js';
import type { SessionRow } from '../storage/tables/sessions.js';

/** Limit of a cookie; ours are shorter. */
const tokenCharsMax = 128;
const ownHeader = 'csrf';

interface SessionOptions {
  readonly publicUrl: string | undefined;
  readonly isTls: boolean;
  /** Finds the session by the hash of its token; undefined: there is none, or it has ended. */
  find(tokenHash: string): SessionRow | undefined;
}

export class SessionCookies {
  readonly #name: string;

  constructor(readonly options: SessionOptions) {
    const { publicUrl, isTls } = options;
    this.#name = sessionCookie(publicUrl === undefined ? isTls : isSecureOrigin(publicUrl));
  }

  /** The caller of the session; undefined: the call has no session cookie. Takes the cookie out of the head. Throws SESSION_INVALID, CALL_CROSS_SITE. */
  callerOf(head: RequestHead): Caller | undefined {
    const token = this.#takeFrom(head);
    if (token === undefined) return undefined;
    const session = token.length > tokenCharsMax ? undefined : this.options.find(hashKey(token));
    if (session === undefined) throw fail('SESSION_INVALID');
    if (head.method !== 'GET' && head.method !== 'HEAD' && !this.#isFromOwnPage(head)) throw fail('CALL_CROSS_SITE');
    return { keyId: session.id, keyType: 'session', organisationId: session.organisationId, workspaceId: '', scopes: [] };
  }

  #takeFrom({ headers }: RequestHead): string | undefined {
    let token: string | undefined = undefined;
    for (let index = headers.length - 2; index >= 0; index -= 2) {
      if (headers[index] !== 'cookie') continue;
      const value = headers[index + 1] ?? '';
      token = cookieOf(value, this.#name) ?? token;
      const rest = withoutCookie(value, this.#name);
      if (rest === '') headers.splice(index, 2);
      else headers[index + 1] = rest;
    }
    return token;
  }

  /** A page of another origin can neither leave its name out nor send a header of ours without being asked for it first (Fetch standard, section 3.3). */
  #isFromOwnPage(head: RequestHead): boolean {
    const origin = head.header('origin');
    if (origin === undefined) return head.gatewayHeader(ownHeader) !== undefined;
    const { publicUrl, isTls } = this.options;
    return origin.toLowerCase() === (publicUrl ?? `${isTls ? 'https' : 'http'}://${head.header('host') ?? ''}`).toLowerCase();
  }
}
