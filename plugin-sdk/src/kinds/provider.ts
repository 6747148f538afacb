import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, EndpointName, Json, Maybe } from '../shared.js';

/**
 * A model provider: data first, a function only where data cannot say it. What is absent costs nothing: without `request`, `response`
 * and `stream` functions the client's bytes go up and the provider's bytes come down as they are.
 */
export interface ProviderPlugin<S extends ObjectSchema = any> extends Common<'provider', S> {
  /**
   * Absolute URL without a trailing slash, up to and including the version segment. `{name}` stands for a credential of that name:
   * `https://{region}.example.com/v1`. Empty when the provider has no address of its own and a custom host is required.
   */
  readonly baseUrl: string;
  readonly auth: Auth;
  /** Added to every upstream request. A value may be a credential (`{vendor_organization}`); the header is left out when it is absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the provider offers; a bare string is the path. An endpoint that is absent is refused with 400 before anything is sent. */
  readonly endpoints: { readonly [E in Exclude<EndpointName, 'proxy'>]?: EndpointSpec | string };
  /** Reads the message out of an error body that is not shaped like OpenAI's. */
  readonly error?: (body: Json, status: number) => { readonly message: string; readonly type?: string; readonly code?: string };
  /** Signs the finished request; called for each attempt anew. Auth type `signed` only. */
  sign?(outgoing: Outgoing, credentials: FromSchema<S>, host: Host): Maybe<void>;
  /** Answers in place of an upstream server: for providers that are not reached over HTTP. Created once in each thread. */
  transport?(host: Host): Maybe<Transport>;
}

export type Auth =
  | { readonly type: 'bearer' }
  | { readonly type: 'none' }
  | { readonly type: 'signed' }
  /** The API key in a header of its own; `prefix` goes before the key, its blank included. */
  | { readonly type: 'header'; readonly name: string; readonly prefix?: string }
  | { readonly type: 'query'; readonly name: string };

export interface EndpointSpec {
  /** Appended to the base URL; what the client's path has behind the endpoint (`/{id}/content`) and the query follow. `{model}` is the body's model. */
  readonly path: string;
  /** Changes to top-level body fields, as data. */
  readonly params?: Readonly<Record<string, ParamRule>>;
  /** Absent: the client's bytes go up as they came. */
  readonly request?: (body: Json, exchange: Exchange) => Json;
  /** Absent: the provider's bytes go down as they came. */
  readonly response?: (body: Json, exchange: Exchange) => Json;
  /** Absent: chunks of a stream are relayed unread. */
  readonly stream?: (exchange: Exchange) => EventStage;
}

/** What becomes of one body field. A value out of range is refused with 400, never clamped. */
export interface ParamRule {
  /** The provider's name for the field. */
  readonly rename?: string;
  /** Inserted when the client sent nothing. */
  readonly default?: Json;
  readonly min?: number;
  readonly max?: number;
  /** The provider cannot take this field: refused with 400 and this reason. */
  readonly refuse?: string;
}

/** A request on its way to the provider. `headers` is a flat list: name, value, name, value; names in lower case. */
export interface Outgoing {
  readonly method: string;
  readonly url: URL;
  readonly headers: string[];
  readonly body: Uint8Array | undefined;
}

export interface Transport extends Closable {
  /** Starts one call. Calls to `listener` may begin before `send` returns. */
  send(outgoing: Outgoing, listener: UpstreamListener): UpstreamCall;
}

/** Hears of one upstream call: `onHead`, any number of `onChunk`, then `onEnd`; or `onError` at any point. Nothing after the last two. */
export interface UpstreamListener {
  /** `headers` is a flat list: name, value, ...; names in lower case. */
  onHead(status: number, headers: readonly string[]): void;
  /** The chunk belongs to the listener from here on. */
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** `pause` and `resume` may be called any number of times; after `cancel` the listener hears nothing more. */
export interface UpstreamCall {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** One for each streamed answer. `push` returns at once; a stage may keep events and write them later, at the latest in `end`. */
export interface EventStage {
  push(event: SseEvent, out: EventSink): void;
  end(out: EventSink): void;
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

export interface EventSink {
  write(event: SseEvent): void;
  end(): void;
  fail(error: Error): void;
}
