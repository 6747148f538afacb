// Text in slices as a model might have sent it: many small ones would cost every client an event each, one big one looks like no stream.

import { isObject, type Json } from '@gateway/plugin-sdk';

export const sliceLength = 500;

/** Slices of at most `length` UTF-16 code units that never part a surrogate pair; none for an empty text. */
export function* slices(text: string, length = sliceLength): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = start + length;
    if (end < text.length && partsPair(text, end)) end -= 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** Text together with the log probabilities of its tokens. */
export interface TokenSlice {
  readonly text: string;
  readonly tokens: readonly Json[];
}

/**
 * Slices that end where tokens end, each with its tokens. Tokens that do not spell the text (they are bytes, or it was changed) all
 * come with the first slice.
 */
export function* tokenSlices(text: string, tokens: readonly Json[], tokenText: (token: Json) => string | undefined = textOfToken): Generator<TokenSlice> {
  const grouped = groups(text, tokens, tokenText);
  if (grouped !== null) {
    yield* grouped;
    return;
  }
  let rest = tokens;
  for (const slice of slices(text)) {
    yield { text: slice, tokens: rest };
    rest = [];
  }
  if (rest.length > 0) yield { text: '', tokens: rest };
}

const textOfToken = (token: Json): string | undefined => (isObject(token) && typeof token.token === 'string' ? token.token : undefined);

/** Null: the tokens are not the text in pieces. */
function groups(text: string, tokens: readonly Json[], tokenText: (token: Json) => string | undefined): TokenSlice[] | null {
  if (tokens.length === 0) return text === '' ? [] : null;
  const list: TokenSlice[] = [];
  let start = 0;
  let end = 0;
  let first = 0;
  for (const [index, token] of tokens.entries()) {
    const piece = tokenText(token);
    if (piece === undefined || piece.length > sliceLength || !text.startsWith(piece, end)) return null;
    if (end + piece.length - start > sliceLength) {
      if (partsPair(text, end)) return null;
      list.push({ text: text.slice(start, end), tokens: tokens.slice(first, index) });
      start = end;
      first = index;
    }
    end += piece.length;
  }
  if (end !== text.length) return null;
  list.push({ text: text.slice(start), tokens: tokens.slice(first) });
  return list;
}

function partsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
