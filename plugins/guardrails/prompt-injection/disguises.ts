import { rot13, type Scan } from './concept-scan.js';
import { concept } from './lexicon.js';

/** A text behind the text: how it was hidden, and what it reads like without that. */
export interface Disguise {
  readonly name: string;
  readonly text: string;
  /** Weight of the disguise itself, when what it hid is of no interest. */
  readonly weight: number;
}

/** Longest run that is decoded, and how many of them. */
const runLengthMax = 16_384;
const runsMax = 20;

/** Cyrillic and Greek letters that look like Latin ones. */
const lookalikes = new Map(Object.entries({
  а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', х: 'x', у: 'y', і: 'i', ј: 'j', ѕ: 's',
  ԁ: 'd', һ: 'h', ԛ: 'q', ԝ: 'w', к: 'k', м: 'm', т: 't', в: 'b', н: 'h', ӏ: 'l', г: 'r', п: 'n',
  А: 'A', В: 'B', Е: 'E', К: 'K', М: 'M', Н: 'H', О: 'O', Р: 'P', С: 'C', Т: 'T', Х: 'X', У: 'Y', І: 'I', Ј: 'J', Ѕ: 'S',
  α: 'a', ε: 'e', ι: 'i', ο: 'o', ρ: 'p', υ: 'u', ν: 'v', κ: 'k', τ: 't', χ: 'x', γ: 'y', η: 'n', σ: 'o', ω: 'w',
  Α: 'A', Β: 'B', Ε: 'E', Ζ: 'Z', Η: 'H', Ι: 'I', Κ: 'K', Μ: 'M', Ν: 'N', Ο: 'O', Ρ: 'P', Τ: 'T', Υ: 'Y', Χ: 'X',
}));

const leetLetters = new Map(Object.entries({ 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b', 9: 'g' }));

const invisible = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/g;
/** Between two Latin letters nothing invisible has a purpose. */
const invisibleInWord = /[a-z][\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]{1,8}[a-z]/gi;
const styled = /[\uff01-\uff5e\u2100-\u214f\u2460-\u24ff]|\ud835[\udc00-\udfff]|\ud83c[\udd30-\udd89]/;

/** What the scan's suspicions turn out to be. */
export function disguisesOf(text: string, found: Scan): Disguise[] {
  const disguises: Disguise[] = [];
  if (found.isStrange) {
    const tagged = taggedText(text);
    if (tagged.length >= 4) disguises.push({ name: 'tagCharacters', text: tagged, weight: 0.6 });
    const inWords = text.match(invisibleInWord)?.length ?? 0;
    if (inWords > 0) disguises.push({ name: 'invisibleCharacters', text: text.replace(invisible, ''), weight: inWords >= 3 ? 0.3 : 0.1 });
    if (styled.test(text)) disguises.push({ name: 'styledLetters', text: text.normalize('NFKC'), weight: 0 });
    if (/[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]/i.test(text)) {
      const plain = text.replace(/[\u0370-\u052f]/g, (letter) => lookalikes.get(letter) ?? letter);
      disguises.push({ name: 'lookalikeLetters', text: plain, weight: 0.1 });
    }
  }
  if (found.isSpaced) {
    const joined = joinedLetters(text);
    if (joined !== '') disguises.push({ name: 'spacedLetters', text: joined, weight: 0 });
  }
  if (found.isMixed && text.length <= runLengthMax) {
    const plain = text.replace(/[a-z0-9]*[a-z][a-z0-9]*/gi, (word) => (/[0-9]/.test(word) ? word.replace(/[01345789]/g, (figure) => leetLetters.get(figure) ?? figure) : word));
    if (plain !== text) disguises.push({ name: 'digitsForLetters', text: plain, weight: 0 });
  }
  if ((found.concepts & concept.mirrored) !== 0 && text.length <= runLengthMax) {
    disguises.push({ name: 'rot13', text: rot13(text), weight: 0 }, { name: 'backwards', text: Array.from(text).reverse().join(''), weight: 0 });
  }
  if (found.hasLongRun) disguises.push(...encodedTexts(text));
  return disguises;
}

/** The ASCII text in tag characters. Flags of regions are tags behind a black flag, and no text. */
function taggedText(text: string): string {
  if (!text.includes('\udb40')) return '';
  const withoutFlags = text.replace(/\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{1,6}\u{e007f}/gu, '');
  let read = '';
  for (const [tag] of withoutFlags.matchAll(/[\u{e0020}-\u{e007e}]/gu)) read += String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000);
  return read;
}

/**
 * "i g n o r e   a l l" read as "ignore all". Wider gaps, or spaces when the letters are joined by hyphens or dots, divide words; without them
 * the words are unknown and the letters are read as one.
 */
function joinedLetters(text: string): string {
  const joined: string[] = [];
  for (const [run] of text.matchAll(/(?<![\p{L}\p{N}])\p{L}(?:[ \t.\-_*|]{1,4}\p{L}(?![\p{L}\p{N}])){5,2000}/gu)) {
    const gap = /[.\-_*|]/.test(run) ? /[ \t]{1,4}/ : /[ \t]{2,4}/;
    joined.push(run.split(gap).map((word) => word.replace(/[ \t.\-_*|]/g, '')).join(' '));
  }
  return joined.join('\n');
}

function encodedTexts(text: string): Disguise[] {
  const disguises: Disguise[] = [];
  let runs = 0;
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{24,16384}={0,2}/g)) {
    if ((runs += 1) > runsMax) break;
    if (run.length % 2 === 0 && /^[0-9a-f]+$/i.test(run)) {
      const decoded = readable(Buffer.from(run, 'hex'));
      if (decoded !== undefined) disguises.push({ name: 'hex', text: decoded, weight: 0 });
    } else {
      const decoded = readable(Buffer.from(run, 'base64'));
      if (decoded !== undefined) disguises.push({ name: 'base64', text: decoded, weight: 0 });
    }
  }
  return disguises;
}

/** Text, if the bytes are one: valid UTF-8 with hardly anything but letters, blanks and punctuation. */
function readable(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd')) return undefined;
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x20 ? code !== 0x7f : code === 0x0a || code === 0x0d || code === 0x09) plain += 1;
  }
  return text.length >= 12 && plain / text.length > 0.95 ? text : undefined;
}
