import type { BinaryAnswer } from '../answer.js';
import type { JsonObject } from '../chat/types.js';
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
   * A function gets the config's `api_key` among the credentials, and may throw `ParameterError` to name the one that is missing. What it
   * gives is judged like an address of a request: private ones only where the operator trusts them.
   */
  readonly baseUrl: string | ((credentials: FromSchema<S>) => string);
  readonly auth: Auth;
  /** The provider's name in the gateway's table of prices and models, if it is not its id. */
  readonly priceTable?: string;
  /**
   * What clients call parameters besides, in credentials that are stored: `{ region: ['acme_region'] }`. A member of the objects of a list is named by its path
   * (`'deployments.alias'`), and `custom_host` may have aliases as well. A parameter's own name counts before its aliases, and they in their order.
   */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** Added to every upstream request. A value may be a credential (`{vendor_organization}`); the header is left out when it is absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The endpoints that the provider offers; a bare string is the path. An endpoint that is absent is refused with 400 before anything is sent, except
   * `messages`, `countTokens` and `responses`, which are then translated by way of `chatCompletions`.
   * A function decides by model and credentials, for each attempt; undefined: not for this call.
   */
  readonly endpoints: { readonly [E in Exclude<EndpointName, 'proxy'>]?: Endpoint<FromSchema<S>> };
  /** Reads what a provider says in an error body that is not shaped like OpenAI's; undefined: not a shape it knows. `header`: of the answer, by its name in lower case. */
  readonly error?: (body: Json, status: number, header: (name: string) => string | undefined) => ProviderFault | undefined;
  /** Signs the finished request, or gets a token for it; called for each attempt anew. Auth type `signed` only. */
  sign?(outgoing: Outgoing, keys: SigningKeys<FromSchema<S>>, host: Host): Maybe<void>;
  /** Answers in place of an upstream server: for providers that are not reached over HTTP. Created once in each thread. */
  transport?(host: Host): Maybe<Transport>;
}

export type Endpoint<C = any> = string | EndpointSpec<C> | ((call: ProviderCall<C>) => EndpointSpec<C> | string | undefined);

export type Auth =
  /** `isOptional`: the provider may do without, as a server on one's own machine does. */
  | { readonly type: 'bearer'; readonly isOptional?: boolean }
  | { readonly type: 'none' }
  /** `covers` `body`: the signature is over the body too, which is therefore collected on every route. */
  | { readonly type: 'signed'; readonly covers?: 'head' | 'body' }
  /** The API key in a header of its own; `prefix` goes before the key, its blank included. */
  | { readonly type: 'header'; readonly name: string; readonly prefix?: string }
  | { readonly type: 'query'; readonly name: string };

export interface SigningKeys<C = any> {
  /** `api_key` of the config, else the key that the client sent in Authorization. */
  readonly apiKey: string | undefined;
  readonly credentials: C;
}

export interface EndpointSpec<C = any> {
  /**
   * Appended to the base URL; what the client's path has behind the endpoint (`/{id}/content`) and the query follow. `{model}` is the
   * body's model, any other `{name}` a credential; both are checked and percent-encoded. May end in a query. A function that makes a path
   * out of input encodes it with `pathSegment`.
   */
  readonly path: string;
  /** The path of streamed calls, when it is another one. */
  readonly streamPath?: string;
  /** Another base URL than the provider's, for this endpoint; templates as there. A custom host wins over both. */
  readonly baseUrl?: string;
  /** Changes to top-level body fields, as data; applied before `request`. */
  readonly params?: Readonly<Record<string, ParamRule>>;
  /** Of `chatCompletions`: roles of messages that the provider does not know, and what they become: `{ developer: 'system' }`. */
  readonly roles?: Readonly<Record<string, string>>;
  /** Members that `chatCompletions` takes beyond OpenAI's API. Others never reach `request` when a call was translated. */
  readonly accepts?: readonly ChatExtension[];
  /** Sent with the request beside the provider's own; these win. */
  readonly headers?: Readonly<Record<string, string>> | ((call: ProviderCall<C>) => Readonly<Record<string, string>>);
  /** For `countTokens` and `responses`: `request` takes a chat body, into which the host translates the client's. */
  readonly from?: 'chat';
  /** `request` gives a list of bodies, each sent as a call of its own; `response` gets the list of answers in the same order. */
  readonly isFanOut?: true;
  /** Absent: the client's bytes go up as they came. Also for calls without a JSON body, never. */
  readonly request?: (body: JsonObject, call: ProviderCall<C>) => Json;
  /** Absent: the provider's bytes go down as they came. Answers with a status of 2xx that are not streams. */
  readonly response?: (body: Json, call: ProviderCall<C>) => Json | BinaryAnswer;
  /**
   * Of `chatCompletions` and `completions` whose streams are relayed: how the provider is asked to tell the usage of a stream. Set it where its documentation
   * says so; the host asks where a limit counts tokens or cost, and keeps what the client did not ask for. A `stream` stage tells usage by itself.
   */
  readonly streamUsage?: 'stream_options';
  /** How streamed answers are cut into events. Default: server-sent events, content type `text/event-stream`. */
  readonly framing?: Framing;
  /** Absent: chunks of a stream are relayed unread. For `chatCompletions` the stage writes chunks, and the host `[DONE]`. */
  readonly stream?: (call: ProviderCall<C>) => EventStage;
}

