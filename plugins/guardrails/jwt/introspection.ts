import { isObject, type Host, type JsonObject } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { postForm, readJson } from '../common/request/hook-context.js';

export interface IntrospectionOptions {
  readonly url: URL;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ageMaxMs: number;
}

/** Answers about tokens that are active. */
const activeMax = 2000;
const timeoutMs = 4000;

/** Asks the service that issued a token whether it still holds (RFC 7662). Only a yes is kept, and no longer than the token lives. */
export class Introspection {
  readonly #active = new LRUCache<string, { readonly claims: JsonObject; readonly untilMs: number }>({ max: activeMax });
  readonly #pending = new Map<string, Promise<JsonObject | undefined>>();

  constructor(readonly host: Host, readonly options: IntrospectionOptions) {}

  /** The claims; undefined when the token does not hold. Rejects when the service does not say. */
  claimsOf(token: string, digest: string): JsonObject | Promise<JsonObject | undefined> {
    const known = this.#active.get(digest);
    if (known !== undefined && this.host.now() < known.untilMs) return known.claims;
    let pending = this.#pending.get(digest);
    if (pending === undefined) {
      pending = this.#ask(token, digest).finally(() => this.#pending.delete(digest));
      this.#pending.set(digest, pending);
    }
    return pending;
  }

  async #ask(token: string, digest: string): Promise<JsonObject | undefined> {
    const { url, contentType, headers, ageMaxMs } = this.options;
    const isForm = contentType === 'application/x-www-form-urlencoded';
    const answer = await postForm(this.host, { url, headers, contentType, timeoutMs, body: isForm ? `token=${encodeURIComponent(token)}` : JSON.stringify({ token }) });
    const claims = await readJson(answer, `the service at ${url.host}`);
    if (!isObject(claims)) throw new Error(`the service at ${url.host} answered without saying whether the token is active`);
    if (!isActive(claims)) return undefined;
    const expiresMs = typeof claims.exp === 'number' ? claims.exp * 1000 : Infinity;
    const untilMs = Math.min(this.host.now() + ageMaxMs, expiresMs);
    if (ageMaxMs > 0) this.#active.set(digest, { claims, untilMs });
    return claims;
  }
}

/** `active` decides wherever it stands; services that do not know it say `valid`, or name the subject. */
function isActive({ active, valid, sub }: JsonObject): boolean {
  if (active !== undefined) return active === true;
  if (valid !== undefined) return valid === true;
  return typeof sub === 'string' && sub !== '';
}
