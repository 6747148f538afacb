// Hot: runs for each header of an answer.
// Lower-case names of headers from their bytes. Names that came before are found by a hash over the bytes and compared with them, so that no
// string is made for them; the table has one place for each hash, so that its size is bounded and new names take the place of old ones.

/** The byte of a header name in lower case; 0: no name may hold it (RFC 9110, section 5.6.2). */
export const nameBytes = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") nameBytes[character.charCodeAt(0)] = character.charCodeAt(0);
for (let byte = 0x41; byte <= 0x5a; byte += 1) nameBytes[byte] = byte + 0x20;

const slotCount = 1024;
/** Longer names are made anew each time. */
const nameBytesMax = 64;
const names: string[] = new Array<string>(slotCount).fill('');
const isPinned = new Uint8Array(slotCount);

export const hashStart = 7;
export const hashStep = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0;

// What nearly every answer has is never displaced.
for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'content-type', 'content-encoding', 'date', 'server', 'set-cookie', 'cache-control', 'vary', 'x-request-id',
  'retry-after', 'strict-transport-security', 'access-control-expose-headers', 'cf-ray', 'cf-cache-status', 'alt-svc', 'via', 'x-content-type-options', 'openai-version', 'openai-organization', 'openai-processing-ms']) {
  let hash = hashStart;
  for (let index = 0; index < name.length; index += 1) hash = hashStep(hash, name.charCodeAt(index));
  names[hash & (slotCount - 1)] = name;
  isPinned[hash & (slotCount - 1)] = 1;
}

/** `hash`: of the lower-case bytes from `from` to `to`, all of which `nameBytes` lets pass. */
export function headerName(bytes: Buffer, from: number, to: number, hash: number): string {
  const slot = hash & (slotCount - 1);
  const known = names[slot] as string;
  if (known.length === to - from) {
    let index = 0;
    while (from + index < to && nameBytes[bytes[from + index] as number] === known.charCodeAt(index)) index += 1;
    if (from + index === to) return known;
  }
  const name = bytes.toString('latin1', from, to).toLowerCase();
  if (isPinned[slot] === 0 && name.length <= nameBytesMax) names[slot] = name;
  return name;
}
