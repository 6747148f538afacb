// Hot: runs for each call.
// Texts as bytes, the way records and dictionaries of a ring hold them: a word that says which text, how wide its characters are and how many, then
// the characters, one byte each where all are ASCII, else two. Any text comes back as it was, lone surrogates too. Nothing is allocated. What is bytes of UTF-8
// already stands as such, under a tag from `utf8Tags` on.

/** Longer texts go through the runtime: a loop costs 1.5 ns a character, a call of the runtime 50 ns (measured). */
const loopCharsMax = 24;
const wideBit = 0x80_0000;
const lengthMask = 0x7f_ffff;

/** Tags from this one on are of texts that stand as UTF-8. */
export const utf8Tags = 128;

/** What `writeText` may touch: the runtime tries UTF-8 first. */
export const textBytesMax = (text: string): number => 8 + text.length * 3;

/** Returns where the next text may begin. `at` is a multiple of four. `tag`: 0 to 127. */
export function writeText(bytes: Buffer, words: Int32Array, at: number, tag: number, text: string): number {
  const { length } = text;
  const start = at + 4;
  let end = start + length;
  let header = (tag << 24) | length;
  if (!(length <= loopCharsMax ? writeShort(bytes, start, text) : bytes.write(text, start, length * 3, 'utf8') === length)) {
    header |= wideBit;
    end += bytes.write(text, start, length * 2, 'utf16le') - length;
  }
  words[at >> 2] = header;
  return (end + 3) & ~3;
}

/** As `writeText`, of bytes of UTF-8. `tag`: from `utf8Tags` to 255. Touches eight bytes more than there are, at the most. */
export function writeUtf8(bytes: Buffer, words: Int32Array, at: number, tag: number, text: Uint8Array): number {
  words[at >> 2] = (tag << 24) | text.length;
  bytes.set(text, at + 4);
  return (at + 7 + text.length) & ~3;
}

/** False: not ASCII alone. */
function writeShort(bytes: Buffer, start: number, text: string): boolean {
  const { length } = text;
  let seen = 0;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    seen |= code;
    bytes[start + index] = code;
  }
  return seen < 128;
}

export const tagOf = (words: Int32Array, at: number): number => (words[at >> 2] ?? 0) >>> 24;

export function readText(bytes: Buffer, words: Int32Array, at: number): string {
  const header = words[at >> 2] ?? 0;
  const length = header & lengthMask;
  if (header < 0) return bytes.toString('utf8', at + 4, at + 4 + length);
  return (header & wideBit) === 0 ? bytes.toString('latin1', at + 4, at + 4 + length) : bytes.toString('utf16le', at + 4, at + 4 + length * 2);
}

/** Where the text behind the one at `at` may begin. */
export function behindText(words: Int32Array, at: number): number {
  const header = words[at >> 2] ?? 0;
  const length = header & lengthMask;
  return (at + 7 + ((header & wideBit) === 0 ? length : length * 2)) & ~3;
}
