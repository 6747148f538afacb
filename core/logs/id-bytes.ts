// Hot: runs for each call.
// Ids as bytes: UUIDs and hex in lower case. What is written otherwise is no such id here, so that every id is read as it was.

const hex = new Uint8Array(256).fill(0xff);
for (let digit = 0; digit < 16; digit += 1) hex[digit.toString(16).charCodeAt(0)] = digit;

/** False when `id` is not `count` bytes in hex; something may be written then. */
export function packHex(bytes: Uint8Array, at: number, id: string, count: number): boolean {
  return id.length === count * 2 && pack(bytes, at, id, 0, count);
}

/** False when `id` is not a UUID in lower case; something may be written then. */
export function packUuid(bytes: Uint8Array, at: number, id: string): boolean {
  const dash = 45;
  return id.length === 36
    && id.charCodeAt(8) === dash && id.charCodeAt(13) === dash && id.charCodeAt(18) === dash && id.charCodeAt(23) === dash
    && pack(bytes, at, id, 0, 4) && pack(bytes, at + 4, id, 9, 2) && pack(bytes, at + 6, id, 14, 2) && pack(bytes, at + 8, id, 19, 2) && pack(bytes, at + 10, id, 24, 6);
}

function pack(bytes: Uint8Array, at: number, text: string, from: number, count: number): boolean {
  let codes = 0;
  let digits = 0;
  for (let index = 0; index < count; index += 1) {
    const left = text.charCodeAt(from + index * 2);
    const right = text.charCodeAt(from + index * 2 + 1);
    const high = hex[left & 0xff] as number;
    const low = hex[right & 0xff] as number;
    codes |= left | right;
    digits |= high | low;
    bytes[at + index] = (high << 4) | low;
  }
  return codes < 128 && digits < 16;
}

const digits = Buffer.from('0123456789abcdef');
/** Read by one thread: the text is made in one piece, without the pieces it would be put together from. */
const uuidText = Buffer.from('00000000-0000-0000-0000-000000000000');

export const readHex = (bytes: Buffer, at: number, count: number): string => bytes.toString('hex', at, at + count);

export function readUuid(bytes: Buffer, at: number): string {
  let to = 0;
  for (let index = 0; index < 16; index += 1) {
    // Where the dashes are.
    if (index === 4 || index === 6 || index === 8 || index === 10) to += 1;
    const byte = bytes[at + index] as number;
    uuidText[to] = digits[byte >> 4] as number;
    uuidText[to + 1] = digits[byte & 15] as number;
    to += 2;
  }
  return uuidText.toString('latin1');
}
