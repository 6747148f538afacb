import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, EndpointName, Maybe } from '../shared.js';

/** Takes batches of finished exchanges, off the path of a call: in a thread of the process where only exporters run. One instance for all calls. */
export interface Exporter extends Closable {
  /** One batch at a time. A rejection counts the batch as dropped. */
  export(batch: readonly LogRecord[], signal: AbortSignal): Maybe<void>;
}

/** One finished exchange. Holds no body, no header and no secret. Texts are cut where they are longer than a record has room for; `…` stands at the end then. */
export interface LogRecord {
  readonly id: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly spanName: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  /** Empty when no key named the caller. Of such exchanges only some are recorded; keep them where they push out no other. */
  readonly keyId: string;
  readonly endpoint: EndpointName;
  readonly method: string;
  readonly path: string;
  /** Empty when no target was tried. */
  readonly provider: string;
  /** The model the answer names, else the one asked for; empty when unknown. */
  readonly model: string;
  /** Slug of the stored provider that was tried last; empty for others. */
  readonly providerSlug: string;
  /** Ids of the stored config and of its version; empty without. */
  readonly configId: string;
  readonly configVersionId: string;
  /** The stored prompt that the call was made of, and its version; empty without. */
  readonly promptSlug: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  /** Place of the last target tried: `config.targets[1]`. */
  readonly targetPath: string;
  readonly status: number;
  /** How the exchange ended; `client` and `upstream` say who left before the end. */
  readonly ended: 'complete' | 'client' | 'upstream' | 'gateway';
  /** Code of the gateway's own error, else empty. */
  readonly errorCode: string;
  readonly isStream: boolean;
  /** Upstream calls made for this exchange, over all targets; 0 for one that was answered by a cache, or went along with another's call. */
  readonly attempts: number;
  /**
   * With `HIT`, `SEMANTIC HIT` and `SHARED` the tokens below are those of the answer, which another exchange has paid for: sums of cost leave these
   * records out.
   */
  readonly cacheStatus: string;
  readonly finishReason: string;
  /** From the provider's usage; -1 where it reported none. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  /** Milliseconds from the request's head to the first byte of the answer; -1 when none was sent. */
  readonly firstByteMs: number;
  /** Milliseconds from the request's head to the end. */
  readonly tookMs: number;
  /** Milliseconds of `firstByteMs` that were spent waiting for the upstream. */
  readonly upstreamMs: number;
  readonly metadata: string;
  /** JSON of `before_request_hooks`, `after_request_hooks` and `async_hooks`; empty when no hook ran. */
  readonly hookResults: string;
}

export interface ExporterPlugin<S extends ObjectSchema = any> extends Common<'exporter', S> {
  /** Largest batch, and the longest a record waits for one. */
  readonly batch?: { readonly countMax: number; readonly waitMsMax: number };
  create(params: FromSchema<S>, host: Host): Maybe<Exporter>;
}
