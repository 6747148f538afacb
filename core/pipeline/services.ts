// The services of the pipeline; put together once in each thread by app.ts.

import type { Host } from '@gateway/plugin-sdk';
import type { Authenticator } from '../auth/authenticate.js';
import type { Exchange } from '../exchange/exchange.js';
import type { KeptRoom } from '../exchange/kept-bodies.js';
import type { LeftTarget } from '../exchange/left-target.js';
import type { Usage } from '../exchange/usage.js';
import type { Gate } from '../limits/gate.js';
import type { RateBook } from '../limits/rate-book.js';
import type { PlanCache } from '../plan/plan-cache.js';
import type { StoredRows } from '../plan/plan-sources.js';
import type { ResponseStore } from '../storage/response-store.js';
import type { FaultReport } from '../telemetry/fault-report.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Breakers } from '../upstream/breaker.js';
import type { TimerWheel } from '../upstream/timer-wheel.js';
import type { BuiltBodies } from './cache/built-bodies.js';
import type { InFlight } from './cache/in-flight.js';
import type { HeaderMetadata } from './request/header-metadata.js';
import type { Refreshed } from './cache/refreshed.js';

export interface PipelineSettings {
  readonly retryDelayMs: number;
  readonly requestsMax: number;
  /** Bytes of an answer that a transform has to hold whole. */
  readonly collectedBytesMax: number;
  /** The cost of a call stands in a header of its answer, which is collected for that. */
  readonly showsCost: boolean;
}

export interface PipelineServices {
  readonly settings: PipelineSettings;
  readonly authenticator: Authenticator;
  readonly plans: PlanCache;
  readonly rows: StoredRows;
  /** Null: no header counts as metadata. */
  readonly headerMetadata: HeaderMetadata | null;
  readonly breakers: Breakers;
  /** Time-outs of attempts. */
  readonly timers: TimerWheel;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A cache that fails costs no call anything, and may do so with every call. */
  readonly cacheFaults: Pick<FaultReport, 'add'>;
  /**
   * Told of each exchange that has ended, with what its answer said about itself, and before that of each target of it that was tried and left; null
   * when nothing is logged.
   */
  readonly record: ((exchange: Exchange, usage: Usage | null, left: LeftTarget | null) => void) | null;
  /** Room of bodies that are kept for the log; null when nothing is logged. */
  readonly keptRoom: KeptRoom | null;
  readonly hostOf: (pluginId: string) => Host;
  /** Answers on their way that others may join. */
  readonly inFlight: InFlight;
  readonly refreshed: Refreshed;
  readonly builtBodies: BuiltBodies;
  /** The body of the answer to a request for models that names no provider. Rejects with client errors. */
  readonly listModels: (exchange: Exchange) => Promise<string | Uint8Array>;
  /** Prices of models, for calls that are priced before their record is. */
  readonly rates: RateBook;
  /** Of limits. */
  readonly gate: Gate;
  /** Responses kept for providers that keep none. */
  readonly responses: ResponseStore;
}
