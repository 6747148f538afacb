// Sign-in by OpenID Connect: authorization code flow with PKCE, state and nonce. Runs on the control thread; the library is loaded by the first sign-in,
// and asks through the egress guard alone. The issuer's answers are verified: its metadata by its address, an ID token by its
// signature. Keys are read anew for each sign-in, so that replaced keys do no harm. Keeps no token of the issuer.

import { createHash } from 'node:crypto';
import type { CustomFetchOptions, ServerMetadata } from 'openid-client';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { OidcSettings } from '../settings/read.js';
import type { UpstreamClient } from '../upstream/client.js';
import { fetchBytes } from '../upstream/fetch-bytes.js';
import { plainEmail } from './email.js';

type Library = typeof import('openid-client');

/** Time-out of one call to the issuer; a sign-in makes up to four. */
const callMsMaxDefault = 5_000;
const answerBytesMax = 512 * 1024;
/** Age after which the issuer's metadata is fetched again. */
const metadataMsMax = 300_000;
/** How long the result of a sign-in is kept: its handler may have to run again, and the issuer takes each authorization code only once. */
const keptMs = 60_000;
const keptMax = 500;
const groupsMax = 1_000;
const textCharsMax = 255;

interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The person whom the issuer names, from the claims of the ID token and of the userinfo endpoint. */
export interface SignedIn {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; undefined: the issuer gave none. */
  readonly email: string | undefined;
  readonly isVerified: boolean;
  readonly firstName: string;
  readonly lastName: string;
  /** Null: the issuer left the list out because there are too many. */
  readonly groups: readonly string[] | null;
}

export class OidcClient {
  #metadata: { readonly server: ServerMetadata; readonly atMs: number } | null = null;
  #asked: Promise<ServerMetadata> | null = null;
  readonly #kept = new Map<string, { readonly atMs: number; readonly person: Promise<SignedIn> }>();

  constructor(readonly settings: OidcSettings, readonly upstream: UpstreamClient, readonly now: () => number = Date.now, readonly limits = { callMsMax: callMsMaxDefault }) {}

