// Hot: runs for each reasoning block of an answer that is told as a response.
// What a provider wants back together with its reasoning, packed into `encrypted_content` of a reasoning item and unpacked from it when
// the client sends the item back. Not encrypted: the signatures inside are the provider's own. May not fail on content of others.

import { Buffer } from 'node:buffer';
import { isObject } from '@gateway/plugin-sdk';

export type Sealed =
  /** Of the item's summary text. */
  | { readonly type: 'signature'; readonly signature: string }
  | { readonly type: 'redacted'; readonly data: string }
  /** Of the tool call with this id. */
  | { readonly type: 'thought_signature'; readonly call_id: string; readonly signature: string };

const prefix = 'gateway.';

export const seal = (sealed: Sealed): string => prefix + Buffer.from(JSON.stringify(sealed)).toString('base64url');

/** Undefined: not made by `seal`. */
export function unseal(content: unknown): Sealed | undefined {
  if (typeof content !== 'string' || !content.startsWith(prefix)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { type, signature, data, call_id: callId } = value;
  if (type === 'signature' && typeof signature === 'string') return { type, signature };
  if (type === 'redacted' && typeof data === 'string') return { type, data };
  if (type === 'thought_signature' && typeof signature === 'string' && typeof callId === 'string') return { type, call_id: callId, signature };
  return undefined;
}
