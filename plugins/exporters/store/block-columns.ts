// Columns of a block: one field of some thousands of records, in the narrowest form, and what they are in memory. Forms are arrays, as in columns.ts:
//   ['same', value]                             all are this one
//   ['numbers', scale, base, width, packed]     (base + n) / scale, n in `width` bytes, all first bytes before all second ones
//   ['steps', scale, base, width, packed]       the same of the differences from one to the next, made positive (0, -1, 1, -2, ...)
//   ['doubles', packed]                         64 bits each, little-endian
//   ['words', texts, width, packed]             different texts, and for each record which
//   ['texts', lengths, packed text]             UTF-8, joined; lengths are [count, width, packed], or, as they were written once, packed, in 4 bytes each
//   ['ids', forms, bytes, texts]                for each record a form: empty, UUID, hex of 16 or 8 bytes, another text, the record's own id; one number
//                                               when all are of one form, else packed
// block-planes.ts has what `packed` is.

import { damaged, deflated, fromPlanes, fromPlanesAt, inflated, owned, packPlanes, readPlanes, widthMax, widthOf } from './block-planes.js';

export type PackedColumn = readonly unknown[];

const scales: readonly number[] = [1, 1e3, 1e6, 1e9];
/** More different texts than this share of all are not words. */
const wordShare = 1 / 2;

/** Places of records are numbers of 16 bits. */
const textsMax = 65_536;

/** Texts of one field: `words[codes[index]]`. */
export interface Words {
  readonly words: readonly string[];
  readonly codes: Uint16Array;
}

/** Texts as they are kept, made when somebody asks for them. */
class Joined {
  #texts: readonly string[] | undefined = undefined;

  constructor(readonly bytes: Buffer, readonly ends: Uint32Array) {}

  at(index: number): string {
    return this.#texts?.[index] ?? this.bytes.toString('utf8', index === 0 ? 0 : this.ends[index - 1], this.ends[index]);
  }

  /** In memory, without the texts. */
  get held(): number {
    return this.bytes.length + this.ends.byteLength;
  }

  get texts(): readonly string[] {
    this.#texts ??= this.#read();
    return this.#texts;
  }

  #read(): readonly string[] {
    const { bytes, ends } = this;
    const whole = bytes.toString('utf8');
    // A unit for each byte, so that both have the same ends.
    const isNarrow = whole.length === bytes.length;
    let from = 0;
    return Array.from(ends, (to) => {
      const text = isNarrow ? whole.slice(from, to) : bytes.toString('utf8', from, to);
      from = to;
      return text;
    });
  }

  /** For each text 1 where it is this one. */
  same(text: string): Uint8Array {
    const wanted = Buffer.from(text);
    const isFound = new Uint8Array(this.ends.length);
    const startOf = (index: number): number => (index === 0 ? 0 : this.ends[index - 1] as number);
    if (wanted.length === 0) return isFound.map((_, index) => Number(this.ends[index] === startOf(index)));
    let index = 0;
    for (let at = this.bytes.indexOf(wanted); at !== -1; at = this.bytes.indexOf(wanted, at + 1)) {
      while ((this.ends[index] as number) <= at) index += 1;
      if (startOf(index) === at && this.ends[index] === at + wanted.length) isFound[index] = 1;
    }
    return isFound;
  }

  /** Adds which of the texts have these bytes inside. */
  find(wanted: Buffer, isFound: Uint8Array): void {
    let index = 0;
    for (let at = this.bytes.indexOf(wanted); at !== -1; at = this.bytes.indexOf(wanted, this.ends[index])) {
      while ((this.ends[index] as number) <= at) index += 1;
      isFound[index] = 1;
    }
  }
}

/** Words of a block. */
export class JoinedWords implements Words {
  constructor(readonly joined: Joined, readonly codes: Uint16Array) {}

  get words(): readonly string[] {
    return this.joined.texts;
  }

  /** For each word 1 where it has one of these texts inside, which is a quick look at all of them. */
  having(texts: readonly string[]): Uint8Array {
    const isFound = new Uint8Array(this.joined.ends.length);
    for (const text of texts) this.joined.find(Buffer.from(text), isFound);
    return isFound;
  }

  /** For each word 1 where it is this one. */
  being(text: string): Uint8Array {
    return this.joined.same(text);
  }

  /** In memory. */
  get bytes(): number {
    return this.codes.byteLength + this.joined.bytes.length * 2 + this.joined.ends.length * 36;
  }
}

/** What a column says of one record. */
export type At<T> = (index: number) => T;

/** All of them are whole multiples of 1/scale, so that nothing is lost; undefined: there is no such scale. */
function scaleOf(values: Float64Array): number | undefined {
  return scales.find((scale) => {
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] as number;
      const scaled = Math.round(value * scale);
      if (!Number.isSafeInteger(scaled) || scaled / scale !== value || Object.is(value, -0)) return false;
    }
    return true;
  });
}

