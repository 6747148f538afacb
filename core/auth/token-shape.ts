// Hot: runs for each call.
// The shape of a token (JWT), by which it is told from a key without being parsed: three parts in base64url, of which the first begins as every
// encoded JSON object does.

export const tokenBeginning = 'eyJ';
export const tokenCharsMax = 8_192;
const shape = /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const inText = /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/y;

/** Longer texts are recognised as tokens too, and refused with an error about tokens. */
export const looksLikeToken = (text: string): boolean => text.startsWith(tokenBeginning) && shape.test(text);

/** The text from `index` on that may be a token; empty: none. */
export function tokenAt(text: string, index: number): string {
  inText.lastIndex = index;
  return inText.exec(text)?.[0] ?? '';
}
