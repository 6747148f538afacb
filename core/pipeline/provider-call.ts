// Made for each attempt at a provider that has functions, or whose dialect is not the client's; other attempts do without.
// What the provider's functions are told of the call, and how they refuse or report a parameter.

import type { EndpointName, JsonObject, ProviderCall as Call } from '@gateway/plugin-sdk';
import { fail } from '../errors/gateway-error.js';
import type { Exchange } from '../exchange/exchange.js';

/** Of the header that lists what was left out. */
const namesMax = 32;
const nameCharactersMax = 64;
const nothing: JsonObject = Object.freeze({});

export class ProviderCall implements Call {
  endpoint: EndpointName;
  model = '';
  isStream = false;
  includesUsage = false;
  body: JsonObject = nothing;
  #ids = 0;

  constructor(readonly exchange: Exchange, readonly credentials: Readonly<Record<string, unknown>>, public isStrict: boolean) {
    this.endpoint = exchange.route.name;
  }

  /** What goes into the provider's functions from here on. */
  take(body: JsonObject): void {
    this.body = body;
    this.isStream = body.stream === true;
    if (typeof body.model === 'string') this.model = body.model;
    const options = body.stream_options;
    this.includesUsage = typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
  }

  get createdAt(): number {
    return Math.floor(this.exchange.startedAtMs / 1000);
  }

  newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}${this.exchange.id.replaceAll('-', '')}${this.#ids}`;
  }

  header(name: string): string | undefined {
    return this.exchange.head.header(name);
  }

  refuse(param: string, reason: string): never {
    throw fail('BODY_INVALID', { param, reason: `${this.exchange.provider}: ${reason}` });
  }

  report(param: string): void {
    const { unsupported } = this.exchange;
    // A name of the client's choosing becomes part of a header: nothing that could end it, and not without limit.
    const name = param.slice(0, nameCharactersMax).replace(/[^\x20-\x2b\x2d-\x7e]/g, '?');
    if (unsupported.length < namesMax && !unsupported.includes(name)) unsupported.push(name);
  }
}
