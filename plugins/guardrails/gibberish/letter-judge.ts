import { letterModel } from './letter-model.js';
import { letterOf, symbolCount } from './letters.js';

export interface LetterJudgement {
  /** 0: every day's words; 1: no language is written like this. Absent when there is too little to judge. */
  readonly score?: number;
  /** Latin letters in words that were judged. */
  readonly letters: number;
}

/** Fewer letters than this are a name, an abbreviation, a greeting. */
export const lettersMin = 12;

/** Mean surprise for a letter, in half bits: below the first no text is gibberish, above the second every one is. */
const surpriseOfProse = 7;
const surpriseOfMash = 17;

/** Words of repeated syllables count as surprising as this. */
const repeatedSurprise = 24;
const repeatedLengthMin = 9;
/** The beginning of a longer word tells. */
const repeatedLengthMax = 200;
const periodMax = 6;

const surprises = Uint8Array.from(letterModel, (character) => character.charCodeAt(0) - 0x30);

/** A token that is a word: letters with apostrophes and hyphens between them, and punctuation around. Everything else is code, a number, an address, a name of a file. */
export function judgeLetters(text: string): LetterJudgement {
  let sum = 0;
  let letters = 0;
  let foreign = 0;
  let others = 0;
  const { length } = text;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (isBlank(code)) {
      at += 1;
      continue;
    }
    // One token, up to the next blank.
    let first = 0;
    let second = 0;
    let wordSum = 0;
    let wordLetters = 0;
    let isWord = true;
    let hasLower = false;
    let uppers = 0;
    let isBroken = false;
    let foreignHere = 0;
    const from = at;
    for (; at < length; at += 1) {
      const here = text.charCodeAt(at);
      if (isBlank(here)) break;
      const letter = letterOf(here);
      if (letter !== 0) {
        if (isBroken) isWord = false;
        const isUpper = here >= 0x41 && here <= 0x5a;
        // A capital behind a small letter is a name in code.
        if (isUpper && hasLower) isWord = false;
        if (isUpper) uppers += 1;
        else hasLower = true;
        wordSum += surprises[(first * symbolCount + second) * symbolCount + letter] ?? 0;
        wordLetters += 1;
        first = second;
        second = letter;
      } else if (here === 0x27 || here === 0x2019 || here === 0x2d) {
        first = 0;
        second = 0;
        hasLower = false;
      } else if (here >= 0x250) foreignHere += 1;
      else if (isCodeCharacter(here)) isWord = false;
      // Behind a comma or a bracket no letter follows in prose, before one it may.
      else if (wordLetters > 0) isBroken = true;
    }
    foreign += foreignHere;
    if (!isWord || foreignHere > 0) {
      others += at - from;
      continue;
    }
    if (wordLetters < 3 || (uppers === wordLetters && wordLetters <= abbreviationLengthMax)) continue;
    letters += wordLetters;
    sum += wordLetters >= repeatedLengthMin && isRepeated(text.slice(from, Math.min(at, from + repeatedLengthMax))) ? repeatedSurprise * wordLetters : wordSum;
  }
  // Mostly another script, or mostly code: the few words between are not a text of their own.
  if (letters < lettersMin || foreign > letters || others > letters * 1.5) return { letters };
  return { letters, score: Math.round(1000 * Math.min(1, Math.max(0, (sum / letters - surpriseOfProse) / (surpriseOfMash - surpriseOfProse)))) / 1000 };
}

const abbreviationLengthMax = 4;

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;

/** Digits and the signs of code, paths and addresses: `# $ % & * + / 0-9 < = > @ \ ^ _ { | } ~` and backquote. */
const codeCharacters = new Uint8Array(0x250);
for (const character of '#$%&*+/0123456789<=>@\\^_{|}~`') codeCharacters[character.charCodeAt(0)] = 1;
const isCodeCharacter = (code: number): boolean => codeCharacters[code] === 1;

/** The same few letters again and again, at least three times. */
function isRepeated(token: string): boolean {
  const word = token.toLowerCase();
  for (let period = 1; period <= periodMax && period * 3 <= word.length; period += 1) {
    let same = 0;
    for (let at = period; at < word.length; at += 1) if (word.charCodeAt(at) === word.charCodeAt(at - period)) same += 1;
    if (same >= (word.length - period) * 0.95 - 0.5) return true;
  }
  return false;
}
