// Hot: runs for each call.
// One client call from its head to its log record. Every field exists from the start (one hidden class); what only plugins ask for is
// made when they ask. Implements the SDK's Exchange, so plugins get this very object.

import type { EndpointName, Exchange as PluginExchange, Json, RequestView } from '@gateway/plugin-sdk';
import { plainBytes } from '../body/body-buffer.js';
import { fail } from '../errors/gateway-error.js';
import { guardSignal } from '../errors/guard-signal.js';
import type { ClientBody } from './client-body.js';
import type { EndpointDefinition } from './endpoint.js';
import type { DecisionLog } from './decision-log.js';
import type { HookLog } from './hook-log.js';
import type { KeptBodies } from './kept-bodies.js';
import type { RequestHead } from './request-head.js';
import type { HeaderList, Responder } from './responder.js';
import { lastIdWord, parseTraceParent, randomHex, uuid } from './trace.js';
import type { Usage } from './usage.js';

export interface ExchangePrincipal {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly organisationId: string;
}

export interface StoredPromptName {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
}

export interface StoredConfigName {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
}

/** The running part of an exchange, from the moment its plan is known. */
export interface Running {
  /** Stops everything on the upstream side; nothing is heard of it again. */
  cancel(): void;
  /** What the answer, or the part of it that came, said about itself. */
  usage(): Usage | null;
  /** Called once, at the very end. */
  close(): void;
  /** A plugin threw where nobody waits for it: in a listener of a signal. */
  onPluginThrow(thrown: unknown): void;
}

/** The limits of a call, as those see them who answer it. */
export interface Hold {
  /** For 429. */
  readonly retryAfterSeconds: number;
  /** A rate limit is on the call: what a provider says of its own says nothing to the client. */
  readonly hasRates: boolean;
  /** A limit that holds for the call as a whole has refused it: no other target changes that. */
  readonly isCallRefused: boolean;
  /** Policies about models, or limits of tokens or cost, look into the body. */
  readonly readsBody: boolean;
  /** Told of each chunk of the answer; null: nobody has to count. */
  readonly delivered: { push(chunk: Uint8Array, isEventStream: boolean): void } | null;
  addHeaders(headers: HeaderList): void;
  /** The target is left, with what its answer used; null: nothing came of it. */
  leaveTarget(usage: Usage | null): void;
  /** The target was passed over before anything was sent to it. */
  skipTarget(): void;
  /** An answer of the target that nobody gets, since it is asked again. */
  throwAway(usage: Usage | null): void;
  /** Resolves when the answer can be priced; null: now, or it need not be. Never rejects. */
  loadPrice(usage: Usage | null): Promise<void> | null;
  /** Called once, at the end, with what the answer said of itself. */
  settle(usage: Usage | null, isCached: boolean): void;
}

export interface TargetView {
  readonly provider: string;
  readonly attempt: number;
}

/** Reads the members of a JSON body; given by the pipeline, which may import core/body. */
export interface BodyReader {
  parse(bytes: Uint8Array): Readonly<Record<string, unknown>>;
  field(bytes: Uint8Array, name: string): string | number | boolean | undefined;
}

const nobody: ExchangePrincipal = Object.freeze({ keyId: '', workspaceId: '', organisationId: '' });
const noTarget: TargetView = Object.freeze({ provider: '', attempt: 0 });
/** Metadata that name the end user, unless the request does; they come from its body. */
const endUserName = '_user';
const endUserCharsMax = 128;
const noMetadata: Readonly<Record<string, Json>> = Object.freeze({});
export const noBytes = new Uint8Array(0);

/** How an exchange ended, for the log: complete, or who broke it off. */
export type Ending = 'complete' | 'client' | 'upstream' | 'gateway';

export class Exchange implements PluginExchange {
  /** Milliseconds on the monotonic clock. */
  readonly startedAt = performance.now();
  readonly id = uuid();
  /** The bytes of `id`, and of `spanId` when it was made here, as the log takes them. */
  readonly idWord0 = lastIdWord(0);
  readonly idWord1 = lastIdWord(1);
  readonly idWord2 = lastIdWord(2);
  readonly idWord3 = lastIdWord(3);
  spanWord0 = 0;
  spanWord1 = 0;
  hasOwnSpan = false;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  principal: ExchangePrincipal = nobody;
  target: TargetView = noTarget;

