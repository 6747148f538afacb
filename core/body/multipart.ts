// multipart/form-data (RFC 7578) on its bytes: simple fields read, replaced, added or taken out; file parts are stepped over and keep their
// bytes. Runs for calls whose body is a form and only when a route or config asks for a field. Line ends must be CRLF, as the RFC says: a
// more generous reading than the provider's could be made to see other fields than the provider does.

import { fail, type GatewayError } from '../errors/gateway-error.js';
import { asBuffer } from './cursor.js';
import { Patch } from './patch.js';

export interface FieldEdit {
  readonly kind: 'set' | 'default' | 'remove';
  readonly name: string;
  /** Not looked at by `remove`. */
  readonly value: string;
}

const boundaryCharactersMax = 70;
const partsMax = 1_024;
const partHeadBytesMax = 16_384;
/** Longest field that multipartField() reads. */
const fieldBytesMax = 65_536;

const parameter = /\s*;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/y;

/** The boundary of a multipart/form-data content type; undefined for other types, without one, or with more than one. */
export function multipartBoundary(contentType: string): string | undefined {
  const type = /^\s*multipart\/form-data\s*(?=;)/i.exec(contentType);
  const boundaries = type === null ? undefined : parametersOf(contentType, type[0].length)?.filter(([name]) => name === 'boundary');
  const boundary = boundaries?.length === 1 ? boundaries[0]?.[1] : undefined;
  return boundary !== undefined && boundary.length <= boundaryCharactersMax && /^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary) ? boundary : undefined;
}

/** A text field's value; the first when there are several. Undefined when there is none, it is a file or too long, or the form is broken before it. */
export function multipartField(bytes: Uint8Array, boundary: string, name: string): string | undefined {
  const parts = new PartCursor(asBuffer(bytes), boundary);
  while (parts.next()) {
    if (parts.isFile || parts.name !== name) continue;
    const { bytes: body, contentStart, contentEnd } = parts;
    return contentEnd - contentStart > fieldBytesMax ? undefined : body.toString('utf8', contentStart, contentEnd);
  }
  return undefined;
}

/** Every reader finds the same simple field of this name in the form, or none: it is there once, and each part says in the plainest way what it is. */
export function hasOneReading(bytes: Uint8Array, boundary: string, name: string): boolean {
  const body = asBuffer(bytes);
  const parts = new PartCursor(body, boundary);
  let count = 0;
  let found = 0;
  while (parts.next()) {
    count += 1;
    if (parts.name === '' || parts.isUnclear) return false;
    if (parts.name.toLowerCase() !== name) continue;
    found += 1;
    if (parts.isFile || parts.name !== name) return false;
  }
  if (!parts.isWhole || found > 1) return false;
  // Readers who take other line ends would see more parts.
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  let delimiters = 0;
  for (let at = body.indexOf(delimiter); at !== -1 && delimiters <= count + 1; at = body.indexOf(delimiter, at + 1)) delimiters += 1;
  return delimiters === count + 1;
}

/** A field of the form as the edits leave it. */
interface Field {
  readonly name: string;
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
  isRemoved: boolean;
  /** The new value; null while the bytes hold it. */
  value: string | null;
}

/**
 * Applies the edits in order; a set field takes the place of all simple fields of its name. A name that belongs to a file is left as it is.
 * Returns the same bytes when there was nothing to change. Throws BODY_INVALID when the form is broken.
 */
export function editMultipart(bytes: Uint8Array, boundary: string, edits: readonly FieldEdit[]): Uint8Array {
  const body = asBuffer(bytes);
  const parts = new PartCursor(body, boundary);
  const fields: Field[] = [];
  while (parts.next()) {
    fields.push({ name: parts.name, isFile: parts.isFile, start: parts.start, end: parts.end, isRemoved: false, value: null });
  }
  if (!parts.isWhole) throw fail('BODY_INVALID', { param: 'body', reason: 'is not a whole multipart/form-data form with the boundary of its content-type' });
  for (const edit of edits) applyEdit(fields, edit, parts.end);
  const patch = new Patch();
  for (const { name, start, end, isRemoved, value } of fields) {
    const isNew = start === end;
    if (isRemoved && !isNew) patch.remove(start, end);
    else if (!isRemoved && value !== null) patch.replace(start, end, partOf(boundary, name, value), nothing);
  }
  return patch.isEmpty ? bytes : patch.apply(body);
}

const nothing = new Uint8Array(0);

function applyEdit(fields: Field[], edit: FieldEdit, closeAt: number): void {
  const { kind, name, value } = edit;
  const present = fields.filter((field) => field.name === name && !field.isRemoved);
  if (present.some((field) => field.isFile)) return;
  if (present.length > 0 && kind === 'default') return;
  for (const [index, field] of present.entries()) {
    if (kind === 'set' && index === 0) field.value = value;
    else field.isRemoved = true;
  }
  if (present.length === 0 && kind !== 'remove') fields.push({ name, isFile: false, start: closeAt, end: closeAt, isRemoved: false, value });
}

