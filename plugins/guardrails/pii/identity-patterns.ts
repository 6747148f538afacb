// Numbers that a state gives to a person or a vehicle, with the check digits that the state uses. Where a format is nothing but digits, a word
// before it has to say what it is.

import type { Recogniser } from '../common/spans/recogniser.js';
import { codiceFiscale, cpf, digitsOf, luhn, mod1110, verhoeff, vin, weightedSum } from './checksum.js';

const whole = (isValid: boolean, found: string): number => (isValid ? found.length : 0);
const isOneDigit = (digits: string): boolean => /^(\d)\1*$/.test(digits);

const ssnWords = /(?:(?<![a-z0-9])ssn(?![a-z0-9])|social security)[^\d]{0,24}$/i;

export const identityNumbers: readonly Recogniser[] = [
  // Areas 000, 666 and from 900 on are not given, nor are a group 00 and a serial 0000.
  { category: 'SSN', rank: 3, digitsMin: 9, pattern: /(?<![A-Za-z0-9+]|\d\.|\+\d{1,3}[ -])(?!000|666|9)\d{3}[-\u2010-\u2015](?!00)\d{2}[-\u2010-\u2015](?!0000)\d{4}(?![A-Za-z0-9]|\.\d)/g },
  { category: 'SSN', rank: 3, digitsMin: 9, context: ssnWords, pattern: /(?<![A-Za-z0-9+]|\d\.)(?!000|666|9)\d{3}([ .]?)(?!00)\d{2}\1(?!0000)\d{4}(?![A-Za-z0-9]|\.\d)/g },

  {
    category: 'UK_NHS',
    rank: 3,
    digitsMin: 10,
    context: /(?:(?<![a-z0-9])nhs(?![a-z0-9])|national health|health service)[^\d]{0,24}$/i,
    pattern: /(?<![A-Za-z0-9+]|\d\.)\d{3}([ -]?)\d{3}\1\d{4}(?![A-Za-z0-9]|\.\d)/g,
    accept(found) {
      const digits = digitsOf(found);
      const check = (11 - (weightedSum(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
      return whole(!isOneDigit(digits) && check === Number(digits.slice(9)), found);
    },
  },
  { category: 'UK_NINO', rank: 3, digitsMin: 6, pattern: /(?<![A-Za-z0-9])(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?)\d{2}\1\d{2}\1\d{2}\1[A-D](?![A-Za-z0-9])/g },

  {
    category: 'DE_TAX_ID',
    rank: 3,
    digitsMin: 11,
    context: /(?:steuer|(?<![a-z0-9])idnr(?![a-z0-9])|(?<![a-z0-9])tin(?![a-z0-9])|tax (?:id|number|identification)|(?<![a-z0-9])tax-id)[^\d]{0,32}$/i,
    pattern: /(?<![A-Za-z0-9+]|\d\.)[1-9]\d(?:\d{9}| \d{3} \d{3} \d{3})(?![A-Za-z0-9]|\.\d)/g,
    accept(found) {
      const digits = digitsOf(found);
      // Of the first ten digits one comes two or three times, and the others once at most.
      const most = Math.max(...'0123456789'.split('').map((digit) => digits.slice(0, 10).split(digit).length - 1));
      return whole((most === 2 || most === 3) && mod1110(digits), found);
    },
  },
  {
    category: 'FR_INSEE',
    rank: 3,
    digitsMin: 13,
    pattern: /(?<![A-Za-z0-9+]|\d\.)[12]([ .]?)\d{2}\1(?:0[1-9]|1[0-2]|[2-9]\d)\1(?:\d{2}|2[AB])\1\d{3}\1\d{3}[ .]?\d{2}(?![A-Za-z0-9]|\.\d)/g,
    accept(found) {
      const plain = found.replace(/[ .]/g, '');
      // Corsica counts as 19 and 18 instead of 2A and 2B.
      const number = BigInt(plain.slice(0, 13).replace('2A', '19').replace('2B', '18'));
      return whole(97n - (number % 97n) === BigInt(plain.slice(13)), found);
    },
  },
  {
    category: 'ES_DNI',
    rank: 3,
    digitsMin: 7,
    pattern: /(?<![A-Za-z0-9+]|\d\.)(?:\d{8}|[XYZ][ -]?\d{7})[ -]?[A-HJ-NP-TV-Z](?![A-Za-z0-9])/g,
    accept(found) {
      const plain = found.replace(/[ -]/g, '');
      const number = Number(plain.slice(0, 8).replace('X', '0').replace('Y', '1').replace('Z', '2'));
      return whole('TRWAGMYFPDXBNJZSQVHLCKE'.charAt(number % 23) === plain.charAt(8), found);
    },
  },
  {
    category: 'IT_CODICE_FISCALE',
    rank: 3,
    digitsMin: 1,
    charsMin: 16,
    pattern: /(?<![A-Za-z0-9])[A-Za-z]{6}[0-9LMNPQRSTUVlmnpqrstuv]{2}[ABCDEHLMPRSTabcdehlmprst][0-9LMNPQRSTUVlmnpqrstuv]{2}[A-Za-z][0-9LMNPQRSTUVlmnpqrstuv]{3}[A-Za-z](?![A-Za-z0-9])/g,
    accept: (found) => whole(codiceFiscale(found.toUpperCase()), found),
  },
  { category: 'BR_CPF', rank: 3, digitsMin: 11, pattern: /(?<![A-Za-z0-9+]|\d\.)\d{3}\.\d{3}\.\d{3}-\d{2}(?![A-Za-z0-9]|\.\d)/g, accept: (found) => whole(cpf(digitsOf(found)), found) },
  { category: 'BR_CPF', rank: 3, digitsMin: 11, context: /(?<![a-z0-9])cpf(?![a-z0-9])[^\d]{0,24}$/i, pattern: /(?<![A-Za-z0-9+]|\d\.)\d{9}-?\d{2}(?![A-Za-z0-9]|\.\d)/g, accept: (found) => whole(cpf(digitsOf(found)), found) },
  { category: 'IN_AADHAAR', rank: 2, digitsMin: 12, pattern: /(?<![A-Za-z0-9+]|\d\.|(?<!\d)\d{4}[ -])[2-9]\d{3}([ -])\d{4}\1\d{4}(?![A-Za-z0-9]|\.\d|\1\d{4}(?!\d))/g, accept: (found) => whole(verhoeff(digitsOf(found)), found) },
  { category: 'IN_AADHAAR', rank: 3, digitsMin: 12, context: /(?:a[ad]dh?aa?r|(?<![a-z0-9])uidai(?![a-z0-9])|(?<![a-z0-9])uid(?![a-z0-9]))[^\d]{0,24}$/i, pattern: /(?<![A-Za-z0-9+]|\d\.)[2-9]\d{11}(?![A-Za-z0-9]|\.\d)/g, accept: (found) => whole(verhoeff(found), found) },
  // The fourth letter is the kind of holder.
  { category: 'IN_PAN', rank: 2, digitsMin: 4, capitalsMin: 6, charsMin: 10, pattern: /(?<![A-Za-z0-9_-])[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z](?![A-Za-z0-9_-])/g },
  {
    category: 'CA_SIN',
    rank: 3,
    digitsMin: 9,
    context: /(?:(?<![a-z0-9])sin(?![a-z0-9])|social insurance|(?<![a-z0-9])nas(?![a-z0-9])|assurance sociale)[^\d]{0,24}$/i,
    pattern: /(?<![A-Za-z0-9+]|\d\.)[1-79]\d{2}([ -]?)\d{3}\1\d{3}(?![A-Za-z0-9]|\.\d)/g,
    accept: (found) => whole(luhn(digitsOf(found)), found),
  },
  {
    category: 'AU_TFN',
    rank: 3,
    digitsMin: 8,
    context: /(?:(?<![a-z0-9])tfn(?![a-z0-9])|tax file)[^\d]{0,24}$/i,
    pattern: /(?<![A-Za-z0-9+]|\d\.)\d{3}([ -]?)\d{3}\1\d{2,3}(?![A-Za-z0-9]|\.\d)/g,
    accept(found) {
      const digits = digitsOf(found);
      const weights = digits.length === 9 ? [1, 4, 3, 7, 5, 8, 6, 9, 10] : [10, 7, 8, 4, 6, 3, 5, 1];
      return whole(!isOneDigit(digits) && weightedSum(digits, weights) % 11 === 0, found);
    },
  },
  {
    category: 'VIN',
    rank: 2,
    digitsMin: 3,
    capitalsMin: 1,
    charsMin: 17,
    pattern: /(?<![A-Za-z0-9])(?=[A-HJ-NPR-Z0-9]{0,16}[A-Z])[A-HJ-NPR-Z0-9]{13}\d{4}(?![A-Za-z0-9])/g,
    // Cars made for other parts of the world have no check digit: there a word has to say it.
    accept: (found, before) => whole(vin(found) || /(?:(?<![a-z0-9])vin(?![a-z0-9])|vehicle id|chassis|fahrgestell|(?<![a-z0-9])fin(?![a-z0-9]))[^\d]{0,16}$/i.test(before), found),
  },
  {
    category: 'PASSPORT',
    rank: 2,
    digitsMin: 6,
    context: /(?:passport|passeport|reisepass|pasaporte|passaporto)[^\d]{0,24}$/i,
    pattern: /(?<![A-Za-z0-9+]|\d\.)(?:[A-Z]{1,2} ?\d{6,8}[A-Z]?|\d{8,9}|\d{2}[A-Z]{2}\d{5}|[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8})(?![A-Za-z0-9]|\.\d)/g,
    accept: (found) => whole(/\d/.test(found), found),
  },
];

const birthWords = /(?:(?<![a-z0-9])born(?![a-z0-9])|(?<![a-z0-9])birth(?:day|date)?(?![a-z0-9])|birth_?date|(?<![a-z0-9])d\.?o\.?b(?![a-z0-9])\.?|date_?of_?birth|geboren|geburtsdatum|naissance|(?<![a-z0-9])n[ée]e? le|nacimiento|nacid[oa]|nascimento|nascita)[^\d]{0,20}$/i;
const monthWord = '(?:[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|[Mm]ay|[Jj]une?|[Jj]uly?|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\\.?';
const yearWord = '(?:19|20)\\d{2}';
const dayWord = '(?:0?[1-9]|[12]\\d|3[01])';

export const dateOfBirth: Recogniser = {
  category: 'DATE_OF_BIRTH',
  rank: 3,
  digitsMin: 4,
  charsMin: 6,
  context: birthWords,
  pattern: new RegExp(`(?<![\\w.+/-])(?:${yearWord}[-/.](?:0?[1-9]|1[0-2])[-/.]${dayWord}|${dayWord}[-/.]${dayWord}[-/.](?:${yearWord}|\\d{2})|${dayWord}(?:st|nd|rd|th|\\.)? ${monthWord},? ${yearWord}|${monthWord} ${dayWord}(?:st|nd|rd|th)?,? ${yearWord})(?!\\w|[-/.]\\d)`, 'g'),
};
