import { hasLongNumber } from '../chat/exact-json.js';
import { memberNames, openNames, schemaHolders } from './places.js';

export interface NameFault {
  /** `messages[0].content` */
  readonly place: string;
  readonly reason: string;
}

/** Values of these are the writer's own, and may have names that differ in case only. */
const ownNames: ReadonlySet<string> = new Set([...openNames, ...schemaHolders, 'parameters', 'input_schema', 'output_schema', 'schema', 'headers', 'logit_bias']);

/** So many names of one object are compared one by one: a set would cost more than they do. */
const listedNamesMax = 12;

class Frame {
  /** Of the member, or the index of the item, that is read. */
  at: string | number;
  readonly #listed: string[] | null;
  #set: Set<string> | null = null;

  constructor(readonly isOwn: boolean, readonly isObject: boolean) {
    this.at = isObject ? '' : -1;
    this.#listed = isObject ? [] : null;
  }

  /** False: it is there already. */
  add(name: string): boolean {
    const listed = this.#listed;
    if (listed === null) return true;
    if (this.#set !== null) {
      const { size } = this.#set;
      return this.#set.add(name).size > size;
    }
    for (let index = 0; index < listed.length; index += 1) if (listed[index] === name) return false;
    listed.push(name);
    if (listed.length > listedNamesMax) this.#set = new Set(listed);
    return true;
  }
}

/** What has to be known of a JSON text before its bytes may go where its values were judged. */
export interface Reading {
  readonly fault: NameFault | undefined;
  /** As `hasLongNumber`, for the numbers alone and not for texts that have digits. */
  readonly hasLongNumber: boolean;
}

const plain: Reading = Object.freeze({ fault: undefined, hasLongNumber: false });
const withLongNumber: Reading = Object.freeze({ fault: undefined, hasLongNumber: true });

/**
 * The first member of a JSON text that readers of JSON may understand in two ways: a name that is given twice, or one that differs from a name of
 * the dialect in upper and lower case only. Undefined when there is none. `isOwn`: the whole text is the writer's own. The text has to be JSON.
 */
export const nameFault = (text: string, isOwn = false): NameFault | undefined => readingOf(text, isOwn).fault;

/** `nameFault`, and whether there are long numbers, in one pass that steps over strings. */
export function readingOf(text: string, isOwn = false): Reading {
  let isLong = false;
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = stringEnd(text, at + 1);
        if (isName && frame !== undefined && frame.isObject) {
          const raw = text.slice(at + 1, end);
          const name = raw.includes('\\') ? JSON.parse(`"${raw}"`) as string : raw;
          frame.at = name;
          const reason = faultOf(frame, name);
          if (reason !== undefined) return { fault: { place: placeOf(frames), reason }, hasLongNumber: isLong || hasLongNumber(text) };
          isName = false;
        }
        at = end;
        break;
      }
      case 0x7b: case 0x5b: {
        const isObject: boolean = text.charCodeAt(at) === 0x7b;
        const name = frame?.at;
        // The input of a response is a list; that of a tool is an object.
        const opens = typeof name === 'string' && (ownNames.has(name) || (name === 'input' && isObject));
        frame = new Frame(isOwn || (frame !== undefined && frame.isOwn) || opens, isObject);
        if (!isObject) frame.at = 0;
        frames.push(frame);
        isName = isObject;
        break;
      }
      case 0x7d: case 0x5d:
        frames.pop();
        frame = frames.at(-1);
        isName = false;
        break;
      case 0x2c:
        if (frame === undefined) break;
        if (typeof frame.at === 'number') frame.at += 1;
        isName = frame.isObject;
        break;
      case 0x2d: case 0x30: case 0x31: case 0x32: case 0x33: case 0x34: case 0x35: case 0x36: case 0x37: case 0x38: case 0x39: {
        const start = at;
        while (isNumberPart(text.charCodeAt(at + 1))) at += 1;
        isLong ||= isLongNumber(text, start, at + 1);
        break;
      }
      default:
    }
  }
  return isLong ? withLongNumber : plain;
}

/** Most numbers are too short to be one. */
const isLongNumber = (text: string, from: number, to: number): boolean => to - from > 3 && hasLongNumber(text.slice(from, to));

const isNumberPart = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x2d || code === 0x2b || code === 0x45 || code === 0x65;

function faultOf(frame: Frame, name: string): string | undefined {
  if (!frame.add(name)) return 'is given twice; give it once';
  if (frame.isOwn) return undefined;
  const lower = name.toLowerCase();
  if (lower === name) return undefined;
  return memberNames.has(lower) || !frame.add(lower) ? `differs from ${lower} in upper and lower case only; write it so, or leave it out` : undefined;
}

/** So many characters of a string are looked at one by one: most are short. */
const shortString = 24;

/** The quote that ends a string. */
function stringEnd(text: string, from: number): number {
  const near = Math.min(text.length, from + shortString);
  for (let at = from; at < near; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    if (code === 0x5c) break;
  }
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const placeOf = (frames: readonly Frame[]): string =>
  frames.reduce((place, { at }) => (typeof at === 'number' ? `${place}[${at}]` : place === '' ? at : `${place}.${at}`), '').slice(0, 200);
