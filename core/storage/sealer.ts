// Secrets of rows, sealed: AES-256-GCM under a key derived from the master key, bound to the place they stand in, so that a sealed value moved to
// another row or member does not open. `<table>/<id>/<member>` is the place. A sealed value begins with its layout and the id of its key.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';
import { fail } from '../errors/gateway-error.js';

const nonceBytes = 12;
const tagBytes = 16;
/** The first byte of a sealed value: how it was sealed. */
const layout = 1;
const keyIdBytes = 4;
const headBytes = 1 + keyIdBytes;

/** Stands in the place of a secret that was given up, or left out of a backup: it opens under no key, and a new secret takes its place. */
export const absentSecret = 'absent';

export class Sealer {
  readonly #key: Buffer;
  readonly #signingKey: Buffer;
  /** Which master key this is, in eight hex digits that tell nothing else of it. */
  readonly keyId: string;

  constructor(masterKey: Uint8Array) {
    const derived = (purpose: string, bytes: number): Buffer => Buffer.from(hkdfSync('sha256', masterKey, new Uint8Array(0), purpose, bytes));
    this.#key = derived('gateway stored secrets', 32);
    this.#signingKey = derived('gateway signatures', 32);
    this.keyId = derived('gateway master key id', keyIdBytes).toString('hex');
  }

  /** Base64. The same secret is sealed differently each time. */
  seal(secret: string, place: string): string {
    const nonce = randomBytes(nonceBytes);
    const head = Buffer.concat([Uint8Array.of(layout), Buffer.from(this.keyId, 'hex')]);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.concat([head, Buffer.from(place)]));
    const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([head, nonce, cipher.getAuthTag(), body]).toString('base64');
  }

  /** Throws SETTINGS_INVALID when the master key is another one than it was sealed with, or the value was changed or moved. */
  open(sealed: string, place: string): string {
    if (sealed === absentSecret) throw fail('SETTINGS_INVALID', { reason: `the secret at ${place} is not there: it was given up or left out of a backup; store it again` });
    const keyId = keyIdOf(sealed);
    if (keyId !== undefined && keyId !== this.keyId) {
      throw fail('SETTINGS_INVALID', { reason: `the secret at ${place} cannot be opened: it was stored under another master key (${keyId}, not ${this.keyId}); start with the master key of this data directory` });
    }
    const bytes = Buffer.from(sealed, 'base64');
    const [nonceEnd, tagEnd] = [headBytes + nonceBytes, headBytes + nonceBytes + tagBytes];
    try {
      if (keyId === undefined) throw new Error('not a sealed value');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(headBytes, nonceEnd));
      decipher.setAAD(Buffer.concat([bytes.subarray(0, headBytes), Buffer.from(place)]));
      decipher.setAuthTag(bytes.subarray(nonceEnd, tagEnd));
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8');
    } catch (thrown) {
      throw fail('SETTINGS_INVALID', { reason: `the secret at ${place} cannot be opened: the stored value was changed or moved; restore it from a backup, or store the secret again` }, thrown);
    }
  }

  /** A signature that is good for one purpose, in base64url: of what goes out and comes back, such as a link. */
  sign(purpose: string, text: string): string {
    return createHmac('sha256', this.#signingKey).update(`${purpose.length}:${purpose}${text}`).digest('base64url');
  }

  /** Takes the same time whatever is wrong with it. */
  isSigned(purpose: string, text: string, signature: string): boolean {
    const [right, given] = [Buffer.from(this.sign(purpose, text)), Buffer.from(signature)];
    return right.length === given.length && timingSafeEqual(right, given);
  }

  [inspect.custom](): string {
    return '[sealer]';
  }
}

/** The id of the master key that this was sealed under; undefined: it is not a sealed value. */
export function keyIdOf(sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  return bytes[0] !== layout || bytes.length < headBytes + nonceBytes + tagBytes ? undefined : bytes.toString('hex', 1, headBytes);
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
