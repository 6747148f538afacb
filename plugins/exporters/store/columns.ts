// One field of many records, in the form that takes least to write and to keep. A form is an array that says in its first element which it is:
//   ['same', value]                 all are this one
//   ['words', texts, indexes]       few different texts; a byte for each record says which
//   ['texts', length, text]         texts of one length (UTF-16 units), joined: ids
//   ['integers', bytes]             32 bits each, little-endian
//   ['doubles', bytes]              64 bits each, little-endian
//   ['list', values]                anything else

/** Different texts of one column: as many as a byte tells apart. */
const wordsMax = 256;
/** Of so many texts at the beginning, more than half of them different: they are not words. */
const sampleCount = 32;
/** Longer texts are not joined: their own length says more. */
const joinedLengthMax = 64;

/** Collects the numbers of one field, record after record. As long as all are the same, as in most columns, none is stored. */
export class NumberColumn {
  #values = new Float64Array(64);
  #count = 0;
  #first = 0;
  #isSame = true;
  #areIntegers = true;

  push(value: number): void {
    if (this.#isSame) {
      if (value === this.#first && this.#count > 0) {
        this.#count += 1;
        return;
      }
      this.#begin(value);
    }
    if ((value | 0) !== value) this.#areIntegers = false;
    if (this.#count === this.#values.length) this.#grow();
    this.#values[this.#count] = value;
    this.#count += 1;
  }

  /** The first of all, or the first that differs. */
  #begin(value: number): void {
    if (this.#count === 0) {
      this.#first = value;
      return;
    }
    this.#isSame = false;
    while (this.#count > this.#values.length) this.#grow();
    this.#values.fill(this.#first, 0, this.#count);
  }

  clear(): void {
    this.#count = 0;
    this.#isSame = true;
    this.#areIntegers = true;
  }

  /** The column so far. */
  packed(): readonly unknown[] {
    const count = this.#count;
    if (count === 0) return ['list', []];
    if (this.#isSame) return ['same', this.#first];
    const width = this.#areIntegers ? 4 : 8;
    const bytes = Buffer.allocUnsafe(count * width);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let index = 0; index < count; index += 1) {
      if (this.#areIntegers) view.setInt32(index * width, this.#values[index] as number, true);
      else view.setFloat64(index * width, this.#values[index] as number, true);
    }
    return [this.#areIntegers ? 'integers' : 'doubles', bytes];
  }

  #grow(): void {
    const values = new Float64Array(this.#values.length * 2);
    values.set(this.#values);
    this.#values = values;
  }
}

/** The same for texts and for what is true or false. */
export class ValueColumn {
  #values: (string | boolean)[] = [];
  #count = 0;
  #first: string | boolean = '';
  #isSame = true;

  push(value: string | boolean): void {
    if (!this.#isSame) this.#values.push(value);
    else if (this.#count === 0) this.#first = value;
    else if (value !== this.#first) {
      this.#isSame = false;
      this.#values = new Array<string | boolean>(this.#count).fill(this.#first);
      this.#values.push(value);
    }
    this.#count += 1;
  }

  /** Nothing of the batch is kept. */
  clear(): void {
    if (!this.#isSame) this.#values = [];
    this.#first = '';
    this.#count = 0;
    this.#isSame = true;
  }

  packed(): readonly unknown[] {
    const values = this.#values;
    const first = this.#first;
    if (this.#count === 0) return ['list', []];
    if (this.#isSame) return ['same', first];
    // All of a field have the type of the first.
    return typeof first === 'string' ? packWords(values as string[]) ?? packTexts(values as string[]) : ['list', values];
  }
}

function packWords(values: readonly string[]): readonly unknown[] | undefined {
  const places = new Map<string, number>();
  const indexes = Buffer.allocUnsafe(values.length);
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] as string;
    let place = places.get(value);
    if (place === undefined) {
      place = places.size;
      if (place === wordsMax || (index < sampleCount && place > sampleCount / 2)) return undefined;
      places.set(value, place);
    }
    indexes[index] = place;
  }
  return ['words', [...places.keys()], indexes];
}

function packTexts(values: readonly string[]): readonly unknown[] {
  const { length } = values[0] as string;
  if (length > joinedLengthMax || values.some((value) => value.length !== length)) return ['list', values];
  return ['texts', length, values.join('')];
}

/** Undefined: it is not a column of `count` values. What the values are is not looked at. */
export function readColumn(column: unknown, count: number): readonly unknown[] | undefined {
  if (!Array.isArray(column)) return undefined;
  const [form, first, second] = column as readonly unknown[];
  switch (form) {
    case 'same': return new Array<unknown>(count).fill(first);
    case 'list': return Array.isArray(first) && first.length === count ? first : undefined;
    case 'words': return readWords(first, second, count);
    case 'texts': return readTexts(first, second, count);
    case 'integers': return readNumbers(first, count, 4, (bytes, at) => bytes.readInt32LE(at));
    case 'doubles': return readNumbers(first, count, 8, (bytes, at) => bytes.readDoubleLE(at));
    default: return undefined;
  }
}

function readWords(words: unknown, indexes: unknown, count: number): readonly unknown[] | undefined {
  if (!Array.isArray(words) || !(indexes instanceof Uint8Array) || indexes.length !== count) return undefined;
  return Array.from(indexes, (index): unknown => words[index]);
}

function readTexts(length: unknown, text: unknown, count: number): readonly string[] | undefined {
  if (typeof length !== 'number' || typeof text !== 'string' || text.length !== length * count) return undefined;
  return Array.from({ length: count }, (_, index) => text.slice(index * length, (index + 1) * length));
}

function readNumbers(given: unknown, count: number, width: number, read: (bytes: Buffer, at: number) => number): readonly number[] | undefined {
  if (!(given instanceof Uint8Array) || given.length !== count * width) return undefined;
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  return Array.from({ length: count }, (_, index) => read(bytes, index * width));
}
