// Metadata from request headers that the operator has named (GATEWAY_HEADERS_TO_METADATA): single headers, or all members of W3C baggage. x-gateway-metadata
// wins over them, and the metadata of key and workspace wins over both. Runs only where the setting names a header.

import type { Json } from '@gateway/plugin-sdk';
import type { Exchange } from '../../exchange/exchange.js';

const baggageName = 'baggage';
/** Length of a name or a value; a longer value is cut. */
const charsMax = 128;
/** Of one baggage header (https://www.w3.org/TR/baggage/#limits). */
const membersMax = 64;
const baggageCharsMax = 8_192;

interface Mapping {
  readonly header: string;
  readonly name: string;
}

export class HeaderMetadata {
  readonly #mappings: readonly Mapping[];
  readonly #readsBaggage: boolean;

  /** Entries of the setting: `x-team`, `x-team:team`, `baggage`. */
  constructor(entries: readonly string[]) {
    this.#readsBaggage = entries.some((entry) => entry.toLowerCase() === baggageName);
    this.#mappings = entries.filter((entry) => entry.toLowerCase() !== baggageName).map((entry) => {
      const end = entry.indexOf(':');
      const header = (end === -1 ? entry : entry.slice(0, end)).toLowerCase();
      return { header, name: end === -1 ? header : entry.slice(end + 1) };
    });
  }

  addTo(exchange: Exchange): void {
    const { head } = exchange;
    const found: Record<string, Json> = {};
    let isAny = false;
    const put = (name: string, value: string): void => {
      found[name] = value.slice(0, charsMax);
      isAny = true;
    };
    if (this.#readsBaggage) {
      const text = head.header(baggageName);
      if (text !== undefined) for (const [name, value] of baggageMembers(text)) put(name, value);
    }
    for (const { header, name } of this.#mappings) {
      const value = head.header(header);
      if (value !== undefined && value !== '') put(name, value);
    }
    if (isAny) exchange.addMetadata({ ...found, ...exchange.metadata });
  }
}

const memberShape = /^[\t ]*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,128})[\t ]*=[\t ]*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)[\t ]*(?:;.*)?$/;

/** Malformed members are passed over. The properties of a member are ignored. */
function* baggageMembers(text: string): Generator<readonly [name: string, value: string]> {
  if (text.length > baggageCharsMax) return;
  for (const member of text.split(',', membersMax)) {
    const [, name, value] = memberShape.exec(member) ?? [];
    if (name === undefined || value === undefined || name === '__proto__') continue;
    yield [name, decoded(value)];
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
