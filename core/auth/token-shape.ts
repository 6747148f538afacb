// Hot: runs for each call.
// What a token (JWT) looks like, so that it is told from a key without being read: three parts in base64url, of which the first begins as every
// JSON object does.

export const tokenBeginning = 'eyJ';
export const tokenCharsMax = 8_192;
const shape = /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const inText = /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/y;

/** Longer ones look like tokens, too: they are refused as such. */
export const looksLikeToken = (text: string): boolean => text.startsWith(tokenBeginning) && shape.test(text);

/** What could be a token from `index` on; empty: nothing. */
export function tokenAt(text: string, index: number): string {
  inText.lastIndex = index;
  return inText.exec(text)?.[0] ?? '';
}