  // ---- body ----
  bytes: Uint8Array = noBytes;
  parsed: Readonly<Record<string, unknown>> | undefined = undefined;
  /** The body has numbers with more digits than JavaScript keeps; undefined until somebody has looked. */
  hasLongNumbers: boolean | undefined = undefined;
  /** The model that a body named whose members are no longer held; else empty. */
  model = '';
  /** The end user that such a body named; else empty. */
  user = '';
  /** The client's body, when hooks have made another one of it. */
  sentBytes: Uint8Array | null = null;

  // ---- progress ----
  running: Running | null = null;
  /** Present when this call's answer goes to other clients as well: it outlives its own. */
  leaveShared: (() => void) | null = null;
  /** An error is on its way to the client; nothing else may answer. */
  isRefused = false;
  isFinished = false;
  attempts = 0;
  /** Targets that were tried before the present one. */
  targetIndex = 0;
  /** Calls to the present target beyond the first. */
  retries = 0;
  provider = '';
  /** Slug of the stored provider that the body named before its model; empty when it did not. */
  modelSlug = '';
  /** Slug of the stored provider that is tried; empty for others. */
  providerSlug = '';
  /** The stored config of the call; null: it has none. */
  storedConfig: StoredConfigName | null = null;
  /** The stored prompt that the body was made of; null: it was not. */
  prompt: StoredPromptName | null = null;
  targetPath = '';
  /** Parameters that the running target leaves out; the client reads of them in a header. */
  unsupported: string[] = [];
  /** Items of the stored responses that this one goes on from; null when there are none, or the provider keeps them. */
  history: readonly Json[] | null = null;
  /** Items kept here that the request only names, by their id; null when there are none. */
  references: ReadonlyMap<string, Json> | null = null;
  /** Null: nothing limits the call. */
  hold: Hold | null = null;
  /** Null while no hook has run. */
  hooks: HookLog | null = null;
  /** Null where nobody asks for bodies in the log, as nearly everywhere. */
  kept: KeptBodies | null = null;
  /** Null while there is nothing to say. */
  decisions: DecisionLog | null = null;
  cacheStatus = 'DISABLED';
  status = 0;
  errorCode = '';
  ending: Ending = 'complete';
  isStream = false;
  requestBytes = 0;
  /** Milliseconds spent waiting for upstream heads, all attempts together. */
  upstreamMs = 0;
  /** US cents; -1 while nobody has priced the call. */
  cost = -1;
  /** US cents that an answer out of a cache would have cost. */
  saved = 0;
  /** The cost goes by a price of the model. */
  isPriced = false;
  /** As the client reads it in a header of its answer; empty: not at all. */
  shownCost = '';
  /** On the monotonic clock; 0 until the answer begins. */
  firstByteAt = 0;

  #metadata: Readonly<Record<string, Json>> | undefined = undefined;
  #abort: AbortController | undefined = undefined;
  #notes: Map<string, unknown> | undefined = undefined;
  #view: RequestView | undefined = undefined;

  constructor(
    readonly head: RequestHead,
    /** Another one once a stored prompt is rendered; before anything but that has read it. */
    public route: EndpointDefinition,
    /** The part of the client's path behind the endpoint's own (`/{id}/content`); for the proxy the whole upstream path. */
    readonly suffix: string,
    readonly clientBody: ClientBody,
    /** Of the client; of all of them when several share the answer. */
    public responder: Responder,
    readonly reader: BodyReader,
  ) {
    const parent = head.traceParent === undefined ? undefined : parseTraceParent(head.traceParent);
    this.traceId = head.traceId || (parent === undefined ? this.id : parent.traceId);
    if (head.spanId) {
      this.spanId = head.spanId;
    } else {
      this.spanId = randomHex(8);
      this.spanWord0 = lastIdWord(0);
      this.spanWord1 = lastIdWord(1);
      this.hasOwnSpan = true;
    }
    this.parentSpanId = head.parentSpanId || (parent === undefined ? '' : parent.parentSpanId);
  }

  get endpoint(): EndpointName {
    return this.route.name;
  }

  get startedAtMs(): number {
    return performance.timeOrigin + this.startedAt;
  }

  /** Throws HEADER_INVALID when the header is not a JSON object. */
  get metadata(): Readonly<Record<string, Json>> {
    const said = this.#metadata ??= parseMetadata(this.head.metadata);
    const user = this.#endUser;
    return user === '' || Object.hasOwn(said, endUserName) ? said : this.#metadata = { ...said, [endUserName]: user };
  }

