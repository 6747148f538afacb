// Runs a few times at the end of each answer.
// Short texts that come again and again (a model, a finish reason) as the string that was made of them before: comparing bytes costs a tenth of
// making a string, and leaves no garbage.

/** Longer ones are made anew. */
const textBytesMax = 64;
/** One text for each place; another one that falls there takes it. A power of two. */
const placesMax = 256;

interface KnownText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const known: (KnownText | undefined)[] = new Array<KnownText | undefined>(placesMax).fill(undefined);

/** The bytes from `start` to before `end`, UTF-8, as text. */
export function knownText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length <= 0) return '';
  if (length > textBytesMax) return bytes.toString('utf8', start, end);
  const first = bytes[start] as number;
  const middle = bytes[start + (length >> 1)] as number;
  const last = bytes[end - 1] as number;
  const place = (length * 31 + first * 7 + middle * 13 + last) & (placesMax - 1);
  const found = known[place];
  if (found !== undefined && isSame(found.bytes, bytes, start, length)) return found.text;
  const text = bytes.toString('utf8', start, end);
  // Copied: a window would hold the whole answer.
  known[place] = { bytes: Uint8Array.prototype.slice.call(bytes, start, end), text };
  return text;
}

function isSame(one: Uint8Array, other: Uint8Array, start: number, length: number): boolean {
  if (one.length !== length) return false;
  for (let index = 0; index < length; index += 1) if (one[index] !== other[start + index]) return false;
  return true;
}