function partOf(boundary: string, name: string, value: string): string {
  if (value.includes(`--${boundary}`)) throw unfit(name);
  const escaped = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`;
}

const unfit = (name: string): GatewayError =>
  fail('BODY_INVALID', { param: name, reason: 'the boundary of the form occurs in the value that the config gives this field; use another boundary' });

/** Walks the parts of a form: from each delimiter line to the next. */
class PartCursor {
  /** Where the part's delimiter line begins, and where the next one does. After the last part both are at the closing delimiter. */
  start = -1;
  end: number;
  name = '';
  isFile = false;
  /** Its head may be read in several ways. */
  isUnclear = false;
  contentStart = -1;
  contentEnd = -1;
  /** The closing delimiter was reached. */
  isWhole = false;
  readonly #delimiter: Buffer;
  #count = 0;

  constructor(readonly bytes: Buffer, boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.end = this.#first();
  }

  next(): boolean {
    const { bytes } = this;
    if (this.end === -1) return false;
    this.start = this.end;
    const afterDelimiter = this.start + this.#delimiter.length - 2;
    if (isDashes(bytes, afterDelimiter)) {
      this.isWhole = true;
      return false;
    }
    this.#count += 1;
    this.end = -1;
    const headStart = lineEnd(bytes, afterDelimiter);
    if (headStart === -1 || this.#count > partsMax || !this.#readHead(headStart)) return false;
    const next = this.#find(this.contentStart);
    if (next === -1) return false;
    this.contentEnd = next;
    this.end = next + 2;
    return true;
  }

  /** The first delimiter stands at the beginning or after a preamble. */
  #first(): number {
    const { bytes } = this;
    const delimiter = this.#delimiter.subarray(2);
    if (bytes.subarray(0, delimiter.length).equals(delimiter) && isDelimiterEnd(bytes, delimiter.length)) return 0;
    const found = this.#find(0);
    return found === -1 ? -1 : found + 2;
  }

  /** Index of the CRLF before the next delimiter; text that only begins like one is content. */
  #find(from: number): number {
    const delimiter = this.#delimiter;
    for (let at = this.bytes.indexOf(delimiter, from); at !== -1; at = this.bytes.indexOf(delimiter, at + 2)) {
      if (isDelimiterEnd(this.bytes, at + delimiter.length)) return at;
    }
    return -1;
  }

  #readHead(headStart: number): boolean {
    const { bytes } = this;
    // The line break of the delimiter line counts, so that an empty head is found too.
    const window = bytes.subarray(headStart - 2, headStart + partHeadBytesMax);
    const length = window.indexOf('\r\n\r\n', 0, 'latin1');
    if (length === -1) return false;
    this.contentStart = headStart + length + 2;
    this.name = '';
    this.isFile = false;
    this.isUnclear = false;
    const head = window.toString('utf8', 0, length + 2);
    const disposition = /\r\ncontent-disposition:[ \t]*form-data[ \t]*(?=;)([^\r\n]*)\r\n/i.exec(head);
    const parameters = disposition === null ? undefined : parametersOf(disposition[1] ?? '', 0);
    // A part that says nothing usable about itself is a file: kept, never read.
    if (parameters === undefined) this.isFile = true;
    let names = 0;
    for (const [name, value] of parameters ?? []) {
      if (name === 'name*') this.isUnclear = true;
      if (name === 'name') {
        this.name = value;
        names += 1;
      }
      else if (name === 'filename' || name === 'filename*') this.isFile = true;
    }
    if (names !== 1 || disposition?.[1]?.includes('\\') === true || (head.match(/content-disposition[ \t]*:/gi)?.length ?? 0) !== 1) this.isUnclear = true;
    return true;
  }
}

const isDashes = (bytes: Buffer, at: number): boolean => bytes[at] === 0x2d && bytes[at + 1] === 0x2d;

const isDelimiterEnd = (bytes: Buffer, at: number): boolean => isDashes(bytes, at) || lineEnd(bytes, at) !== -1;

/** Index behind the CRLF at `at`, before which blanks may stand; -1 when it is none. */
function lineEnd(bytes: Buffer, at: number): number {
  let index = at;
  while (bytes[index] === 0x20 || bytes[index] === 0x09) index += 1;
  return bytes[index] === 0x0d && bytes[index + 1] === 0x0a ? index + 2 : -1;
}

/** `;name=value` pairs from `at` on, names in lower case; undefined when anything else is among them. */
function parametersOf(text: string, at: number): [name: string, value: string][] | undefined {
  const pairs: [string, string][] = [];
  let from = at;
  while (from < text.length) {
    parameter.lastIndex = from;
    const match = parameter.exec(text);
    if (match === null) return /^[\s;]*$/.test(text.slice(from)) ? pairs : undefined;
    const [, name = '', quoted, plain = ''] = match;
    pairs.push([name.toLowerCase(), quoted === undefined ? plain : quoted.replace(/\\(["\\])/g, '$1')]);
    from = parameter.lastIndex;
  }
  return pairs;
}
