// Hot: runs for each call.
// Steps over JSON text on its bytes: strings, values, members of an object, elements of an array. Nothing is decoded and nothing is
// checked beyond what stepping needs; junk ends in a fault (-1 or isFault), never in a read outside the bytes or an endless loop.

const tab = 9, lineFeed = 10, carriageReturn = 13, blank = 32, quote = 34, comma = 44, colon = 58;
const bracketOpen = 91, backslash = 92, bracketClose = 93, braceOpen = 123, braceClose = 125;

/** 1 for each byte that numbers are made of. */
const isOfNumber = Uint8Array.from({ length: 256 }, (_, byte) => ('0123456789+-.eE'.includes(String.fromCharCode(byte)) ? 1 : 0));

/** The same memory as a Buffer, whose searches are an order of magnitude faster than those of a Uint8Array. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Index of the first byte from `at` on that is not JSON white space. */
export function skipBlank(bytes: Buffer, at: number): number {
  const { length } = bytes;
  let index = at;
  while (index < length) {
    const byte = bytes[index] as number;
    if (byte > blank || (byte !== blank && byte !== lineFeed && byte !== carriageReturn && byte !== tab)) break;
    index += 1;
  }
  return index;
}

/** How far a string is looked at byte by byte before its end is searched for. */
const nearBytes = 32;

/** Index behind the closing quote of the string whose opening quote is at `at`; -1 when it is not closed. */
export function skipString(bytes: Buffer, at: number): number {
  let from = at + 1;
  // Most strings are short, and a search of the library costs as much as looking at so many bytes.
  const nearEnd = Math.min(from + nearBytes, bytes.length);
  for (let index = from; index < nearEnd; index += 1) {
    const byte = bytes[index];
    if (byte === quote) return index + 1;
    if (byte === backslash) break;
  }
  for (;;) {
    const found = bytes.indexOf(quote, from);
    if (found === -1) return -1;
    if (bytes[found - 1] !== backslash) return found + 1;
    let first = found - 1;
    while (first >= from && bytes[first] === backslash) first -= 1;
    if (((found - first) & 1) === 1) return found + 1;
    from = found + 1;
  }
}

/** A name costs more than a value: it is looked up, and may make a shape that no other object has. */
const nameValues = 4;

/**
 * Whether JSON has more opening brackets, commas and names than `maximum`: about as many as values, where a name counts for four and a bracket for
 * `bracketValues`. One pass, which steps over strings.
 */
export function hasMoreValues(bytes: Buffer, maximum: number, bracketValues = 1): boolean {
  const { length } = bytes;
  let count = 0;
  let index = 0;
  while (index < length) {
    const byte = bytes[index];
    if (byte === quote) {
      index = skipString(bytes, index);
      if (index === -1) return false;
      continue;
    }
    index += 1;
    if (byte === comma) count += 1;
    else if (byte === braceOpen || byte === bracketOpen) count += bracketValues;
    else if (byte === colon) count += nameValues;
    else continue;
    if (count > maximum) return true;
  }
  return false;
}

/** Index behind the value that begins at `at`; -1 when there is none. Brackets inside it are counted, not matched by kind. */
export function skipValue(bytes: Buffer, at: number): number {
  switch (bytes[at]) {
    case quote: return skipString(bytes, at);
    case braceOpen: case bracketOpen: return skipNested(bytes, at);
    case 116: return isText(bytes, at, 'true') ? at + 4 : -1;
    case 102: return isText(bytes, at, 'false') ? at + 5 : -1;
    case 110: return isText(bytes, at, 'null') ? at + 4 : -1;
    default: return skipNumber(bytes, at);
  }
}

