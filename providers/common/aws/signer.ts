import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { ParameterError, type Outgoing, type SigningKeys } from '@gateway/plugin-sdk';
import type { SignatureV4 } from '@smithy/signature-v4';
import { checkKeyPair, regionOf, type AwsCredentials } from './credentials.js';

const signersMax = 64;
const signers = new Map<string, SignatureV4>();

/** Set by our own signature; whatever an AWS client put there belongs to its signature, which ends at the gateway. */
const replacedHeaders: ReadonlySet<string> = new Set(['authorization', 'date', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'x-amz-user-agent']);

/**
 * Signs a request for an AWS service (Signature Version 4), anew for each attempt because the signature holds the time. Without an access
 * key the API key goes up as a bearer token, which Bedrock takes as well.
 */
export async function signRequest(service: string, outgoing: Outgoing, keys: SigningKeys<AwsCredentials>, now: Date): Promise<void> {
  const { credentials, apiKey } = keys;
  checkKeyPair(credentials);
  removeHeaders(outgoing.headers);
  if (credentials.cloud1_access_key_id === undefined || credentials.cloud1_secret_access_key === undefined) {
    if (apiKey === undefined || apiKey === '') throw new ParameterError('cloud1_access_key_id', 'must be given together with cloud1_secret_access_key; or give an api_key');
    outgoing.headers.push('authorization', `Bearer ${apiKey}`);
    return;
  }
  // A plus sign in a query is a blank to some servers and a plus to others; the signature holds for one reading only.
  if (outgoing.url.search.includes('+')) outgoing.url.search = outgoing.url.search.replaceAll('+', '%20');
  const signer = await signerOf(service, regionFor(credentials, outgoing.url.hostname), credentials.cloud1_access_key_id, credentials.cloud1_secret_access_key, credentials.cloud1_session_token);
  const signed = await signer.sign({
    method: outgoing.method,
    protocol: outgoing.url.protocol,
    hostname: outgoing.url.hostname,
    path: outgoing.url.pathname,
    query: queryOf(outgoing.url),
    headers: signedHeaders(outgoing),
    body: outgoing.body,
  }, { signingDate: now });
  for (const name of ['x-amz-date', 'x-amz-security-token', 'authorization']) {
    const value = signed.headers[name];
    if (value !== undefined) outgoing.headers.push(name, value);
  }
}

/** A custom host may be a private endpoint of another region than the default; its name says which. */
function regionFor(credentials: AwsCredentials, hostname: string): string {
  if (credentials.cloud1_region !== undefined) return regionOf(credentials);
  const [, region] = /\.([a-z]{2}(?:-[a-z]+)+-\d+)\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$/.exec(hostname) ?? [];
  return region ?? regionOf(credentials);
}

function removeHeaders(headers: string[]): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const name = headers[index] ?? '';
    if (replacedHeaders.has(name) || name.startsWith('amz-sdk-')) headers.splice(index, 2);
  }
}

/**
 * The host, the content type and AWS's own headers: what AWS demands, and nothing that a proxy between here and there may change.
 * The host comes from the URL, for that is where the request goes.
 */
function signedHeaders(outgoing: Outgoing): Record<string, string> {
  const signed: Record<string, string> = { host: outgoing.url.host };
  for (let index = 0; index + 1 < outgoing.headers.length; index += 2) {
    const name = outgoing.headers[index] ?? '';
    const value = outgoing.headers[index + 1] ?? '';
    if (name !== 'content-type' && !name.startsWith('x-amz-') && !name.startsWith('x-amzn-')) continue;
    const before = signed[name];
    signed[name] = before === undefined ? value : `${before},${value}`;
  }
  return signed;
}

function queryOf(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const [name, value] of url.searchParams) {
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (typeof before === 'string') query[name] = [before, value];
    else before.push(value);
  }
  return query;
}

/** One signer for each set of credentials; the library keeps the derived keys of a day itself. */
async function signerOf(service: string, region: string, accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): Promise<SignatureV4> {
  const name = JSON.stringify([service, region, accessKeyId, secretAccessKey, sessionToken]);
  const known = signers.get(name);
  if (known !== undefined) return known;
  // Imported at the first signature: the library would double the time that it takes to load the provider.
  const { SignatureV4: Signer } = await import('@smithy/signature-v4');
  const signer = new Signer({
    service,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    sha256: Sha256,
    applyChecksum: false,
  });
  if (signers.size >= signersMax) signers.delete(signers.keys().next().value ?? '');
  signers.set(name, signer);
  return signer;
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** SHA-256, or with a secret its HMAC, in the shape that the library wants. */
class Sha256 {
  #hash: Hash | Hmac;

  constructor(readonly secret?: Bytes) {
    this.#hash = hashOf(secret);
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = hashOf(this.secret);
  }
}

function hashOf(secret: Bytes | undefined): Hash | Hmac {
  if (secret === undefined) return createHash('sha256');
  if (typeof secret === 'string') return createHmac('sha256', secret);
  return createHmac('sha256', ArrayBuffer.isView(secret) ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength) : new Uint8Array(secret));
}