  /** As JSON, for the log; undefined when there is none. */
  get metadataText(): string | undefined {
    return this.#endUser === '' ? this.head.metadata : JSON.stringify(this.metadata);
  }

  /** `user` of a body whose members are held anyway: none is parsed for it. */
  get #endUser(): string {
    const user = this.parsed === undefined ? this.user : this.parsed.user;
    return typeof user === 'string' ? user.slice(0, endUserCharsMax) : '';
  }

  /** What the key, or else the workspace, says of the call; it wins over what the request says. The head tells the same from here on. */
  addMetadata(given: Readonly<Record<string, Json>>): void {
    this.#metadata = { ...this.metadata, ...given };
    this.head.metadata = JSON.stringify(this.#metadata);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const { running } = this;
      this.#abort = new AbortController();
      guardSignal(this.#abort.signal, (thrown) => running?.onPluginThrow(thrown));
      // Asked for after the end, by a plugin that was still at work.
      if (this.isFinished) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  get notes(): Map<string, unknown> {
    return this.#notes ??= new Map();
  }

  /** A plugin remembers something about this very call. */
  get hasNotes(): boolean {
    return this.#notes !== undefined && this.#notes.size > 0;
  }

  get request(): RequestView {
    return this.#view ??= new View(this);
  }

  /** The body as an object; empty when it is not a JSON object. Unified routes have refused a faulty body before anyone asks. */
  json(): Readonly<Record<string, unknown>> {
    if (this.parsed === undefined) this.parsed = this.isJson ? objectOf(this.reader, this.bytes) : noObject;
    return this.parsed;
  }

  /** A hook changed the body: everybody after it gets this one. `bytes`: of `body`. */
  replaceBody(body: Readonly<Record<string, unknown>>, bytes: Uint8Array): void {
    this.sentBytes ??= this.bytes;
    this.parsed = body;
    this.hasLongNumbers = undefined;
    this.bytes = bytes;
  }

  /** Nobody is expected to ask for members of the body any more, which take as much memory as its bytes. Whoever does has it parsed again. */
  forgetMembers(): void {
    if (this.parsed === undefined) return;
    const { model, user } = this.parsed;
    this.model = typeof model === 'string' ? model : '';
    this.user = typeof user === 'string' ? user : '';
    this.parsed = undefined;
  }

  get isJson(): boolean {
    const type = this.head.contentType;
    return this.bytes.length > 0 && (type === '' || type === 'application/json' || jsonType.test(type));
  }

  abortPlugins(): void {
    if (this.#abort !== undefined) this.#abort.abort();
  }
}

class View implements RequestView {
  constructor(readonly exchange: Exchange) {}
  get method(): string { return this.exchange.head.method; }
  get path(): string { return this.exchange.head.path; }
  header(nameLowerCase: string): string | undefined { return this.exchange.head.header(nameLowerCase); }
  field(name: string): string | number | boolean | undefined { return this.exchange.reader.field(this.exchange.bytes, name); }
  bytes(): Uint8Array { return plainBytes(this.exchange.bytes); }
  // JSON.parse gives nothing but JSON, so this is a change of name, not of type.
  json(): Json { return this.exchange.json() as Json; }
}

/** `application/json; charset=utf-8`, `application/vnd.api+json`; not `application/jsonl` or `application/json-seq`. */
const jsonType = /^application\/(?:[\w.+-]*[+.-])?json\s*(?:;|$)/i;
const noObject: Readonly<Record<string, unknown>> = Object.freeze({});

function objectOf(reader: BodyReader, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return reader.parse(bytes);
  } catch {
    // A proxy body is the provider's business: what is not a JSON object has no members to ask for.
    return noObject;
  }
}

function parseMetadata(text: string | undefined): Readonly<Record<string, Json>> {
  if (text === undefined || text === '') return noMetadata;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fail('HEADER_INVALID', { name: 'x-gateway-metadata', reason: 'must be a JSON object, but it is not JSON', param: 'x-gateway-metadata' });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fail('HEADER_INVALID', { name: 'x-gateway-metadata', reason: 'must be a JSON object', param: 'x-gateway-metadata' });
  }
  return value as Readonly<Record<string, Json>>;
}
