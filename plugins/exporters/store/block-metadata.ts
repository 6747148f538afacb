// Metadata of a block, taken apart: the texts of one member lie together, as words of their own, so that whoever filters or groups by a member reads that
// one alone. Metadata that cannot be put together again as they were, byte by byte, stay texts. Forms of the column, beside those of texts:
//   ['members', shapes, shape of each, names, columns, others]
// A shape is [pieces, names]: what stands around the values, and which member each value is of. The shape of a record is a number, 0 for one of the
// others; a member that a record lacks is an empty text.

import { damaged } from './block-planes.js';
import { JoinedWords, packNumbers, packTexts, readNumbers, readWords, wordAt, wordsOf, type At, type PackedColumn, type Words } from './block-columns.js';
import { metadataOf } from './plain-query.js';

/** Of one block. What is beyond stays text. */
const namesMax = 64;
const shapesMax = 255;

interface Shape {
  readonly pieces: readonly string[];
  /** Of each value its place among all names. */
  readonly names: readonly number[];
}

interface Parted {
  readonly pieces: readonly string[];
  readonly names: readonly string[];
  readonly values: readonly string[];
}

const unusual = /[\\\u0000-\u001f]/;
const literals: ReadonlySet<string> = new Set(['true', 'false', 'null']);
/** What stands before a value, and the value: a text without its quotes, or a number or literal. Only spaces stand between: other white space is unusual. */
const member = /( *([{,]) *"([^"]*)" *: *)(?:"([^"]*)"|([\w.+-]+))/y;
const end = / *\} *$/y;
const isNumber = (token: string): boolean => /^-?\d/.test(token) && String(Number(token)) === token;

/** Undefined: it is not one flat object of texts, numbers and literals, or not one whose members can be told by their names. */
export function partMetadata(text: string): Parted | undefined {
  if (!text.startsWith('{') || unusual.test(text)) return undefined;
  const [pieces, names, values]: [string[], string[], string[]] = [[], [], []];
  let at = 0;
  let rest = '';
  member.lastIndex = 0;
  for (let found = member.exec(text); found !== null; found = member.exec(text)) {
    const [, before = '', opening, name = '', quoted, bare = ''] = found;
    if (opening !== (names.length === 0 ? '{' : ',') || names.includes(name)) return undefined;
    if (quoted === undefined && !literals.has(bare) && !isNumber(bare)) return undefined;
    const quote = quoted === undefined ? '' : '"';
    pieces.push(rest + before + quote);
    rest = quote;
    names.push(name);
    values.push(quoted ?? bare);
    if (names.length > namesMax) return undefined;
    at = member.lastIndex;
  }
  end.lastIndex = at;
  if (names.length === 0 || !end.test(text)) return undefined;
  return { pieces: [...pieces, rest + text.slice(at)], names, values };
}

export function packMetadata(given: Words): PackedColumn {
  const { words, codes } = given;
  const [names, shapes, shapeByKey] = [new Map<string, number>(), [] as Shape[], new Map<string, number>()];
  const ofWords = words.map((word): { readonly shape: number; readonly values: readonly string[] } => {
    const parted = partMetadata(word);
    if (parted === undefined) return { shape: 0, values: [] };
    // The names are among the pieces, which have no such character.
    const key = parted.pieces.join('\u0000');
    let shape = shapeByKey.get(key);
    if (shape === undefined) {
      const added = parted.names.filter((name) => !names.has(name));
      if (shapes.length === shapesMax || names.size + added.length > namesMax) return { shape: 0, values: [] };
      for (const name of added) names.set(name, names.size);
      shapes.push({ pieces: parted.pieces, names: parted.names.map((name) => names.get(name) as number) });
      shapeByKey.set(key, shape = shapes.length);
    }
    return { shape, values: parted.values };
  });
  if (shapes.length === 0) return packTexts(given);
  const columns = Array.from(names.values(), (name) => {
    // Where the value of this name stands in each shape.
    const placeIn = [-1, ...shapes.map((shape) => shape.names.indexOf(name))];
    return packTexts(replaced(codes, ofWords.map(({ shape, values }) => values[placeIn[shape] ?? -1] ?? '')));
  });
  const others = packTexts(replaced(codes, words.map((word, index) => (ofWords[index]?.shape === 0 ? word : ''))));
  return ['members', shapes.map((shape) => [shape.pieces, shape.names]), packNumbers(Float64Array.from(codes, (code) => ofWords[code]?.shape ?? 0)), [...names.keys()], columns, others];
}

/** Other texts in the place of words, some of which may be the same now. */
function replaced(codes: Uint16Array, texts: readonly string[]): Words {
  const of = wordsOf(texts.length, (index) => texts[index] ?? '');
  return { words: of.words, codes: codes.map((code) => of.codes[code] as number) };
}

export const isMetadata = (column: unknown): column is readonly unknown[] => Array.isArray(column) && column[0] === 'members';

/** Metadata of a block in memory, as they are packed: what is asked of them is read then. */
export class Metadata {
  readonly #shapes: readonly Shape[];
  readonly #names: readonly string[];
  readonly #columns: readonly unknown[];
  readonly #others: unknown;
  readonly #shapeOf: Float64Array;

