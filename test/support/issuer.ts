// An OpenID Connect issuer on loopback that says what a test wants it to say: who signs in, and every lie about it.

import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

interface SigningKey {
  readonly id: string;
  readonly privateKey: CryptoKey;
  readonly shown: JWK;
}

interface Behaviour {
  /** Claims of who signs in, over those that a plain answer has. */
  claims: Record<string, unknown>;
  /** In the metadata, instead of its own. */
  issuer: string | undefined;
  /** Signed with a key that is not shown under this name. */
  isForged: boolean;
  isUnsigned: boolean;
  /** Paths that are answered with this status. */
  readonly failing: Map<string, number>;
  /** Paths that are not answered. */
  readonly silent: Set<string>;
  /** What it says of the person at /userinfo; undefined: there is no such place. */
  userinfo: Record<string, unknown> | undefined;
  /** The same code counts again. */
  isForgetful: boolean;
}

export interface TestIssuer {
  readonly url: string;
  readonly behaviour: Behaviour;
  /** Paths, in the order in which they were asked for. */
  readonly asked: string[];
  rotate(): Promise<void>;
  /** What a person does with the address that the gateway sends the browser to; resolves with the address that the browser is sent back to. */
  authorize(address: string): Promise<string>;
  stop(): Promise<void>;
}

async function makeKey(): Promise<SigningKey> {
  const id = randomUUID();
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  return { id, privateKey, shown: { ...await exportJWK(publicKey), kid: id, alg: 'RS256', use: 'sig' } };
}

const clientId = 'gateway';
export const issuerClient = { GATEWAY_OIDC_CLIENT_ID: clientId, GATEWAY_OIDC_CLIENT_SECRET: 'issuer-client-secret' };

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}

/** Call it at the top level of a test file. */
export async function startIssuer(): Promise<TestIssuer> {
  let key = await makeKey();
  const other = await makeKey();
  const codes = new Map<string, URLSearchParams>();
  const asked: string[] = [];
  const behaviour: Behaviour = { claims: {}, issuer: undefined, isForged: false, isUnsigned: false, failing: new Map(), silent: new Set(), userinfo: undefined, isForgetful: false };
  let url = '';

  const tokenOf = async (query: URLSearchParams): Promise<string> => {
    const claims = { iss: url, aud: clientId, sub: 'person-1', nonce: query.get('nonce'), email: 'ada@example.com', email_verified: true, given_name: 'Ada', family_name: 'Person', groups: [], ...behaviour.claims };
    if (behaviour.isUnsigned) {
      const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const now = Math.floor(Date.now() / 1000);
      return `${part({ alg: 'none' })}.${part({ ...claims, iat: now, exp: now + 300 })}.`;
    }
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.id }).setIssuedAt().setExpirationTime('5m').sign(behaviour.isForged ? other.privateKey : key.privateKey);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const address = new URL(request.url ?? '/', url);
    const send = (status: number, body: unknown): void => { response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)); };
    asked.push(address.pathname);
    if (behaviour.silent.has(address.pathname)) return;
    const status = behaviour.failing.get(address.pathname);
    if (status !== undefined) return send(status, { error: 'server_error' });
    switch (address.pathname) {
      case '/.well-known/openid-configuration':
        return send(200, {
          issuer: behaviour.issuer ?? url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, jwks_uri: `${url}/jwks`, response_types_supported: ['code'],
          ...(behaviour.userinfo === undefined ? {} : { userinfo_endpoint: `${url}/userinfo` }), subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'], code_challenge_methods_supported: ['S256'],
        });
      case '/userinfo': return send(200, { sub: 'person-1', ...behaviour.userinfo });
      case '/jwks': return send(200, { keys: [key.shown] });
      case '/token': {
        const form = await bodyOf(request);
        const code = form.get('code') ?? '';
        const query = codes.get(code);
        if (!behaviour.isForgetful) codes.delete(code);
        const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
        // Both parts are form-encoded (RFC 6749, section 2.3.1).
        const [id, secret] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString().split(':').map(decodeURIComponent);
        if (query === undefined || query.get('code_challenge') !== challenge || query.get('redirect_uri') !== form.get('redirect_uri')) return send(400, { error: 'invalid_grant' });
        if (id !== clientId || secret !== issuerClient.GATEWAY_OIDC_CLIENT_SECRET) return send(401, { error: 'invalid_client' });
        return send(200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 60, id_token: await tokenOf(query) });
      }
      default: return send(404, { error: 'not_found' });
    }
  };
  const server = createServer((request, response) => { answer(request, response).catch((thrown: unknown) => response.destroy(thrown instanceof Error ? thrown : new Error('failed'))); });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  const stop = (): Promise<void> => new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  after(stop);
  return {
    url, behaviour, asked, stop,
    rotate: async () => { key = await makeKey(); },
    authorize: (address) => {
      const { searchParams, origin, pathname } = new URL(address);
      if (origin !== url || pathname !== '/authorize') throw new Error(`not the issuer's address: ${address}`);
      const code = randomUUID();
      codes.set(code, searchParams);
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return Promise.resolve(back.href);
    },
  };
}
