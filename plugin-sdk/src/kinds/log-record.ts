import type { EndpointName } from '../shared.js';

/** One finished exchange, or a target of it that was left for another one. Holds no secret, and no body but those in `bodies`. Texts are cut where they are longer than a record has room for; `…` stands at the end then. */
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
  /** Place of the target: `config.targets[1]`. */
  readonly targetPath: string;
  /** False: the target was left for another one. Its exchange has a later record with the same trace, which is final: requests are counted by those alone. */
  readonly isFinal: boolean;
  /** Targets tried before this one. Above 0 in a final record of a success: a fallback rescued the call. */
  readonly targetIndex: number;
  /** Calls to this target beyond the first. */
  readonly retries: number;
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
  /** Of `inputTokens`: read from the provider's cache, written to it, and the kinds that have rates of their own. */
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly inputAudioTokens: number;
  readonly inputImageTokens: number;
  /** Of `outputTokens`. */
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
  readonly outputImageTokens: number;
  /** US cents; -1 while nobody has priced the call, 0 for an answer out of a cache and for a model without a price. */
  readonly cost: number;
  /** US cents that an answer out of a cache would have cost; 0 for others. */
  readonly saved: number;
  /** False: the model has no price, so `cost` is 0. */
  readonly isPriced: boolean;
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
  /** JSON of what was decided for the call beyond what the other members say: targets passed over, limits, price. Empty when nothing was. */
  readonly decision: string;
  /** The bodies and headers that were kept, where the settings of the workspace or the call ask for it; else null. */
  readonly bodies: LogBodies | null;
  /** `call`: went through the gateway; `insert`: told by a client (`POST /v1/logs`). */
  readonly source: 'call' | 'insert';
}

/** Of each call as it came, as it went up, as the provider answered and as the client was answered. Texts, cut to their limits, headers as JSON objects with what is secret in them masked; empty where there is none, or nobody asked for it. */
export interface LogBodies {
  readonly requestHeaders: string;
  readonly request: string;
  readonly upstreamUrl: string;
  readonly upstreamHeaders: string;
  readonly upstreamRequest: string;
  readonly upstreamResponse: string;
  readonly responseHeaders: string;
  readonly response: string;
}
