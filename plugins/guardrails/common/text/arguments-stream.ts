import type { SpanEdit, TextWindow } from '@gateway/plugin-sdk';
import { lookBackMax } from './look-back.js';
import type { SearchResult } from './pattern-stream.js';

/** Looks for something in one text that arrives in parts. */
export interface TextSearch {
  push(before: string, text: string, isLast: boolean): SearchResult;
}

export interface ChannelResult {
  readonly release: number;
  /** The spans found, as changes of the window. */
  readonly edits: readonly SpanEdit[];
}

/** Searches one channel of a streamed answer. Found spans become `replacement`. */
export interface ChannelSearch {
  push(window: TextWindow): ChannelResult;
}

export const channelSearch = (kind: TextWindow['kind'], makeSearch: () => TextSearch, replacement: string): ChannelSearch =>
  (kind === 'arguments' ? new ArgumentsSearch(makeSearch, replacement) : new PlainSearch(makeSearch(), replacement));

class PlainSearch implements ChannelSearch {
  readonly #search: TextSearch;
  readonly #replacement: string;

  constructor(search: TextSearch, replacement: string) {
    this.#search = search;
    this.#replacement = replacement;
  }

  push(window: TextWindow): ChannelResult {
    const { spans, release } = this.#search.push(window.before, window.text, window.isLast);
    return { release, edits: spans.map(({ from, to }) => ({ from, to, text: this.#replacement })) };
  }
}

/** Characters of a number that are waited for. */
const numberLengthMax = 64;
/** Decoded characters before a window that a search may look at. */
const beforeLength = 8192;

/**
 * Arguments arrive as JSON text. As in a whole answer, each string value and each number is a text of its own, read without its escapes;
 * names of members are not judged. What is put in is escaped, and a changed number becomes a string: the JSON stays whole.
 */
class ArgumentsSearch implements ChannelSearch {
  readonly #makeSearch: () => TextSearch;
  readonly #replacement: string;
  /** When the text turns out to be no JSON, it is one text. */
  #plain: PlainSearch | undefined;
  #isStarted = false;
  /** True for an object, false for a list. */
  readonly #containers: boolean[] = [];
  #isNameNext = false;
  #string: { search: TextSearch; before: string } | 'name' | undefined;

  constructor(makeSearch: () => TextSearch, replacement: string) {
    this.#makeSearch = makeSearch;
    this.#replacement = replacement;
  }

  push(window: TextWindow): ChannelResult {
    const { text, isLast } = window;
    if (!this.#isStarted) {
      const first = /[^ \t\r\n]/.exec(text)?.[0];
      if (first === undefined) return { release: text.length, edits: [] };
      this.#isStarted = true;
      if (first !== '{' && first !== '[') this.#plain = new PlainSearch(this.#makeSearch(), this.#replacement);
    }
    if (this.#plain !== undefined) return this.#plain.push(window);
    const edits: SpanEdit[] = [];
    let at = 0;
    while (at < text.length) {
      const next = this.#string === undefined ? this.#outside(text, at, isLast, edits) : this.#inside(text, at, isLast, edits);
      if (next < 0) return { release: isLast ? text.length : -next - 1, edits };
      at = next;
    }
    return { release: text.length, edits };
  }

  /** One character or number outside of strings. Where to go on; or -(place + 1) when more text is needed from that place on. */
  #outside(text: string, at: number, isLast: boolean, edits: SpanEdit[]): number {
    const character = text.charAt(at);
    switch (character) {
      case '{': case '[':
        this.#containers.push(character === '{');
        this.#isNameNext = character === '{';
        return at + 1;
      case '}': case ']':
        this.#containers.pop();
        this.#isNameNext = false;
        return at + 1;
      case ',':
        this.#isNameNext = this.#containers.at(-1) === true;
        return at + 1;
      case '"':
        this.#string = this.#isNameNext ? 'name' : { search: this.#makeSearch(), before: '' };
        this.#isNameNext = false;
        return at + 1;
      default:
    }
    if (character !== '-' && (character < '0' || character > '9')) return at + 1;
    let end = at;
    while (end < text.length && end - at < numberLengthMax && /[-+.0-9eE]/.test(text.charAt(end))) end += 1;
    if (end === text.length && !isLast && end - at < numberLengthMax) return -at - 1;
    const { spans } = this.#makeSearch().push('', text.slice(at, end), true);
    if (spans.length > 0) {
      let changed = '';
      let from = at;
      for (const span of spans) {
        changed += text.slice(from, at + span.from) + this.#replacement;
        from = at + span.to;
      }
      edits.push({ from: at, to: end, text: JSON.stringify(changed + text.slice(from, end)) });
    }
    return end;
  }

  #inside(text: string, at: number, isLast: boolean, edits: SpanEdit[]): number {
    const { decoded, offsets, end, isClosed } = decodeString(text, at);
    const string = this.#string;
    if (string === undefined || string === 'name') {
      if (isClosed) this.#string = undefined;
      // Half an escape is kept, so that the next window begins with a whole one.
      return isClosed ? end + 1 : end === text.length ? end : -end - 1;
    }
    const isStringEnd = isClosed || isLast;
    const place = (index: number): number => offsets[index] ?? end;
    const change = (spans: SearchResult['spans'], shift: number): void => {
      for (const { from, to } of spans) edits.push({ from: place(from + shift), to: place(to + shift), text: JSON.stringify(this.#replacement).slice(1, -1) });
    };
    const result = string.search.push(string.before, decoded, isStringEnd);
    change(result.spans, 0);
    let { release } = result;
    // Escapes take up to six times the room of what they stand for. When there is no room for more, what is held is decided as it is.
    if (end - place(release) > lookBackMax) {
      change(string.search.push(string.before, decoded.slice(release), true).spans, release);
      string.search = this.#makeSearch();
      release = decoded.length;
    }
    if (isClosed) {
      this.#string = undefined;
      return end + 1;
    }
    string.before = (string.before + decoded.slice(0, release)).slice(-beforeLength);
    const released = place(release);
    return released === text.length ? released : -released - 1;
  }
}

interface DecodedString {
  readonly decoded: string;
  /** Where each decoded character begins. */
  readonly offsets: readonly number[];
  /** The closing quote, or where more text is needed. */
  readonly end: number;
  readonly isClosed: boolean;
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The content of a JSON string from `at` on, up to its closing quote, to the end of the text, or to half an escape there. */
function decodeString(text: string, at: number): DecodedString {
  const offsets: number[] = [];
  let decoded = '';
  let index = at;
  while (index < text.length) {
    const character = text.charAt(index);
    if (character === '"') return { decoded, offsets, end: index, isClosed: true };
    let length = 1;
    let value = character;
    if (character === '\\') {
      const letter = text.charAt(index + 1);
      if (letter === '') break;
      length = 2;
      value = escapes[letter] ?? letter;
      if (letter === 'u') {
        if (index + 6 > text.length) break;
        length = 6;
        const code = Number.parseInt(text.slice(index + 2, index + 6), 16);
        value = Number.isNaN(code) ? '\ufffd' : String.fromCharCode(code);
      }
    }
    offsets.push(index);
    decoded += value;
    index += length;
  }
  return { decoded, offsets, end: index, isClosed: false };
}