  /** The authorization URL, to which the browser is sent. Throws ISSUER_UNAVAILABLE. */
  async begin(redirectUri: string): Promise<SignInSecrets & { readonly url: string }> {
    const library = await import('openid-client');
    return this.#asking(async (onFault) => {
      const config = await this.#configuration(library, onFault);
      const [state, nonce, verifier] = [library.randomState(), library.randomNonce(), library.randomPKCECodeVerifier()];
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri, scope: this.settings.scopes.join(' '), state, nonce, code_challenge: await library.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
      });
      return { url: url.href, state, nonce, verifier };
    });
  }

  /** Exchanges the authorization code. For the same callback address it gives the same result for a minute. Throws SIGN_IN_FAILED, ISSUER_UNAVAILABLE. */
  finish(callback: URL, secrets: SignInSecrets): Promise<SignedIn> {
    const nowMs = this.now();
    for (const [key, { atMs }] of this.#kept) if (atMs + keptMs <= nowMs || this.#kept.size >= keptMax) this.#kept.delete(key);
    const key = createHash('sha256').update(`${secrets.state} ${callback.search}`).digest('hex');
    const known = this.#kept.get(key);
    if (known !== undefined) return known.person;
    const person = this.#exchange(callback, secrets);
    this.#kept.set(key, { atMs: nowMs, person });
    person.catch(() => this.#kept.delete(key));
    return person;
  }

  async #exchange(callback: URL, { state, nonce, verifier }: SignInSecrets): Promise<SignedIn> {
    const library = await import('openid-client');
    return this.#asking(async (onFault) => {
      const config = await this.#configuration(library, onFault);
      const tokens = await library.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the issuer gave no ID token');
      const named: Readonly<Record<string, unknown>> = { ...claims };
      const isComplete = typeof named.email === 'string' && named[this.settings.groupsClaim] !== undefined;
      const more: Readonly<Record<string, unknown>> = isComplete || config.serverMetadata().userinfo_endpoint === undefined ? {} : { ...await library.fetchUserInfo(config, tokens.access_token, claims.sub) };
      return this.#personOf({ ...more, ...named, ...provedEmail(named, more) });
    });
  }

  #personOf(claims: Readonly<Record<string, unknown>>): SignedIn {
    const text = (name: string): string => (typeof claims[name] === 'string' ? claims[name].slice(0, textCharsMax) : '');
    const email = plainEmail(text('email').trim());
    const subject = text('sub');
    const [first = '', ...last] = text('name').split(' ');
    return {
      issuer: text('iss'), subject, email: email === '' ? undefined : email, isVerified: claims.email_verified === true || claims.email_verified === 'true',
      firstName: text('given_name') || first, lastName: text('family_name') || last.join(' '), groups: groupsOf(claims, this.settings.groupsClaim),
    };
  }

  /** The library's object for one sign-in, so that the keys it reads are not used for another. */
  async #configuration(library: Library, onFault: (thrown: unknown) => void): Promise<InstanceType<Library['Configuration']>> {
    const { issuer, clientId, clientSecret } = this.settings;
    const ask = (url: string, options: CustomFetchOptions): Promise<Response> => this.#ask(url, options).catch((thrown: unknown) => {
      onFault(thrown);
      throw thrown;
    });
    const server = await this.#server(library);
    const config = new library.Configuration(server, clientId, clientSecret, authenticationOf(library, server, clientSecret));
    config[library.customFetch] = ask;
    config.timeout = this.limits.callMsMax / 1000;
    // The signature is checked even though the ID token comes straight from the issuer.
    library.enableNonRepudiationChecks(config);
    if (issuer.startsWith('http:')) library.allowInsecureRequests(config);
    return config;
  }

  /** The issuer's own description of itself (its metadata), fetched once for all who wait. */
  async #server(library: Library): Promise<ServerMetadata> {
    if (this.#metadata !== null && this.#metadata.atMs + metadataMsMax > this.now()) return this.#metadata.server;
    this.#asked ??= this.#discover(library).finally(() => { this.#asked = null; });
    return this.#asked;
  }

  async #discover(library: Library): Promise<ServerMetadata> {
    const { issuer, clientId } = this.settings;
    const ask = (url: string, options: CustomFetchOptions): Promise<Response> => this.#ask(url, options);
    try {
      const config = await library.discovery(new URL(issuer), clientId, undefined, undefined, {
        [library.customFetch]: ask, timeout: this.limits.callMsMax / 1000, ...(issuer.startsWith('http:') ? { execute: [library.allowInsecureRequests] } : {}),
      });
      const server = config.serverMetadata();
      this.#metadata = { server, atMs: this.now() };
      return server;
    } catch (thrown) {
      throw fail('ISSUER_UNAVAILABLE', { reason: plainReason(thrown) }, thrown);
    }
  }

  /** The operator configured the address of the issuer, so it may be private; addresses that the issuer names must be public. */
  async #ask(url: string, { method, headers, body, signal }: CustomFetchOptions): Promise<Response> {
    const isIssuer = new URL(url).origin === new URL(this.settings.issuer).origin;
    const answer = await fetchBytes(this.upstream, {
      url, method, headers, timeoutMs: this.limits.callMsMax, bytesMax: answerBytesMax, ...(body === undefined || body === null ? {} : { body: body instanceof Uint8Array ? body : String(body) }), ...(signal === undefined ? {} : { signal }),
    }, answerBytesMax, 'sign-in', isIssuer ? 'operator' : 'request');
    if (answer.status >= 500) throw new Error(`it answered with status ${answer.status}`);
    const shown: Record<string, string> = {};
    for (const name of ['content-type', 'www-authenticate']) {
      const value = answer.header(name);
      if (value !== undefined) shown[name] = value;
    }
    const isBodyless = answer.status === 204 || answer.status === 304;
    return new Response(isBodyless ? null : new Uint8Array(await answer.bytes()), { status: answer.status, headers: shown });
  }

  /** Runs calls to the issuer. Throws ISSUER_UNAVAILABLE if one could not be made, SIGN_IN_FAILED if its answer is wrong. */
  async #asking<T>(work: (onFault: (thrown: unknown) => void) => Promise<T>): Promise<T> {
    const faults: unknown[] = [];
    try {
      return await work((thrown) => { faults.push(thrown); });
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      const [fault] = faults;
      if (fault !== undefined) throw fail('ISSUER_UNAVAILABLE', { reason: plainReason(fault) }, fault);
      throw fail('SIGN_IN_FAILED', { reason: plainReason(thrown) }, thrown);
    }
  }
}

/** The e-mail address and its verification, taken from the same document: the claim of one document proves nothing about an address in the other. */
function provedEmail(named: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>>): { readonly email: unknown; readonly email_verified: unknown } {
  const { email, email_verified: isVerified } = typeof named.email === 'string' ? named : more;
  return { email, email_verified: named.email === more.email ? named.email_verified ?? more.email_verified : isVerified };
}

function groupsOf(claims: Readonly<Record<string, unknown>>, name: string): readonly string[] | null {
  const value = claims[name];
  // For people with very many groups, some issuers name an endpoint in place of the list.
  if (value === undefined && Object(claims._claim_names)[name] !== undefined) return null;
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(all.filter((each): each is string => typeof each === 'string' && each !== '' && each.length <= textCharsMax))].slice(0, groupsMax);
}

function authenticationOf(library: Library, { token_endpoint_auth_methods_supported: known }: ServerMetadata, secret: string | undefined) {
  if (secret === undefined) return library.None();
  // In the body both sides encode the secret in the same way. Servers that name no methods take it in the header (OpenID Connect Discovery 1.0, section 3).
  return known?.includes('client_secret_post') === true ? library.ClientSecretPost(secret) : library.ClientSecretBasic(secret);
}

/** The reason from an error of the library or the issuer: one line, cut short, since others wrote it. */
function plainReason(thrown: unknown): string {
  const { error }: { readonly error?: unknown } = Object(thrown);
  const cause: unknown = Object(thrown).cause;
  const text = typeof error === 'string' ? `the issuer says ${error}` : reasonOf(cause instanceof Error ? cause : thrown);
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200);
}