/**
 * `thinking`: the request member and `content_blocks` of messages. `cache_control`: on parts, messages and tools. `top_k`: the member.
 * `thought_signature`: on tool calls. `is_error`: on tool messages.
 */
export type ChatExtension = 'thinking' | 'cache_control' | 'top_k' | 'thought_signature' | 'is_error';

/** One attempt at a provider. */
export interface ProviderCall<C = any> {
  readonly exchange: Exchange;
  /** The provider's endpoint that is called: `chatCompletions` also when the client sent messages or responses. */
  readonly endpoint: EndpointName;
  /** The model that goes up; empty when the body names none. */
  readonly model: string;
  readonly isStream: boolean;
  /** `strict_reference_compliance`: the answer holds nothing that OpenAI's API does not have. False for translated calls. */
  readonly isStrict: boolean;
  /** The client wants usage in a chunk of its own (`stream_options.include_usage`). */
  readonly includesUsage: boolean;
  readonly credentials: C;
  /** The body that `request` gets; empty when the call has no JSON body. */
  readonly body: JsonObject;
  /** Seconds since the Unix epoch, for `created`. */
  readonly createdAt: number;
  /** Text that no other call of this function gives in this exchange: `prefix`, the id of the exchange without its dashes, a count. */
  newId(prefix: string): string;
  /** A header of the client, by its name in lower case. */
  header(name: string): string | undefined;
  /** Ends the attempt with 400: `param` is malformed, or there is no sending the request without it. */
  refuse(param: string, reason: string): never;
  /**
   * The provider cannot do what `param` asks for, and without it the answer would mean something else: ends the attempt with 400, unless the
   * call says `unsupported_params: omit`. When this returns, go on without it; the client reads of it as with `report`.
   */
  omit(param: string, reason: string): void;
  /**
   * `param` is left out, and the answer still means what was asked for (a hint, a tuning knob); the client reads of it in
   * `x-gateway-unsupported-params`. Ends the attempt with 400 when the call says `unsupported_params: refuse`.
   * The name is the path in the chat body, as full as it goes and without indexes: `seed`, `messages.name`, `tools.function.strict`.
   */
  report(param: string): void;
}

export interface ProviderFault {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

/** The change of one body field. A value out of range is refused with 400, never clamped. */
export interface ParamRule {
  /** The provider's name for the field. */
  readonly rename?: string;
  /** Inserted when the client sent nothing. */
  readonly default?: Json;
  readonly min?: number;
  readonly max?: number;
  /** The provider cannot take this field: refused with 400 and this reason. */
  readonly refuse?: string;
  /** Values that change nothing (`false`, `{}`) and that the provider refuses all the same: the field is left out, nobody need hear of it. */
  readonly without?: readonly Json[];
}

/** A request on its way to the provider. `headers` is a flat list: name, value, name, value; names in lower case. Both may be changed in `sign`. */
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

/** How a provider cuts its streams, when not by server-sent events. */
export interface Framing {
  /** Beginning of the content type that says that an answer is such a stream. */
  readonly contentType: string;
  readonly decoder: () => FrameDecoder;
}

/** One for each streamed answer. Both throw when the bytes are corrupt or end in the middle of a frame: the stream fails there. */
export interface FrameDecoder {
  push(chunk: Uint8Array, emit: (event: SseEvent) => void): void;
  end(emit: (event: SseEvent) => void): void;
}

/**
 * One for each streamed answer. `push` returns at once; a stage may keep events and write them later, at the latest in `end`, which is
 * called when the provider's stream has ended without a fault of the network. A stage that sees that the provider broke off, or told of an
 * error inside the stream, calls `out.fail`: the client must never take it for a whole answer.
 */
export interface EventStage<E = SseEvent> {
  push(event: E, out: EventSink): void;
  end(out: EventSink): void;
}

export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** An event on its way to the client; data that is not a text is written as JSON. */
export interface AnswerEvent {
  readonly event: string | undefined;
  readonly data: string | JsonObject;
}

export interface EventSink {
  write(event: AnswerEvent): void;
  end(): void;
  /** Ends the stream with an error event in the client's dialect. The message of a `ProviderError` is shown, others are for the log. */
  fail(error: Error): void;
}
