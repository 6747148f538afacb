// Gateway API keys: how they are made, hashed and shown. A key has 256 random bits, so a plain SHA-256 is enough (a slow password hash
// protects guessable secrets, which these are not); keys given by the operator have a least length instead.

import * as crypto from 'node:crypto';

const keyPrefix = 'gw_';
const randomBytesOfKey = 32;
const keyShape = /^gw_[A-Za-z0-9_-]{43}$/;
export const givenKeyCharsMin = 16;
export const keyCharsMax = 256;
/** Characters shown of a generated key (`gw_` and four), and of one that was given. */
const shownChars = 7;
const shownCharsGiven = 4;

export const makeKey = (): string => keyPrefix + crypto.randomBytes(randomBytesOfKey).toString('base64url');

export const looksLikeKey = (text: string): boolean => keyShape.test(text);

/** SHA-256 in lower-case hex. `crypto.hash` takes about half the time of a Hash object; Node has it from 20.12 and 21.7 on. */
export const hashKey: (key: string) => string = typeof crypto.hash === 'function'
  ? (key) => crypto.hash('sha256', key, 'hex')
  : (key) => crypto.createHash('sha256').update(key).digest('hex');

/** The part of a key that may be stored and shown; at least as long as the snapshot's filter needs. */
export const prefixOf = (key: string): string => key.slice(0, looksLikeKey(key) ? shownChars : shownCharsGiven);

/** As replies show a key: its first characters and its last four, when there are enough between them. */
export const maskedKey = (key: string): string => `${prefixOf(key)}****${key.length >= shownChars + 16 ? key.slice(-shownCharsGiven) : ''}`;