export function packNumbers(values: Float64Array): PackedColumn {
  const [first = 0] = values;
  if (areAll(values, first)) return ['same', first];
  const scale = scaleOf(values);
  if (scale === undefined) return packDoubles(values);
  const scaled = scaledBy(values, scale);
  const plainRange = rangeOf(scaled);
  if (plainRange.width > widthMax) return packDoubles(values);
  const plain = packIntegers('numbers', scale, scaled, plainRange);
  const steps = stepsOf(scaled);
  const range = rangeOf(steps);
  // More bytes are not fewer once they are deflated.
  if (range.width > plainRange.width) return plain;
  const packed = packIntegers('steps', scale, steps, range);
  return sizeOf(packed) < sizeOf(plain) ? packed : plain;
}

const packDoubles = (values: Float64Array): PackedColumn => ['doubles', deflated(new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice())];

function areAll(values: Float64Array, first: number): boolean {
  for (let index = 0; index < values.length; index += 1) if (!Object.is(values[index], first)) return false;
  return true;
}

function scaledBy(values: Float64Array, scale: number): Float64Array {
  const scaled = new Float64Array(values.length);
  for (let index = 0; index < values.length; index += 1) scaled[index] = Math.round((values[index] as number) * scale);
  return scaled;
}

const sizeOf = (column: PackedColumn): number => {
  const bytesOf = (packed: unknown): number => (packed instanceof Uint8Array ? packed.length : Array.isArray(packed) ? packed.reduce((sum: number, each) => sum + bytesOf(each), 0) : 0);
  return bytesOf(column[4]);
};

interface NumberRange {
  readonly base: number;
  /** In bytes, of what is above the base. */
  readonly width: number;
}

function rangeOf(values: Float64Array): NumberRange {
  let base = Infinity;
  let maximum = -Infinity;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    if (value < base) base = value;
    if (value > maximum) maximum = value;
  }
  return { base, width: widthOf(maximum - base) };
}

function packIntegers(form: string, scale: number, values: Float64Array, { base, width }: NumberRange): PackedColumn {
  const rest = new Float64Array(values.length);
  for (let index = 0; index < values.length; index += 1) rest[index] = (values[index] as number) - base;
  return [form, scale, base, width, packPlanes(rest, width)];
}

function stepsOf(values: Float64Array): Float64Array {
  const steps = new Float64Array(values.length);
  let before = 0;
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as number;
    const step = value - before;
    before = value;
    steps[index] = step < 0 ? -2 * step - 1 : 2 * step;
  }
  return steps;
}

export function readNumbers(column: unknown, count: number): Float64Array {
  const [form, first, second, third, packed]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (form === 'same' && typeof first === 'number') return new Float64Array(count).fill(first);
  if (form === 'doubles') {
    const bytes = inflated(first, count * 8);
    return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }
  if ((form !== 'numbers' && form !== 'steps') || typeof first !== 'number' || typeof second !== 'number' || typeof third !== 'number') throw damaged('is not one of numbers');
  const values = fromPlanes(readPlanes(packed, count, third), count);
  if (form === 'steps') {
    let before = 0;
    for (let index = 0; index < count; index += 1) {
      const value = (values[index] as number) + second;
      before += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
      values[index] = before;
    }
  } else if (second !== 0) for (let index = 0; index < count; index += 1) values[index] = (values[index] as number) + second;
  if (first !== 1) for (let index = 0; index < count; index += 1) values[index] = (values[index] as number) / first;
  return values;
}

