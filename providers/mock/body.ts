// Reading request bodies. The proxy route brings bodies that nobody checked, so nothing is taken for granted here.

import { isObject } from '@gateway/plugin-sdk';

export type Body = Readonly<Record<string, unknown>>;

/** The JSON object of a request; undefined when it is none. */
export function parseBody(bytes: Uint8Array | undefined): Body | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    // The caller answers for it.
    return undefined;
  }
}

/** A count such as `n`: 1 when absent, -1 when it is not a whole number from 1 to `maximum`. */
export function countIn(value: unknown, maximum: number): number {
  if (value === undefined || value === null) return 1;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maximum ? value : -1;
}

/** About four characters to a token, and at least one for any text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4);

/** The text of a message's content, whether a string or parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

export const idFor = (kind: string): string => `${kind}-mock-${Math.random().toString(36).slice(2, 12)}`;

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
