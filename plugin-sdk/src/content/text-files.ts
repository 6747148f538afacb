// Files that travel encoded and hold text: providers hand them to the model as what they say, so they are judged like any other text.

import { mediaTypeOf } from '../chat/read.js';
import { textOrUndefined } from '../json.js';
import type { Json } from '../shared.js';

export interface TextFile {
  readonly text: string;
  /** The characters before the encoded text: the beginning of a data URL, or nothing. */
  readonly before: string;
}

const textTypes = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|jsonl)$)/;
/** Characters of base64 that show whether a file is a text. */
const glance = 64;
/** Characters that a text has none of. */
// eslint-disable-next-line no-control-regex
const binary = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/**
 * Undefined: not a file, or one of pictures, sound or other bytes. A file that says it is text is one, whatever is in it, and so is one of other
 * type whose bytes are text in UTF-8. `object` is what the member is in.
 */
export function readTextFile(value: string, name: string, object: Readonly<Record<string, Json>>): TextFile | undefined {
  // Nearly no text is one: the first letter says so cheapest.
  const isUrl = (value.charCodeAt(0) | 0x20) === 0x64 && /^data:/i.test(value);
  if (!isUrl && name !== 'file_data' && !(name === 'data' && object.type === 'base64')) return undefined;
  const comma = isUrl ? value.indexOf(',') : -1;
  if (isUrl && comma === -1) return undefined;
  const prefix = value.slice(0, comma + 1);
  const mediaType = isUrl ? /^[^;,]*/.exec(prefix.slice('data:'.length))?.[0].trim() || 'text/plain'
    : textOrUndefined(object.media_type) ?? textOrUndefined(object.mime_type) ?? mediaTypeOf(textOrUndefined(object.filename) ?? '') ?? '';
  const encoded = value.slice(prefix.length);
  let text: string | undefined;
  if (textTypes.test(mediaType.toLowerCase())) text = Buffer.from(encoded, 'base64').toString('utf8');
  // Most files show by their first bytes that they are not text; the last of these may be half of a character.
  else if (textIn(encoded.slice(0, glance), true) !== undefined) text = textIn(encoded, false);
  return text === undefined || text === '' ? undefined : { text, before: prefix };
}

/** The value of the place, with another text in the file. */
export const writeTextFile = (before: string, text: string): string => before + Buffer.from(text, 'utf8').toString('base64');

function textIn(encoded: string, isBeginning: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'), { stream: isBeginning });
    return binary.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
