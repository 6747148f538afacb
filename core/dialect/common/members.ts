// Hot: runs for each member of each chunk that is put together.
// The rules by which members that come again and again in a stream become members of one object. Everything tells how many bytes it holds
// more than before, so that a stream without end cannot fill the memory. Never changes what an event holds: it may still be written.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { Text } from './text.js';

/** What is nested deeper than this is no answer. */
const depthMax = 128;

/** About the length of the JSON text, but cheap; without limit for what is nested too deep. */
export function bytesOf(value: Json | undefined, depth = 0): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return 8;
  if (depth === depthMax) return Infinity;
  let bytes = 2;
  if (isObject(value)) for (const name in value) bytes += name.length + 4 + bytesOf(value[name], depth + 1);
  else for (const entry of value) bytes += bytesOf(entry, depth + 1) + 1;
  return bytes;
}

interface Member {
  value: Json;
  bytes: number;
}

/** The last value wins, but null and an empty text say nothing when there is a value already, and objects are put together. */
export class Members {
  readonly #members = new Map<string, Member>();

  set(name: string, value: Json | undefined): number {
    if (value === undefined) return 0;
    const member = this.#members.get(name);
    if (member === undefined) {
      const bytes = bytesOf(value);
      this.#members.set(name, { value, bytes });
      return bytes + name.length;
    }
    if (value === member.value || value === null || value === '') return 0;
    member.value = isObject(value) && isObject(member.value) ? { ...member.value, ...value } : value;
    const before = member.bytes;
    member.bytes = bytesOf(member.value);
    return member.bytes - before;
  }

  get size(): number {
    return this.#members.size;
  }

  object(): Record<string, Json> {
    return Object.fromEntries([...this.#members].map(([name, { value }]) => [name, value]));
  }
}

/** Members that come in pieces: texts and lists grow, the rest follows the rules of `Members`. */
export class Fragments {
  readonly #texts = new Map<string, Text>();
  readonly #lists = new Map<string, Json[]>();
  readonly #rest = new Members();

  /** `growing`: the names of the texts that come in pieces; null: all texts and all lists do. */
  constructor(readonly growing: ReadonlySet<string> | null) {}

  set(name: string, value: Json | undefined): number {
    if (typeof value === 'string' && (this.growing === null || this.growing.has(name))) return this.#add(name, value);
    if (this.growing === null && Array.isArray(value)) return this.#append(name, value);
    return this.#rest.set(name, value);
  }

  setAll(object: JsonObject): number {
    let bytes = 0;
    for (const name in object) bytes += this.set(name, object[name]);
    return bytes;
  }

  /** Whether there is a text under this name that is not empty. */
  hasText(name: string): boolean {
    const text = this.#texts.get(name);
    return text !== undefined && text.toString() !== '';
  }

  object(): Record<string, Json> {
    const texts = [...this.#texts].map(([name, text]): [string, Json] => [name, text.toString()]);
    return { ...this.#rest.object(), ...Object.fromEntries([...this.#lists].map(([name, list]) => [name, [...list]])), ...Object.fromEntries(texts) };
  }

  #add(name: string, piece: string): number {
    let text = this.#texts.get(name);
    if (text === undefined) {
      text = new Text();
      this.#texts.set(name, text);
    }
    return text.add(piece);
  }

  #append(name: string, entries: readonly Json[]): number {
    let list = this.#lists.get(name);
    if (list === undefined) {
      list = [];
      this.#lists.set(name, list);
    }
    let bytes = 0;
    for (const entry of entries) {
      list.push(entry);
      bytes += bytesOf(entry) + 1;
    }
    return bytes;
  }
}
