import type { JsonObject } from '../src/chat/types.js';
import type { ProviderCall } from '../src/kinds/provider.js';
import type { EndpointName } from '../src/shared.js';
import { fakeExchange } from './fake-exchange.js';

export interface FakeCallOptions {
  readonly endpoint?: EndpointName;
  readonly credentials?: Readonly<Record<string, unknown>>;
  readonly isStrict?: boolean;
  /** Of the client; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `unsupported_params` of the call; absent: `omit` refuses and `report` reports. */
  readonly unsupportedParams?: 'refuse' | 'omit';
}

/** Thrown by a fake call where the host answers 400. */
export class Refusal extends Error {
  constructor(readonly param: string, readonly reason: string) {
    super(`${param}: ${reason}`);
  }
}

/** A provider call without a host. Ids count up from 1; the exchange is `exchange`, created at 1700000000. */
export interface FakeCall extends ProviderCall {
  /** The parameters given to `report` and left out by `omit`, in order. */
  readonly reported: readonly string[];
}

export function fakeCall(body: JsonObject = {}, options: FakeCallOptions = {}): FakeCall {
  const reported: string[] = [];
  const endpoint = options.endpoint ?? 'chatCompletions';
  // Without indexes, as the host tells it.
  const note = (param: string): void => {
    const name = param.replace(/\[\d+\]/g, '');
    if (!reported.includes(name)) reported.push(name);
  };
  const refuse = (param: string, reason: string): never => { throw new Refusal(param, reason); };
  let ids = 0;
  const options_ = body.stream_options;
  const exchange = fakeExchange({ endpoint, body, headers: options.headers ?? {}, provider: 'provider' });
  return {
    exchange,
    endpoint,
    model: typeof body.model === 'string' ? body.model : '',
    isStream: body.stream === true,
    isStrict: options.isStrict ?? true,
    includesUsage: typeof options_ === 'object' && options_ !== null && 'include_usage' in options_ && options_.include_usage === true,
    credentials: options.credentials ?? {},
    body,
    createdAt: 1_700_000_000,
    newId: (prefix) => { ids += 1; return `${prefix}exchange${ids}`; },
    header: (name) => options.headers?.[name],
    refuse,
    omit: (param, reason) => (options.unsupportedParams === 'omit' ? note(param) : refuse(param, reason)),
    report: (param) => (options.unsupportedParams === 'refuse' ? refuse(param, 'would be left out') : note(param)),
    reported,
  };
}