function skipNested(bytes: Buffer, at: number): number {
  const { length } = bytes;
  let depth = 1;
  let index = at + 1;
  while (index < length) {
    const byte = bytes[index];
    if (byte === quote) {
      index = skipString(bytes, index);
      if (index === -1) return -1;
      continue;
    }
    index += 1;
    if (byte === braceOpen || byte === bracketOpen) depth += 1;
    else if (byte === braceClose || byte === bracketClose) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}

function skipNumber(bytes: Buffer, at: number): number {
  const { length } = bytes;
  let index = at;
  while (index < length && isOfNumber[bytes[index] as number] === 1) index += 1;
  return index === at ? -1 : index;
}

function isText(bytes: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) if (bytes[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

/**
 * Walks the members of one object. After `nextKey()` said true, the caller finds the end of the value and hands it to `close()`;
 * `next()` does both.
 */
export class ObjectCursor {
  /** Index of the opening quote of the name, and behind its closing quote. */
  keyStart = -1;
  keyEnd = -1;
  /** The name is ASCII without escapes: its bytes are its characters. */
  isPlainKey = true;
  valueStart = -1;
  valueEnd = -1;
  /** Behind the closing brace, once there are no more members. */
  end = -1;
  isFault = false;
  #isFirst = true;

  constructor(readonly bytes: Buffer, readonly start: number) {
    if (bytes[start] !== braceOpen) this.isFault = true;
  }

  next(): boolean {
    return this.nextKey() && this.close(skipValue(this.bytes, this.valueStart));
  }

  nextKey(): boolean {
    if (this.isFault || this.end !== -1) return false;
    const { bytes } = this;
    let at = skipBlank(bytes, this.#isFirst ? this.start + 1 : this.valueEnd);
    const byte = bytes[at];
    if (byte === braceClose) {
      this.end = at + 1;
      return false;
    }
    if (!this.#isFirst) {
      if (byte !== comma) return this.#fault();
      at = skipBlank(bytes, at + 1);
    }
    this.#isFirst = false;
    if (bytes[at] !== quote) return this.#fault();
    this.keyStart = at;
    at = this.#skipKey(at);
    if (at === -1) return this.#fault();
    this.keyEnd = at;
    at = skipBlank(bytes, at);
    if (bytes[at] !== colon) return this.#fault();
    this.valueStart = skipBlank(bytes, at + 1);
    return true;
  }

  close(valueEnd: number): boolean {
    if (valueEnd === -1) return this.#fault();
    this.valueEnd = valueEnd;
    return true;
  }

  /** Names are short: one pass finds the end and whether the bytes can be compared as they are. */
  #skipKey(at: number): number {
    const { bytes } = this;
    this.isPlainKey = true;
    for (let index = at + 1; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (byte === quote) return index + 1;
      if (byte === backslash) {
        this.isPlainKey = false;
        index += 1;
      } else if (byte > 126) {
        this.isPlainKey = false;
      }
    }
    return -1;
  }

  #fault(): false {
    this.isFault = true;
    return false;
  }
}

/** Walks the elements of one array, as ObjectCursor does members. */
export class ArrayCursor {
  valueStart = -1;
  valueEnd = -1;
  end = -1;
  isFault = false;
  #isFirst = true;

  constructor(readonly bytes: Buffer, readonly start: number) {
    if (bytes[start] !== bracketOpen) this.isFault = true;
  }

  nextElement(): boolean {
    if (this.isFault || this.end !== -1) return false;
    const { bytes } = this;
    let at = skipBlank(bytes, this.#isFirst ? this.start + 1 : this.valueEnd);
    const byte = bytes[at];
    if (byte === bracketClose) {
      this.end = at + 1;
      return false;
    }
    if (!this.#isFirst) {
      if (byte !== comma) {
        this.isFault = true;
        return false;
      }
      at = skipBlank(bytes, at + 1);
    }
    this.#isFirst = false;
    this.valueStart = at;
    return true;
  }

  close(valueEnd: number): boolean {
    if (valueEnd === -1) {
      this.isFault = true;
      return false;
    }
    this.valueEnd = valueEnd;
    return true;
  }
}
