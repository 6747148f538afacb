// All that a store holds, keys and values, as text: to look for what must not be there. Values are read as they lie and, where they hold base64 or
// packed texts, as those.

import type { Repository } from '../../core/storage/repository.js';

export async function everyByte({ store }: Repository): Promise<string> {
  const parts: string[] = [];
  for await (const { key, value } of store.range({ from: '', to: '\uffff', limit: Number.MAX_SAFE_INTEGER })) {
    const text = Buffer.from(value).toString('latin1');
    parts.push(key, text);
    for (const [encoded] of text.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)) parts.push(Buffer.from(encoded, 'base64').toString('latin1'));
  }
  return parts.join('\n');
}
