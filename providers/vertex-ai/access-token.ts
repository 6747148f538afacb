import { createHash } from 'node:crypto';
import type { Host } from '@gateway/plugin-sdk';
import { isObject } from '@gateway/plugin-sdk';
import type { ServiceAccount } from './credentials.js';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const tokensMax = 256;
const refreshBeforeMs = 5 * 60_000;
const lifetimeSeconds = 3600;

interface Token {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** By a digest of the account, so that no private key is kept here. Shared by all requests of the thread. */
const tokens = new Map<string, Token>();
/** One exchange for each account at a time; whoever needs the token meanwhile waits for it. */
const exchanges = new Map<string, Promise<string>>();

/** An access token of the service account: a kept one at once, else a new one. A failed exchange is not kept. */
export function accessToken(account: ServiceAccount, host: Host): string | Promise<string> {
  const id = createHash('sha256').update(`${account.email}\n${account.keyId ?? ''}\n${account.tokenUri}\n${account.privateKey}`).digest('base64');
  const kept = tokens.get(id);
  if (kept !== undefined && kept.expiresAtMs - refreshBeforeMs > host.now()) return kept.value;
  const running = exchanges.get(id);
  if (running !== undefined) return running;
  const exchange = exchangeToken(account, host).then((token) => {
    keep(id, token);
    return token.value;
  }).finally(() => exchanges.delete(id));
  exchanges.set(id, exchange);
  return exchange;
}

function keep(id: string, token: Token): void {
  tokens.delete(id);
  const [oldest] = tokens.keys();
  if (tokens.size >= tokensMax && oldest !== undefined) tokens.delete(oldest);
  tokens.set(id, token);
}

async function exchangeToken(account: ServiceAccount, host: Host): Promise<Token> {
  const nowMs = host.now();
  const assertion = await signedAssertion(account, Math.floor(nowMs / 1000));
  const response = await host.fetch({
    url: account.tokenUri,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
    timeoutMs: 10_000,
  });
  const answer = parsed(await response.bytes());
  if (response.status !== 200) {
    const told = [answer.error, answer.error_description].filter((text) => typeof text === 'string').join(': ').slice(0, 300);
    throw new Error(`no access token for the service account: ${told === '' ? `the token server answered ${response.status}` : told}`);
  }
  if (typeof answer.access_token !== 'string') throw new Error('no access token for the service account: the answer of the token server holds none');
  const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : lifetimeSeconds;
  return { value: answer.access_token, expiresAtMs: nowMs + seconds * 1000 };
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

async function signedAssertion(account: ServiceAccount, nowSeconds: number): Promise<string> {
  const { SignJWT, importPKCS8 } = await import('jose');
  // Keys that were pasted into environment variables often have their line breaks escaped.
  const key = await importPKCS8(account.privateKey.replaceAll('\\n', '\n'), 'RS256').catch(() => {
    throw new Error('the private_key of the service account is not a PKCS #8 key in PEM');
  });
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.keyId === undefined ? {} : { kid: account.keyId }) })
    .setIssuer(account.email)
    .setAudience(account.tokenUri)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifetimeSeconds)
    .sign(key);
}
