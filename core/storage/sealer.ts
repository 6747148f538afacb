// Secrets of rows, sealed: AES-256-GCM under a key derived from the master key, bound to the place they stand in, so that a sealed value moved to
// another row or member does not open. `<table>/<id>/<member>` is the place.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { fail } from '../errors/gateway-error.js';

const nonceBytes = 12;
const tagBytes = 16;
/** The first byte of a sealed value: how it was sealed. */
const layout = 1;

export class Sealer {
  readonly #key: Buffer;

  constructor(masterKey: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(0), 'gateway stored secrets', 32));
  }

  /** Base64. The same secret is sealed differently each time. */
  seal(secret: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([Uint8Array.of(layout), nonce, cipher.getAuthTag(), body]).toString('base64');
  }

  /** Throws SETTINGS_INVALID when the master key is another one than it was sealed with, or the value was changed or moved. */
  open(sealed: string, place: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    try {
      if (bytes[0] !== layout) throw new Error('not a sealed value');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(1, 1 + nonceBytes));
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(1 + nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    } catch (thrown) {
      throw fail('SETTINGS_INVALID', { reason: `the secret at ${place} cannot be opened: the master key is another one than it was stored under, or the value was changed; start with the master key of this data directory` }, thrown);
    }
  }

  [inspect.custom](): string {
    return '[sealer]';
  }
}

/** A secret in memory: printed, logged or serialised it says nothing. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** For the one who sends it to whom it belongs. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
