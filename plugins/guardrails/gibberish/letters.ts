/** The blank before a word, and 26 letters. */
export const symbolCount = 27;
export const rowLength = symbolCount * symbolCount;

const tableLength = 0x250;

/** 1 to 26 for a Latin letter, its marks left off; 0 for anything else. */
export function letterOf(code: number): number {
  if (code < tableLength) return table[code] ?? 0;
  return code >= 0x1e00 && code < 0x1f00 ? folded(code) : 0;
}

/** The letters of a word. */
export const foldedWord = (word: string): number[] => Array.from(word, (character) => letterOf(character.charCodeAt(0)));

function folded(code: number): number {
  const letter = String.fromCharCode(code).normalize('NFKD').toLowerCase().charCodeAt(0) - 0x60;
  return letter >= 1 && letter <= 26 ? letter : 0;
}

/** Letters that Unicode does not take apart. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 's', ø: 'o', Ø: 'o', ł: 'l', Ł: 'l', æ: 'a', Æ: 'a', œ: 'o', đ: 'd', Đ: 'd', ð: 'd', þ: 't', ı: 'i', ə: 'e', ŋ: 'n',
};

function letterTable(): Uint8Array {
  const letters = new Uint8Array(tableLength);
  for (let code = 0x41; code < tableLength; code += 1) if (/\p{L}/u.test(String.fromCharCode(code))) letters[code] = folded(code);
  for (const [character, letter] of Object.entries(plainLetters)) {
    letters[character.charCodeAt(0)] = letter.charCodeAt(0) - 0x60;
  }
  return letters;
}

const table = letterTable();
