// The thought signature of a tool call, wrapped so that a client of the Messages API brings it back: the API has no member for it, but its
// clients return blocks of redacted thinking untouched. Runs once for each tool call that has one. Pure text to text.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';

const prefix = 'gateway.signature.';

/** What such a block says: the signature belongs to the tool call of this id. */
export interface CallSignature {
  readonly id: string;
  readonly signature: string;
}

export const signatureBlock = (id: string, signature: string): JsonObject => ({
  type: 'redacted_thinking',
  data: prefix + Buffer.from(JSON.stringify({ id, signature })).toString('base64url'),
});

/** Made by `signatureBlock`: no provider could read it. */
export const isSignatureData = (data: string): boolean => data.startsWith(prefix);

/** Undefined when a client has changed it. */
export function readSignature(data: string): CallSignature | undefined {
  let value: Json;
  try {
    value = JSON.parse(Buffer.from(data.slice(prefix.length), 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  return isObject(value) && typeof value.id === 'string' && typeof value.signature === 'string' ? { id: value.id, signature: value.signature } : undefined;
}
