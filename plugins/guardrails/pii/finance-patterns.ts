import { createHash } from 'node:crypto';
import type { Recogniser } from '../common/spans/recogniser.js';
import { digitsOf, luhn, mod97, weightedSum } from './checksum.js';

/** Brands by their first digits, with the lengths they use. */
const cardBrands: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^(?:30[0-5]|3095|36|3[89])/, [14, 16, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 19]],
  [/^62/, [16, 17, 18, 19]],
  [/^220[0-4]/, [16, 19]],
  [/^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, [12, 13, 14, 15, 16, 17, 18, 19]],
];

const isCard = (digits: string): boolean =>
  cardBrands.some(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length)) && !/^(\d)\1+$/.test(digits) && luhn(digits);

export const creditCard: Recogniser = {
  category: 'CREDIT_CARD',
  rank: 3,
  digitsMin: 12,
  pattern: /(?<![A-Za-z0-9+]|\d\.)(?:\d{4}([ \u00a0\u2010-\u2015-])(?:\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{6}\1\d{4,5})|\d{12,19})(?![A-Za-z0-9]|\.\d)/g,
  accept(found) {
    if (isCard(digitsOf(found))) return found.length;
    // The last three digits may be the code on the back.
    return found.length === 23 && isCard(digitsOf(found.slice(0, 19))) ? 19 : 0;
  },
};

/** Lengths in the registry of ISO 13616. */
const ibanLengths: Readonly<Record<string, number>> = {
  AD: 24, AE: 23, AL: 28, AT: 20, AZ: 28, BA: 20, BE: 16, BG: 22, BH: 22, BI: 27, BR: 29, BY: 28, CH: 21, CR: 22, CY: 28, CZ: 24, DE: 22, DJ: 27, DK: 18, DO: 28,
  EE: 20, EG: 29, ES: 24, FI: 18, FK: 18, FO: 18, FR: 27, GB: 22, GE: 22, GI: 23, GL: 18, GR: 27, GT: 28, HN: 28, HR: 21, HU: 28, IE: 22, IL: 23, IQ: 23, IS: 26,
  IT: 27, JO: 30, KW: 30, KZ: 20, LB: 28, LC: 32, LI: 21, LT: 20, LU: 20, LV: 21, LY: 25, MC: 27, MD: 24, ME: 22, MK: 19, MN: 20, MR: 27, MT: 31, MU: 30, NI: 28,
  NL: 18, NO: 15, OM: 23, PK: 24, PL: 28, PS: 29, PT: 25, QA: 29, RO: 24, RS: 22, RU: 33, SA: 24, SC: 31, SD: 18, SE: 24, SI: 19, SK: 24, SM: 27, SO: 23, ST: 25,
  SV: 28, TL: 23, TN: 24, TR: 26, UA: 29, VA: 22, VG: 24, XK: 20, YE: 30,
};

export const iban: Recogniser = {
  category: 'IBAN',
  rank: 3,
  digitsMin: 8,
  pattern: /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ \u00a0-]?[A-Za-z0-9]{1,4}){3,9}/g,
  accept(found) {
    const length = ibanLengths[found.slice(0, 2).toUpperCase()];
    if (length === undefined) return 0;
    let chars = 0;
    let to = 0;
    while (to < found.length && chars < length) {
      if (/[A-Za-z0-9]/.test(found.charAt(to))) chars += 1;
      to += 1;
    }
    if (chars < length || /[A-Za-z0-9]/.test(found.charAt(to))) return 0;
    const plain = found.slice(0, to).replace(/[^A-Za-z0-9]/g, '').toUpperCase();
    return mod97(plain.slice(4) + plain.slice(0, 4)) === 1 ? to : 0;
  },
};

export const usBankRouting: Recogniser = {
  category: 'US_BANK_ROUTING',
  rank: 3,
  digitsMin: 9,
  pattern: /(?<![A-Za-z0-9]|\d\.)(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)\d{7}(?![A-Za-z0-9]|\.\d)/g,
  context: /(?:routing|(?<![a-z0-9])aba(?![a-z0-9])|(?<![a-z0-9])rtn(?![a-z0-9])|transit)[^\d]{0,24}$/i,
  accept: (found) => (weightedSum(found, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0 ? found.length : 0),
};

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** 25 bytes whose last four begin the double SHA-256 of the others. */
function isBase58Check(text: string): boolean {
  let value = 0n;
  for (const char of text) value = value * 58n + BigInt(base58.indexOf(char));
  const hex = value.toString(16).padStart(50, '0');
  if (hex.length !== 50) return false;
  const bytes = Buffer.from(hex, 'hex');
  const once = createHash('sha256').update(bytes.subarray(0, 21)).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4).equals(bytes.subarray(21));
}

const bech32Chars = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const bech32Generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** BIP 173 and BIP 350. */
function isBech32(text: string): boolean {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return false;
  let check = 1;
  const add = (value: number): void => {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    bech32Generators.forEach((generator, bit) => { if (((top >>> bit) & 1) === 1) check ^= generator; });
  };
  // The expanded prefix of "bc".
  for (const value of [3, 3, 0, 2, 3]) add(value);
  for (const char of lower.slice(3)) add(bech32Chars.indexOf(char));
  return check === 1 || check === 0x2bc830a3;
}

export const cryptoAddresses: readonly Recogniser[] = [
  { category: 'CRYPTO_ADDRESS', rank: 3, digitsMin: 1, charsMin: 26, pattern: /(?<![A-Za-z0-9])[13][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])/g, accept: (found) => (isBase58Check(found) ? found.length : 0) },
  { category: 'CRYPTO_ADDRESS', rank: 3, digitsMin: 1, charsMin: 42, pattern: /(?<![A-Za-z0-9])(?:bc1[02-9ac-hj-np-z]{39,59}|BC1[02-9AC-HJ-NP-Z]{39,59})(?![A-Za-z0-9])/g, accept: (found) => (isBech32(found) ? found.length : 0) },
  { category: 'CRYPTO_ADDRESS', rank: 3, digitsMin: 1, charsMin: 42, has: '0x', pattern: /(?<![A-Za-z0-9])0x[0-9A-Fa-f]{40}(?![A-Za-z0-9])/g, accept: (found) => (/^0x(.)\1+$/.test(found) ? 0 : found.length) },
];