/** The same, for few of them. */
export function numberAt(column: unknown, count: number): { readonly at: At<number>; readonly bytes: number } {
  const [form, first, second, third, packed]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (form === 'same' && typeof first === 'number') return { at: () => first, bytes: 0 };
  if (form !== 'numbers' || typeof first !== 'number' || typeof second !== 'number' || typeof third !== 'number') {
    const values = readNumbers(column, count);
    return { at: (index) => values[index] as number, bytes: values.byteLength };
  }
  const planes = readPlanes(packed, count, third);
  const at: At<number> = (index) => {
    const value = fromPlanesAt(planes, index) + second;
    return first === 1 ? value : value / first;
  };
  return { at, bytes: planes.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Different texts and which of them each is. */
export function wordsOf(count: number, textAt: (index: number) => string): Words {
  const places = new Map<string, number>();
  const codes = new Uint16Array(count);
  for (let index = 0; index < count; index += 1) {
    const text = textAt(index);
    let code = places.get(text);
    if (code === undefined) places.set(text, code = places.size);
    codes[index] = code;
  }
  return { words: [...places.keys()], codes };
}

export function packTexts({ words, codes }: Words): PackedColumn {
  const [first = ''] = words;
  if (words.length <= 1) return ['same', first];
  if (words.length > Math.max(16, codes.length * wordShare)) return packJoined(Array.from(codes, (code) => words[code] ?? ''));
  const width = widthOf(words.length - 1);
  return ['words', packJoined(words), width, packPlanes(Float64Array.from(codes), width)];
}

function packJoined(texts: readonly string[]): PackedColumn {
  const parts = texts.map((text) => Buffer.from(text));
  const lengths = Float64Array.from(parts, ({ length }) => length);
  const width = widthOf(lengths.reduce((most, length) => Math.max(most, length), 0));
  return ['texts', [lengths.length, width, packPlanes(lengths, width)], deflated(Buffer.concat(parts))];
}

function readJoined(column: unknown): Joined {
  const [form, packedLengths, text]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (form !== 'texts') throw damaged('is not one of texts');
  const lengths = readLengths(packedLengths);
  const ends = new Uint32Array(lengths.length);
  let to = 0;
  for (let index = 0; index < ends.length; index += 1) ends[index] = to += lengths[index] as number;
  return new Joined(owned(inflated(text, to), text), ends);
}

function readLengths(packed: unknown): Float64Array {
  const [count, width, planes]: readonly unknown[] = Array.isArray(packed) ? packed : [];
  if (typeof count !== 'number') {
    const bytes = inflated(packed);
    const all = bytes.length / 4;
    return Float64Array.from({ length: all }, (_, index) => numberOfPlanes(bytes, all, index));
  }
  if (!Number.isInteger(count) || count < 0 || count > textsMax || typeof width !== 'number') throw damaged('does not say how many texts it has');
  return fromPlanes(readPlanes(planes, count, width), count);
}

const numberOfPlanes = (bytes: Uint8Array, count: number, index: number): number =>
  ((bytes[index] as number) | ((bytes[count + index] as number) << 8) | ((bytes[2 * count + index] as number) << 16)) + (bytes[3 * count + index] as number) * 2 ** 24;

export function readWords(column: unknown, count: number): Words {
  const [form, first, width, packed]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (form === 'same' && typeof first === 'string') return { words: [first], codes: new Uint16Array(count) };
  if (form === 'texts') {
    const joined = readJoined(column);
    if (joined.ends.length !== count) throw damaged(`has ${joined.ends.length} texts in place of ${count}`);
    const codes = new Uint16Array(count);
    for (let index = 0; index < count; index += 1) codes[index] = index;
    return new JoinedWords(joined, codes);
  }
  if (form !== 'words' || (width !== 1 && width !== 2)) throw damaged('is not one of words');
  const joined = readJoined(first);
  const [low, high] = readPlanes(packed, count, width).map((plane) => plane.all());
  const codes = low === undefined ? new Uint16Array(count) : Uint16Array.from(low);
  if (high !== undefined) for (let index = 0; index < count; index += 1) codes[index] = (codes[index] as number) | ((high[index] as number) << 8);
  let most = 0;
  for (let index = 0; index < count; index += 1) if ((codes[index] as number) > most) most = codes[index] as number;
  if (count > 0 && most >= joined.ends.length) throw damaged('names a word that there is not');
  return new JoinedWords(joined, codes);
}

/** The same, for few of them. */
export function wordAt(column: unknown, count: number): { readonly at: At<string>; readonly bytes: number } {
  const [form, first, width, packed]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (form === 'texts') {
    const joined = readJoined(column);
    if (joined.ends.length !== count) throw damaged(`has ${joined.ends.length} texts in place of ${count}`);
    return { at: (index) => joined.at(index), bytes: joined.held };
  }
  if (form !== 'words' || (width !== 1 && width !== 2)) {
    const { words, codes } = readWords(column, count);
    return { at: (index) => words[codes[index] as number] ?? '', bytes: codes.byteLength };
  }
  const joined = readJoined(first);
  const planes = readPlanes(packed, count, width);
  const at: At<string> = (index) => {
    const code = fromPlanesAt(planes, index);
    if (code >= joined.ends.length) throw damaged('names a word that there is not');
    return joined.at(code);
  };
  return { at, bytes: planes.reduce((sum, { bytes }) => sum + bytes, joined.held) };
}

const idForm = { empty: 0, uuid: 1, hex16: 2, hex8: 3, text: 4, own: 5 } as const;
const idBytes = 16;

/** Digits of a UUID, or of hex, as bytes; false: it has something else. Regular expressions and buffers of their own take several times as long. */
function writeDigits(bytes: Uint8Array, from: number, text: string, isUuid: boolean): boolean {
  let [at, high] = [from, -1];
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (isUuid && (index === 8 || index === 13 || index === 18 || index === 23)) {
      if (unit !== 0x2d) return false;
      continue;
    }
    const digit = unit >= 0x30 && unit <= 0x39 ? unit - 0x30 : unit >= 0x61 && unit <= 0x66 ? unit - 0x57 : -1;
    if (digit === -1) return false;
    if (high === -1) high = digit;
    else {
      bytes[at] = high * 16 + digit;
      at += 1;
      high = -1;
    }
  }
  return true;
}

/** `own`: the ids of the records, for ids that are often the same; undefined for those themselves. */
export function packIds(texts: readonly string[], own: readonly string[] | undefined): PackedColumn {
  const forms = new Uint8Array(texts.length);
  const bytes = Buffer.allocUnsafe(texts.length * idBytes);
  let end = 0;
  const others: string[] = [];
  for (let index = 0; index < texts.length; index += 1) {
    const text = texts[index] as string;
    if (text === '') forms[index] = idForm.empty;
    else if (own !== undefined && own[index] === text) forms[index] = idForm.own;
    else if (text.length === 36 && writeDigits(bytes, end, text, true)) {
      forms[index] = idForm.uuid;
      end += idBytes;
    } else if ((text.length === 32 || text.length === 16) && writeDigits(bytes, end, text, false)) {
      forms[index] = text.length === 32 ? idForm.hex16 : idForm.hex8;
      end += text.length / 2;
    } else {
      forms[index] = idForm.text;
      others.push(text);
    }
  }
  const [first = idForm.empty] = forms;
  return ['ids', forms.every((form) => form === first) ? first : deflated(forms), bytes.subarray(0, end), packJoined(others)];
}

/** The form of all, or of each. */
function readForms(packed: unknown, count: number, bytes: Uint8Array): number | Uint8Array {
  if (typeof packed !== 'number') return inflated(packed, count);
  if (bytes.length !== count * lengthOf(packed)) throw damaged(`has ${bytes.length} bytes of ids`);
  return packed;
}

export function readIds(column: unknown, count: number, own: readonly string[] | undefined): readonly string[] {
  const [name, packedForms, bytes, texts]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (name !== 'ids' || !(bytes instanceof Uint8Array)) throw damaged('is not one of ids');
  const form = readForms(packedForms, count, bytes);
  const forms = typeof form === 'number' ? new Uint8Array(count).fill(form) : form;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  const others = readJoined(texts).texts;
  let at = 0;
  let other = 0;
  return Array.from(forms, (each, index) => {
    switch (each) {
      case idForm.empty: return '';
      case idForm.own: return own?.[index] ?? '';
      case idForm.text: return others[other++] ?? '';
      case idForm.hex8: return hex.slice(at, at += 16);
      case idForm.hex16: return hex.slice(at, at += 32);
      default: return uuidOf(hex.slice(at, at += 32));
    }
  });
}

const uuidOf = (hex: string): string => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** The same, for few of them. `own` is given with each: what is kept of one part holds no other one. */
export function idAt(column: unknown, count: number): { readonly at: (index: number, own?: At<string>) => string; readonly bytes: number } {
  const [name, packedForms, bytes, texts]: readonly unknown[] = Array.isArray(column) ? column : [];
  if (name !== 'ids' || !(bytes instanceof Uint8Array)) throw damaged('is not one of ids');
  const ids = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const others = readJoined(texts);
  const idIn = (form: number | undefined, from: number, index: number, own: At<string> | undefined): string => {
    switch (form) {
      case idForm.empty: return '';
      case idForm.own: return own?.(index) ?? '';
      case idForm.text: return from < others.ends.length ? others.at(from) : '';
      case idForm.hex8: return ids.toString('hex', from, from + 8);
      case idForm.hex16: return ids.toString('hex', from, from + 16);
      default: return uuidOf(ids.toString('hex', from, from + 16));
    }
  };
  const forms = readForms(packedForms, count, bytes);
  // All of one form: where each begins need not be laid out.
  if (typeof forms === 'number') {
    const step = forms === idForm.text ? 1 : lengthOf(forms);
    return { at: (index, own) => idIn(forms, index * step, index, own), bytes: others.held };
  }
  /** Where its bytes begin, or which text it is. */
  const places = new Uint32Array(count);
  let [place, other] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const each = forms[index];
    if (each === idForm.text) places[index] = other++;
    else {
      places[index] = place;
      place += lengthOf(each);
    }
  }
  return { at: (index, own) => idIn(forms[index], places[index] as number, index, own), bytes: count * 5 + others.held };
}

/** Bytes that an id of this form takes. */
const lengthOf = (form: number | undefined): number => (form === idForm.uuid || form === idForm.hex16 ? 16 : form === idForm.hex8 ? 8 : 0);
