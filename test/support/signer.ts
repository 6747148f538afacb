// An issuer of tokens for tests: keys, the set of the public ones, and tokens that say what a test wants.

import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';

export interface Signer {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  /** Valid for an hour, unless `claims` says otherwise; undefined members are left out. */
  token(claims?: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

export async function makeSigner(kid: string, algorithm = 'RS256'): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk: JWK = { ...await exportJWK(publicKey), kid, alg: algorithm, use: 'sig' };
  return {
    kid, privateKey, publicJwk,
    token: (claims = {}, header = {}) => new SignJWT({ exp: Math.floor(Date.now() / 1000) + 3600, ...claims }).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(privateKey),
  };
}
