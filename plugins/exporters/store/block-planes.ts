// Bytes of a column as they are packed. `packed` is [isDeflated, bytes]. Numbers of several bytes are a list of planes: one of all first bytes, one of all
// second ones, and so on, because the low bytes of what was measured are noise, which is not deflated, and the high ones are few. All in one, as it
// was written once, is read. A plane is packed, or, where that takes about as little, in a form that tells the byte of one record without the others:
//   ['bits', width, bytes]              numbers of so many bits, the low ones first, and a byte after them
//   ['few', byte, places, bytes]        all are this byte but for those at these places (2 bytes each, ascending)

import { deflateRawSync, inflateRawSync } from 'node:zlib';

export type Packed = readonly [isDeflated: boolean, bytes: Uint8Array];
export type PackedPlane = Packed | readonly ['bits', width: number, bytes: Uint8Array] | readonly ['few', byte: number, places: Uint8Array, bytes: Uint8Array];
export type PackedPlanes = PackedPlane | readonly PackedPlane[];

/** Deflated bytes have to save an eighth, or they are not worth their reading. */
const worthwhile = 7 / 8;
/** And a quarter of what the other forms of a plane take, which are read without them; what these bring below this share is not tried. */
const worthwhileOfPlane = 3 / 4;
const shortEnough = 1 / 16;
const deflateLevel = 4;
/** What a few hundred bytes save is not worth the time that inflating takes to begin. */
const deflatedFrom = 256;
/** Of so many bits a byte, counted in so many bytes at least. */
const noiseBits = 7.5;
const noiseBytesMin = 2048;
export const widthMax = 6;
/** A chunk that is not filled is the last one; the least that there may be. */
const chunkRest = 64;
/** Of one byte among few: its place and itself. */
const fewBytes = 3;

export const damaged = (what: string): Error => new Error(`a block of the log is damaged: a column ${what}`);

export function deflated(bytes: Uint8Array): Packed {
  return bytes.length < deflatedFrom || isNoise(bytes.length, countsOf(bytes)) ? [false, bytes] : deflatedIfShorter(bytes, bytes.length * worthwhile);
}

function deflatedIfShorter(bytes: Uint8Array, than: number): Packed {
  const short = deflateRawSync(bytes, { level: deflateLevel });
  return short.length < than ? [true, short] : [false, bytes];
}

function countsOf(bytes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(256);
  for (let index = 0; index < bytes.length; index += 1) counts[bytes[index] as number] = (counts[bytes[index] as number] as number) + 1;
  return counts;
}

/** All bytes are about as frequent: what deflating would save of them is not worth its time, which is most of a block's. */
function isNoise(length: number, counts: Uint32Array): boolean {
  if (length < noiseBytesMin) return false;
  let bits = 0;
  for (const count of counts) if (count > 0) bits += count * Math.log2(length / count);
  return bits > length * noiseBits;
}

export function inflated(packed: unknown, bytesWanted?: number): Buffer {
  const [isDeflated, bytes] = Array.isArray(packed) ? packed : [];
  if (!(bytes instanceof Uint8Array) || typeof isDeflated !== 'boolean') throw damaged('has no bytes');
  const whole = isDeflated ? inflateRawSync(bytes, bytesWanted === undefined ? {} : { chunkSize: bytesWanted + chunkRest }) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytesWanted !== undefined && whole.length !== bytesWanted) throw damaged(`has ${whole.length} bytes in place of ${bytesWanted}`);
  return whole;
}

/** What is kept in memory must not hold the row that it came with. */
export const owned = (bytes: Buffer, packed: unknown): Buffer => (Array.isArray(packed) && packed[0] === true ? bytes : Buffer.from(bytes));

/** Little-endian, all first bytes before all second ones: what repeats stands together. */
function planesOf(values: Float64Array, width: number): Buffer {
  const { length } = values;
  const bytes = Buffer.alloc(length * width);
  for (let index = 0; index < length; index += 1) {
    let value = values[index] as number;
    for (let plane = 0; plane < width; plane += 1) {
      const rest = Math.floor(value / 256);
      bytes[plane * length + index] = value - rest * 256;
      value = rest;
    }
  }
  return bytes;
}

export function packPlanes(values: Float64Array, width: number): PackedPlanes {
  const bytes = planesOf(values, width);
  return width === 1 ? packPlane(bytes) : Array.from({ length: width }, (_, plane) => packPlane(bytes.subarray(plane * values.length, (plane + 1) * values.length)));
}

function packPlane(bytes: Uint8Array): PackedPlane {
  const { length } = bytes;
  const counts = countsOf(bytes);
  if (isNoise(length, counts)) return [false, bytes];
  let [most, largest] = [0, 0];
  for (let byte = 0; byte < counts.length; byte += 1) {
    if ((counts[byte] as number) > (counts[most] as number)) most = byte;
    if ((counts[byte] as number) > 0) largest = byte;
  }
  const bits = 32 - Math.clz32(largest);
  const ofFew = (length - (counts[most] as number)) * fewBytes;
  const ofBits = bytesOfBits(length, bits);
  const least = Math.min(ofFew, ofBits, length);
  if (least > length * shortEnough && length >= deflatedFrom) {
    const packed = deflatedIfShorter(bytes, least * worthwhileOfPlane);
    if (packed[0]) return packed;
  }
  if (least === ofFew) return packFew(bytes, most);
  return least === ofBits ? ['bits', bits, packBits(bytes, bits)] : [false, bytes];
}

/** So that the two bytes in which a number may lie are there for the last one. */
const bytesOfBits = (count: number, bits: number): number => Math.ceil((count * bits) / 8) + 1;

