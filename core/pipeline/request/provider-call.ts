// Made for each attempt at a provider that has functions, or whose dialect is not the client's; other attempts do without.
// The call as the provider's functions see it, and how they refuse or report a parameter.

import type { EndpointName, JsonObject, ProviderCall as Call } from '@gateway/plugin-sdk';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { TargetPlan } from '../../plan/plan.js';

/** Of the header that lists what was left out. */
const namesMax = 32;
const nameCharactersMax = 64;
const nothing: JsonObject = Object.freeze({});
const noNames: ParamNames = new Map();

/** Members of a chat body, or paths in it -> what the client's dialect calls them. */
export type ParamNames = ReadonlyMap<string, string>;

export type UnsupportedMode = 'refuse' | 'omit';
export const isUnsupportedMode = (value: string): value is UnsupportedMode => value === 'refuse' || value === 'omit';

/** The rule of the call, or else of the config, for parameters that the provider cannot take. */
export function unsupportedMode(exchange: Exchange, target: TargetPlan): UnsupportedMode | null {
  const { unsupportedParams } = exchange.head;
  return unsupportedParams !== undefined && isUnsupportedMode(unsupportedParams) ? unsupportedParams : target.unsupportedParams;
}

/** `param` goes into the header of what was left out, once. */
export function reportUnsupported(exchange: Exchange, param: string): void {
  const { unsupported } = exchange;
  // A name of the client's choosing becomes part of a header: nothing that could end it, and not without limit.
  const name = param.replace(/\[\d+\]/g, '').slice(0, nameCharactersMax).replace(/[^\x20-\x2b\x2d-\x7e]/g, '?');
  if (unsupported.length < namesMax && !unsupported.includes(name)) unsupported.push(name);
}

export class ProviderCall implements Call {
  endpoint: EndpointName;
  model = '';
  isStream = false;
  includesUsage = false;
  isStrict: boolean;
  body: JsonObject = nothing;
  /** Of the client's dialect, once its body was translated. */
  names: ParamNames = noNames;
  readonly #unsupported: UnsupportedMode | null;
  #ids = 0;

  constructor(readonly exchange: Exchange, target: TargetPlan, readonly credentials: Readonly<Record<string, unknown>>) {
    const { strict } = exchange.head;
    this.endpoint = exchange.route.name;
    this.isStrict = strict === undefined ? target.isStrict : strict !== 'false';
    this.#unsupported = unsupportedMode(exchange, target);
  }

  /** The body that the provider's functions get from here on. */
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
    throw fail('BODY_INVALID', { param: this.#nameOf(param), reason: `${this.exchange.provider}: ${reason}` });
  }

  omit(param: string, reason: string): void {
    if (this.#unsupported !== 'omit') this.refuse(param, reason);
    reportUnsupported(this.exchange, this.#nameOf(param));
  }

  report(param: string): void {
    if (this.#unsupported === 'refuse') this.refuse(param, 'cannot take it, and unsupported_params says refuse; leave it out, or say omit');
    reportUnsupported(this.exchange, this.#nameOf(param));
  }

  #nameOf(param: string): string {
    for (const [name, own] of this.names) {
      if (param.startsWith(name) && (param.length === name.length || param[name.length] === '.' || param[name.length] === '[')) return own + param.slice(name.length);
    }
    return param;
  }
}
