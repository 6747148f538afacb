import { isIP } from 'node:net';
import type { CountryCode } from 'libphonenumber-js/core';
import type { Recogniser } from '../common/spans/recogniser.js';
import { digitsOf } from './checksum.js';

/** Ends of file names that look like a mail domain (`icon@2x.png`). */
const fileEnd = /\.(?:png|jpe?g|gif|svg|webp|css|js|ts|json|html?|py|md|txt|log)$/i;

export const email: Recogniser = {
  category: 'EMAIL_ADDRESS',
  rank: 3,
  has: '@',
  pattern: /(?:(?<![A-Za-z0-9._+@-])|(?<=@[A-Za-z0-9.-]{3,80}[_-]))[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9@])/g,
  accept(found, before) {
    const at = found.indexOf('@');
    const host = found.slice(at + 1);
    if (found.includes('..') || found.charAt(at - 1) === '.' || /(?:^|\.)-|-\./.test(host) || fileEnd.test(host)) return 0;
    // The user of a repository's host is nobody.
    if (found.startsWith('git@')) return 0;
    // `//user:password@host` is a URL, not an address.
    return /:\/\/[^\s/]*:?$/.test(before) ? 0 : found.length;
  },
};

/** Words that tell a number of a version or section from an address. */
const versionWords = /(?:\bv|\bver(?:sion)?|\brelease|\bbuild|\bfirmware|\bdriver|\bsection|\bchapter|\bclause|\bparagraph|§)[.:\s]*$/i;

export const ipAddresses: readonly Recogniser[] = [
  {
    category: 'IP_ADDRESS',
    rank: 2,
    digitsMin: 4,
    has: '.',
    // Behind it neither a prefix length, unless that of one address, nor what makes it a version: a pre-release, or the revision of a package.
    pattern: /(?<![A-Za-z0-9.+])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![A-Za-z0-9@+]|\.\d|\/(?!32(?!\d))\d{1,2}(?![.\d])|-\d(?![.\d])|-(?:alpha|beta|rc|pre|dev|snapshot|release|build|hotfix|patch|stable|final)(?![a-z]))/gi,
    // Addresses that say nothing about anybody: this host, loopback, netmasks and broadcast.
    accept: (found, before) => (/^(?:0|127|255)\./.test(found) || versionWords.test(before) ? 0 : found.length),
  },
  {
    category: 'IP_ADDRESS',
    rank: 2,
    charsMin: 5,
    has: ':',
    pattern: /(?<![A-Za-z0-9.]|(?<![A-Za-z0-9])[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39}(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3})?(?![A-Za-z0-9]|:[0-9A-Fa-f])/g,
    accept(found) {
      const plain = found.endsWith('::') || !found.endsWith(':') ? found : found.slice(0, -1);
      // One colon alone stands in front of many numbers, and the library's check of an address takes long.
      return plain.length > 4 && plain.indexOf(':') !== plain.lastIndexOf(':') && /\d/.test(plain) && isIP(plain) === 6 ? plain.length : 0;
    },
  },
];

export const macAddress: Recogniser = {
  category: 'MAC_ADDRESS',
  rank: 3,
  digitsMin: 1,
  charsMin: 14,
  pattern: /(?<![A-Za-z0-9.]|(?<![A-Za-z0-9])[0-9A-Fa-f]{0,2}:)(?:[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4})(?![A-Za-z0-9]|:[0-9A-Fa-f]{2}(?![0-9A-Fa-f])|\.[A-Za-z0-9])/g,
  accept: (found) => (/^(?:00|ff|[:.-])+$/i.test(found) ? 0 : found.length),
};

const phoneWords = /(?:phone|tele?(?:fon|fax)?|(?<![a-z0-9])tel|mobile?|(?<![a-z0-9])cell|(?<![a-z0-9])call(?:ed|ing)?|(?<![a-z0-9])fax|(?<![a-z0-9])text|whats ?app|(?<![a-z0-9])sms|handy|contact|hotline|reach|(?<![a-z0-9])dial|number is|rufnummer|t[ée]l[ée]phone|tel[ée]fono|m[óo]vil)(?![a-z0-9])[^\d]{0,24}$/i;
/** Words that say that a number is something else. */
const otherNumberWords = /(?:(?<![a-z0-9])(?:order|invoice|ticket|tracking|isbn|issn|part|serial|model|sku|case|ref(?:erence)?|id|version|build|commit|account|policy|batch|lot|item|code|no|nhs|ssn|routing|aba|passport|tfn|sin|vin|cpf|pmid|doi|zip|po)(?![a-z0-9])|#|[$€£¥])[^\d]{0,12}$/i;

export interface PhoneCheck {
  (number: string, country: CountryCode): boolean;
}

/** Length of the longest start of `found` that is a number, whole groups of it; 0 for none. */
function longestStart(found: string, digitsMin: number, isNumber: (start: string) => boolean): number {
  let start = found;
  for (let tries = 0; tries < groupsMax; tries += 1) {
    // A bracket that closes what stands around.
    if (start.endsWith(')') && !/\([^)]*\)$/.test(start)) start = start.slice(0, -1);
    const { length } = digitsOf(start);
    if (length < digitsMin) return 0;
    if (length <= phoneDigitsMax && isNumber(start)) return start.length;
    const shorter = start.replace(/[^\d]*\d+\)?$/, '');
    if (shorter === start) return 0;
    start = shorter;
  }
  return 0;
}