function packBits(bytes: Uint8Array, bits: number): Uint8Array {
  const packed = new Uint8Array(bytesOfBits(bytes.length, bits));
  for (let index = 0; index < bytes.length; index += 1) {
    const at = index * bits;
    const pair = (bytes[index] as number) << (at & 7);
    packed[at >>> 3] = (packed[at >>> 3] as number) | (pair & 255);
    packed[(at >>> 3) + 1] = (packed[(at >>> 3) + 1] as number) | (pair >>> 8);
  }
  return packed;
}

function packFew(bytes: Uint8Array, most: number): PackedPlane {
  const places: number[] = [];
  for (let index = 0; index < bytes.length; index += 1) if (bytes[index] !== most) places.push(index);
  const packed = new Uint8Array(places.length * 2);
  for (const [at, place] of places.entries()) {
    packed[at * 2] = place & 255;
    packed[at * 2 + 1] = place >>> 8;
  }
  return ['few', most, packed, Uint8Array.from(places, (place) => bytes[place] as number)];
}

/** The byte of each record, in one plane. */
interface Plane {
  readonly at: (index: number) => number;
  all(): Uint8Array;
  /** In memory, beside what was given. */
  readonly bytes: number;
}

function readPlane(packed: unknown, count: number): Plane {
  const [form, first, second, third]: readonly unknown[] = Array.isArray(packed) ? packed : [];
  if (form === 'bits') return readBits(first, second, count);
  if (form === 'few') return readFew(first, second, third, count);
  const bytes = inflated(packed, count);
  return { at: (index) => bytes[index] as number, all: () => bytes, bytes: form === true ? bytes.length : 0 };
}

function readBits(bits: unknown, packed: unknown, count: number): Plane {
  if (typeof bits !== 'number' || !Number.isInteger(bits) || bits < 0 || bits > 8 || !(packed instanceof Uint8Array) || packed.length !== bytesOfBits(count, bits)) throw damaged('has no bits');
  const mask = (1 << bits) - 1;
  const at = (index: number): number => {
    const bit = index * bits;
    return (((packed[bit >>> 3] as number) | ((packed[(bit >>> 3) + 1] as number) << 8)) >>> (bit & 7)) & mask;
  };
  const all = (): Uint8Array => {
    const bytes = new Uint8Array(count);
    for (let index = 0, bit = 0; index < count; index += 1, bit += bits) bytes[index] = (((packed[bit >>> 3] as number) | ((packed[(bit >>> 3) + 1] as number) << 8)) >>> (bit & 7)) & mask;
    return bytes;
  };
  return { at, all, bytes: 0 };
}

function readFew(byte: unknown, places: unknown, bytes: unknown, count: number): Plane {
  if (typeof byte !== 'number' || !(places instanceof Uint8Array) || !(bytes instanceof Uint8Array) || places.length !== bytes.length * 2) throw damaged('has no places');
  const placeOf = (at: number): number => (places[at * 2] as number) | ((places[at * 2 + 1] as number) << 8);
  if (bytes.length > 0 && placeOf(bytes.length - 1) >= count) throw damaged('has a place that there is not');
  const at = (index: number): number => {
    let [from, to] = [0, bytes.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (placeOf(middle) < index) from = middle + 1;
      else to = middle;
    }
    return from < bytes.length && placeOf(from) === index ? bytes[from] as number : byte;
  };
  const all = (): Uint8Array => {
    const whole = new Uint8Array(count).fill(byte);
    for (let each = 0; each < bytes.length; each += 1) whole[placeOf(each)] = bytes[each] as number;
    return whole;
  };
  return { at, all, bytes: 0 };
}

export function readPlanes(packed: unknown, count: number, width: number): readonly Plane[] {
  if (!Array.isArray(packed) || !Number.isInteger(width) || width < 1 || width > widthMax) throw damaged('has no bytes');
  if (Array.isArray(packed[0])) {
    if (packed.length !== width) throw damaged(`has ${packed.length} lists of bytes in place of ${width}`);
    return packed.map((plane) => readPlane(plane, count));
  }
  if (width === 1) return [readPlane(packed, count)];
  const bytes = inflated(packed, count * width);
  return Array.from({ length: width }, (_, plane) => readPlane([false, bytes.subarray(plane * count, (plane + 1) * count)], count));
}

const noBytes = new Uint8Array(0);

/** The numbers that such planes are of. */
export function fromPlanes(read: readonly Plane[], count: number): Float64Array {
  const values = new Float64Array(count);
  const bytes = read.map((plane) => plane.all());
  const [first = noBytes, second = noBytes, third = noBytes] = bytes;
  // Written out for the usual widths: several times as fast.
  if (bytes.length === 1) for (let index = 0; index < count; index += 1) values[index] = first[index] as number;
  else if (bytes.length === 2) for (let index = 0; index < count; index += 1) values[index] = (first[index] as number) | ((second[index] as number) << 8);
  else for (let index = 0; index < count; index += 1) values[index] = (first[index] as number) | ((second[index] as number) << 8) | ((third[index] as number) << 16);
  let factor = 2 ** 24;
  for (let plane = 3; plane < bytes.length; plane += 1, factor *= 256) {
    const of = bytes[plane] ?? noBytes;
    for (let index = 0; index < count; index += 1) values[index] = (values[index] as number) + (of[index] as number) * factor;
  }
  return values;
}

/** One of them. */
export function fromPlanesAt(read: readonly Plane[], index: number): number {
  let value = 0;
  for (let plane = read.length - 1; plane >= 0; plane -= 1) value = value * 256 + (read[plane] as Plane).at(index);
  return value;
}

export const widthOf = (maximum: number): number => {
  let width = 1;
  for (let limit = 256; maximum >= limit; limit *= 256) width += 1;
  return width;
};
