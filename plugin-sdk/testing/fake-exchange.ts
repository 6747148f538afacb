import { Buffer } from 'node:buffer';
import type { Exchange } from '../src/exchange.js';
import { isObject } from '../src/json.js';
import type { EndpointName, Json } from '../src/shared.js';

export interface FakeExchangeOptions {
  readonly endpoint?: EndpointName;
  /** The client's body. */
  readonly body?: Json;
  /** Of the client; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, Json>>;
  /** Default `POST` and the endpoint's own path. */
  readonly method?: string;
  readonly path?: string;
  /** Of the target; default: before the first attempt. */
  readonly provider?: string;
  readonly signal?: AbortSignal;
}

const paths: Readonly<Partial<Record<EndpointName, string>>> = {
  chatCompletions: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses', completions: '/v1/completions', embeddings: '/v1/embeddings',
};

/** An exchange without a host: its id is `exchange`, it began at 1700000000 seconds. */
export function fakeExchange(options: FakeExchangeOptions = {}): Exchange {
  const body = options.body ?? {};
  const endpoint = options.endpoint ?? 'chatCompletions';
  return {
    id: 'exchange',
    traceId: 'trace',
    endpoint,
    startedAtMs: 1_700_000_000_000,
    principal: { keyId: 'key', workspaceId: 'workspace', organisationId: 'organisation' },
    metadata: options.metadata ?? {},
    target: { provider: options.provider ?? '', attempt: options.provider === undefined ? 0 : 1 },
    request: {
      method: options.method ?? 'POST',
      path: options.path ?? paths[endpoint] ?? '/v1/',
      header: (name) => options.headers?.[name],
      field: (name) => {
        const value = isObject(body) ? body[name] : undefined;
        return typeof value === 'object' || value === null ? undefined : value;
      },
      bytes: () => Buffer.from(JSON.stringify(body)),
      json: () => body,
    },
    signal: options.signal ?? new AbortController().signal,
    notes: new Map(),
  };
}
