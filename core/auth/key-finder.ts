// Hot: runs for each call.
// Finds our own keys in texts that are about to travel. Keys are known by their hashes alone, so a text is looked through for what begins like
// one of them, and only that is hashed: in an ordinary call nothing. Allocates nothing while nothing begins like a key.

import { givenKeyCharsMin, hashKey, keyCharsMax } from './key.js';
import type { KeyLookup } from './principal.js';
import { tokenAt, tokenBeginning, tokenCharsMax } from './token-shape.js';
import type { Tokens } from './tokens.js';

/** A text with more candidates than this counts as one with a key, since only an attack has so many. */
const hashesMax = 32;
/** Levels of percent-encoding that are undone. */
const decodingsMax = 3;
/** The characters of credentials in headers (token68, RFC 9110, section 11.2). */
const tokenChars = /[A-Za-z0-9._~+/=-]*/y;
const generatedKey = /gw_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/y;
/** The same without the characters that separate parts of a path or a form. */
const plainChars = /[A-Za-z0-9._~-]*/y;
const visibleChars = /[\x21-\x7e]*/y;

export class KeyFinder {
  readonly #lookup: KeyLookup;
  readonly #tokens: Tokens | null;

  /** `tokens` null: none are taken in place of keys. */
  constructor(lookup: KeyLookup, tokens: Tokens | null = null) {
    this.#lookup = lookup;
    this.#tokens = tokens;
  }

  /** One of our keys, or a token that was taken for one, stands in `text`, alone or among other things, plain, percent-encoded or as part of Basic credentials. */
  isIn(text: string): boolean {
    if (text.length < givenKeyCharsMin) return false;
    if (this.#isPlainIn(text)) return true;
    let inner = text;
    for (let times = 0; times < decodingsMax && inner.includes('%'); times += 1) {
      inner = decoded(inner);
      if (this.#isPlainIn(inner)) return true;
    }
    const first = text.charCodeAt(0) | 32;
    return first === 98 /* b */ && /^basic\s/i.test(text) && this.#isPlainIn(Buffer.from(text.slice(6).trim(), 'base64').toString('latin1'));
  }

  /** `query` without the members that hold one of our keys. */
  queryWithout(query: string): string {
    return query.length < givenKeyCharsMin ? query : query.split('&').filter((member) => !this.isIn(member)).join('&');
  }

  #isPlainIn(text: string): boolean {
    let hashes = 0;
    for (const beginning of this.#lookup.keyBeginnings()) {
      for (let index = text.indexOf(beginning); index !== -1; index = text.indexOf(beginning, index + 1)) {
        if (index > 0 && isWordChar(text.charCodeAt(index - 1))) continue;
        if (!this.#lookup.mayBeKey(text.slice(index, index + givenKeyCharsMin))) continue;
        for (const candidate of candidatesAt(text, index)) {
          hashes += 1;
          if (hashes > hashesMax || this.#lookup.principalByKeyHash(hashKey(candidate)) !== undefined) return true;
        }
      }
    }
    return this.#tokens !== null && this.#holdsToken(text, this.#tokens);
  }

  #holdsToken(text: string, tokens: Tokens): boolean {
    let hashes = 0;
    for (let index = text.indexOf(tokenBeginning); index !== -1; index = text.indexOf(tokenBeginning, index + 1)) {
      if (index > 0 && isWordChar(text.charCodeAt(index - 1))) continue;
      const candidate = tokenAt(text, index);
      if (candidate === '' || candidate.length > tokenCharsMax) continue;
      hashes += 1;
      if (hashes > hashesMax || tokens.knows(hashKey(candidate))) return true;
    }
    return false;
  }
}

/** Characters of generated keys; no key begins right after one of them. */
const isWordChar = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 45;

/** The texts from `index` on that may be a whole key. There are several, since a key that the operator chose may end anywhere. */
function candidatesAt(text: string, index: number): ReadonlySet<string> {
  const visible = matchAt(visibleChars, text, index);
  const candidates = new Set([matchAt(generatedKey, text, index), matchAt(plainChars, text, index), matchAt(tokenChars, text, index), visible, visible.replace(/[,;.:"'>)\]}]+$/, '')]);
  for (const candidate of candidates) if (candidate.length < givenKeyCharsMin || candidate.length > keyCharsMax) candidates.delete(candidate);
  return candidates;
}

function matchAt(pattern: RegExp, text: string, index: number): string {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0] ?? '';
}

function decoded(text: string): string {
  // As Latin-1: keys are ASCII, and bytes that are not UTF-8 have to be searched as well.
  return text.replace(/%([0-9a-f]{2})/gi, (_, hexadecimal: string) => String.fromCharCode(Number.parseInt(hexadecimal, 16)));
}
