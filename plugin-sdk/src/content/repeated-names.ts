import { memberNames, openNames, schemaHolders } from './places.js';

export interface NameFault {
  /** `messages[0].content` */
  readonly place: string;
  readonly reason: string;
}

/** Values of these are the writer's own, and may have names that differ in case only. */
const ownNames: ReadonlySet<string> = new Set([...openNames, ...schemaHolders, 'parameters', 'input_schema', 'output_schema', 'schema', 'headers', 'logit_bias']);

class Frame {
  /** Of the member, or the index of the item, that is read. */
  at: string | number;
  readonly names: Set<string> | null;

  constructor(readonly isOwn: boolean, isObject: boolean) {
    this.at = isObject ? '' : -1;
    this.names = isObject ? new Set() : null;
  }
}

/**
 * The first member of a JSON text that readers of JSON may understand in two ways: a name that is given twice, or one that differs from a name of
 * the dialect in upper and lower case only. Undefined when there is none. `isOwn`: the whole text is the writer's own. The text has to be JSON.
 */
export function nameFault(text: string, isOwn = false): NameFault | undefined {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = stringEnd(text, at + 1);
        if (isName && frame !== undefined && frame.names !== null) {
          const raw = text.slice(at + 1, end);
          const name = raw.includes('\\') ? JSON.parse(`"${raw}"`) as string : raw;
          frame.at = name;
          const reason = faultOf(frame, name);
          if (reason !== undefined) return { place: placeOf(frames), reason };
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
        isName = frame.names !== null;
        break;
      default:
    }
  }
  return undefined;
}

function faultOf({ names, isOwn }: Frame, name: string): string | undefined {
  if (names === null) return undefined;
  if (names.has(name)) return 'is given twice; give it once';
  names.add(name);
  if (isOwn) return undefined;
  const lower = name.toLowerCase();
  if (lower === name) return undefined;
  if (names.has(lower) || memberNames.has(lower)) return `differs from ${lower} in upper and lower case only; write it so, or leave it out`;
  names.add(lower);
  return undefined;
}

/** The quote that ends a string. */
function stringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

const placeOf = (frames: readonly Frame[]): string =>
  frames.reduce((place, { at }) => (typeof at === 'number' ? `${place}[${at}]` : place === '' ? at : `${place}.${at}`), '').slice(0, 200);