  constructor(column: readonly unknown[], readonly count: number) {
    const [, shapes, shapeOf, names, columns, others] = column;
    if (!Array.isArray(shapes) || !isList(names, 'string') || !Array.isArray(columns) || columns.length !== names.length) throw damaged('is not one of metadata');
    this.#shapes = shapes.map((shape: unknown) => {
      const [pieces, of]: readonly unknown[] = Array.isArray(shape) ? shape : [];
      if (!isList(pieces, 'string') || !isList(of, 'number') || pieces.length !== of.length + 1 || of.some((name) => typeof names[name] !== 'string')) throw damaged('has a shape that there is not');
      return { pieces, names: of };
    });
    [this.#names, this.#columns, this.#others] = [names, columns, others];
    this.#shapeOf = readNumbers(shapeOf, count);
    for (const shape of this.#shapeOf) if (shape !== 0 && this.#shapes[shape - 1] === undefined) throw damaged('names a shape that there is not');
  }

  /** In memory. */
  get bytes(): number {
    return this.count * 8 + bytesIn(this.#columns) + bytesIn(this.#others);
  }

  /** All of them as words. */
  whole(): Words {
    return wordsOf(this.count, this.reading().at);
  }

  /** Of few records. `kept`: members that were read already. */
  reading(kept: (name: string) => Words | undefined = () => undefined): { readonly at: At<string>; readonly bytes: number } {
    const others = wordAt(this.#others, this.count);
    const members = this.#columns.map((column, place) => {
      const words = kept(this.#names[place] ?? '');
      return words === undefined ? wordAt(column, this.count) : { at: (index: number) => textAt(words, index), bytes: 0 };
    });
    const at: At<string> = (index) => {
      const shape = this.#shapes[(this.#shapeOf[index] as number) - 1];
      if (shape === undefined) return others.at(index);
      let text = shape.pieces[0] ?? '';
      for (let place = 0; place < shape.names.length; place += 1) text += (members[shape.names[place] as number]?.at(index) ?? '') + (shape.pieces[place + 1] ?? '');
      return text;
    };
    return { at, bytes: members.reduce((sum, { bytes }) => sum + bytes, this.count * 8 + others.bytes) };
  }

  /** The texts of one member; empty where a record has none. */
  member(name: string): Words {
    const place = this.#names.indexOf(name);
    const own = place === -1 ? undefined : readWords(this.#columns[place], this.count);
    const others = readWords(this.#others, this.count);
    const ofOthers = memberOfWords(others, name);
    if (ofOthers.words.every((word) => word === '')) return own ?? { words: [''], codes: new Uint16Array(this.count) };
    return wordsOf(this.count, (index) => (this.#shapeOf[index] === 0 ? textAt(ofOthers, index) : own === undefined ? '' : textAt(own, index)));
  }
}

/** Calls `each` with every member and text that such a column has, some more than once. */
export function forEachMember(column: PackedColumn, count: number, each: (name: string, value: string) => void): void {
  const [, , , names, columns, others]: readonly unknown[] = isMetadata(column) ? column : [undefined, undefined, undefined, [], [], column];
  if (Array.isArray(names) && Array.isArray(columns)) for (const [place, name] of names.entries()) for (const word of readWords(columns[place], count).words) each(String(name), word);
  for (const word of readWords(others, count).words) for (const [name, value] of Object.entries(metadataOf(word))) each(name, value);
}

function textAt(words: Words, index: number): string {
  const code = words.codes[index] as number;
  return words instanceof JoinedWords ? words.joined.at(code) : words.words[code] ?? '';
}
const isList = <T extends 'string' | 'number'>(list: unknown, type: T): list is readonly (T extends 'string' ? string : number)[] => Array.isArray(list) && list.every((each) => typeof each === type);
const bytesIn = (packed: unknown): number => (packed instanceof Uint8Array ? packed.length : Array.isArray(packed) ? packed.reduce((sum: number, each) => sum + bytesIn(each), 0) : 0);

export const readMetadata = (column: unknown, count: number): Metadata | Words => (isMetadata(column) ? new Metadata(column, count) : readWords(column, count));

/** A member of the metadata of each record, read once for metadata that are the same. */
export function memberOfWords({ words, codes }: Words, name: string): Words {
  const places = new Map<string, number>();
  const codeOf = Uint16Array.from(words, (word) => {
    const value = textOfMember(word, name);
    let code = places.get(value);
    if (code === undefined) places.set(value, code = places.size);
    return code;
  });
  return { words: [...places.keys()], codes: codes.map((code) => codeOf[code] as number) };
}

function textOfMember(metadata: string, name: string): string {
  if (metadata === '') return '';
  // Most metadata are one flat object of texts without escapes, and of others the name is nowhere.
  if (!metadata.includes(name) && !metadata.includes('\\')) return '';
  const parted = partMetadata(metadata);
  if (parted !== undefined) return parted.values[parted.names.indexOf(name)] ?? '';
  const members = metadataOf(metadata);
  return Object.hasOwn(members, name) ? members[name] ?? '' : '';
}
