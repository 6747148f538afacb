/**
 * Thrown by `create()` when parameters that fit the schema still make no sense together.
 * `path` is relative to the parameters (`conditions[0].then`); the host turns it into the place in the config and answers 400.
 */
export class ParameterError extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.name = 'ParameterError';
    this.path = path;
  }
}

const secretErrorMarker: unique symbol = Symbol.for('gateway.secret-error');

/** Why a source of secrets gives no value. Its message is shown to whoever calls with the reference: no address, no credential, nothing of a value. */
export class SecretError extends Error {
  readonly [secretErrorMarker] = true;
  constructor(message: string) {
    super(message);
    this.name = 'SecretError';
  }
}

/** Known by its marker: two copies of this package agree. */
export const isSecretError = (value: unknown): value is SecretError => typeof value === 'object' && value !== null && secretErrorMarker in value;

const providerErrorMarker: unique symbol = Symbol.for('gateway.provider-error');

/**
 * What a provider says in the middle of a stream, for `EventSink.fail`. Its message is the provider's own and shown to the client.
 * `status` is the HTTP status that the provider would have answered with (default 502).
 */
export class ProviderError extends Error {
  readonly [providerErrorMarker] = true;
  readonly status: number;
  readonly type: string | undefined;
  readonly code: string | undefined;
  constructor(message: string, details: { readonly status?: number | undefined; readonly type?: string | undefined; readonly code?: string | undefined } = {}) {
    super(message);
    this.name = 'ProviderError';
    this.status = details.status ?? 502;
    this.type = details.type;
    this.code = details.code;
  }
}

/** Known by its marker: two copies of this package agree. */
export const isProviderError = (value: unknown): value is ProviderError => typeof value === 'object' && value !== null && providerErrorMarker in value;