const groupsMax = 8;
/** ITU-T E.164. */
const phoneDigitsMax = 15;

/** Ten digits in groups of three, three and four. */
const northAmericanPhone: Recogniser = {
  category: 'PHONE_NUMBER',
  rank: 2,
  digitsMin: 10,
  pattern: /(?<![A-Za-z0-9.+$€£#])(?:1[ .-])?(?:\([2-9]\d{2}\)|[2-9]\d{2})[ .\u00a0\u2010-\u2015/-]{1,2}[2-9]\d{2}[ .\u00a0\u2010-\u2015-]\d{4}(?![A-Za-z0-9]|\.\d)/g,
  accept: (found, before) => (isNorthAmericanNumber(digitsOf(found)) && (phoneWords.test(before) || !otherNumberWords.test(before)) ? found.length : 0),
};

/** Numbers with a country code, national ones as `country` writes them, and plain digits behind a word such as phone. */
export function phoneNumbers(country: CountryCode, isPhone: PhoneCheck): readonly Recogniser[] {
  const isNorthAmerican = northAmerica.has(country);
  return [
    {
      category: 'PHONE_NUMBER',
      rank: 2,
      digitsMin: 8,
      has: '+',
      pattern: /(?<![A-Za-z0-9.+])\+[1-9]\d{0,3}(?:[ .\u00a0\u2010-\u2015/-]?\(?\d{1,5}\)?){1,7}(?![A-Za-z0-9])/g,
      // Of what stands behind it in groups of digits, as much as makes a number of the plan.
      accept: (found) => longestStart(found, 8, (start) => {
        const digits = digitsOf(start);
        return digits.startsWith('1') ? isNorthAmericanNumber(digits) : isPhone(start, country);
      }),
    },
    ...(isNorthAmerican ? [northAmericanPhone] : []),
    {
      category: 'PHONE_NUMBER',
      rank: 2,
      digitsMin: 7,
      pattern: /(?<![A-Za-z0-9.+/$€£#]|\d[ ](?=[1-9]))(?:(?:00[1-9]\d{0,2}|1)[ .-])?(?:\(\d{2,5}\)|\d{2,5})(?:[ .\u00a0\u2010-\u2015/-]{1,2}\d{2,5}){1,5}(?![A-Za-z0-9]|[./:]\d)/g,
      accept(found, before) {
        const digits = digitsOf(found);
        if (digits.length < 7 || digits.length > 15) return 0;
        const isAnnounced = phoneWords.test(before);
        if (!isAnnounced && otherNumberWords.test(before)) return 0;
        if (found.startsWith('00')) return longestStart(found, 9, (start) => isPhone(`+${start.slice(2)}`, country));
        if (isNorthAmerican) {
          const isWhole = /^(?:1[ .-])?\(?[2-9]\d{2}\)?[ .\u00a0\u2010-\u2015/-]{1,2}[2-9]\d{2}[ .\u00a0\u2010-\u2015-]\d{4}$/.test(found);
          if (isWhole) return 0;
          return isAnnounced && (/^[2-9]\d{2}[ .\u2010-\u2015-]\d{4}$/.test(found) || isPhone(found, country)) ? found.length : 0;
        }
        // Elsewhere a trunk prefix, brackets or a word before it tell a phone number from others.
        return isAnnounced || /^\(?0[1-9]/.test(found) ? longestStart(found, 7, (start) => isPhone(start, country)) : 0;
      },
    },
    {
      category: 'PHONE_NUMBER',
      rank: 1,
      digitsMin: 7,
      context: phoneWords,
      pattern: /(?<![A-Za-z0-9.+/$€£#])\d{7,15}(?![A-Za-z0-9]|[./:]\d)/g,
      accept: (found) => (isPhone(found, country) ? found.length : 0),
    },
  ];
}

/** The plan of country code 1: area and exchange begin with 2 to 9, and do not end in 11. Much cheaper than the library. */
const isNorthAmericanNumber = (digits: string): boolean => /^1?[2-9](?!11)\d{2}[2-9](?!11)\d{6}$/.test(digits);

const northAmerica = new Set<string>(['US', 'CA', 'PR', 'DO', 'JM', 'BS', 'BB', 'TT', 'GU', 'VI']);
