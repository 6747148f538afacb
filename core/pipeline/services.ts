// What the pipeline works with; put together once in each thread by app.ts.

import type { Host, LogRecord } from '@gateway/plugin-sdk';
import type { Authenticator } from '../auth/authenticate.js';
import type { PlanCache } from '../plan/plan-cache.js';
import type { ResponseStore } from '../storage/response-store.js';
import type { FaultReport } from '../telemetry/fault-report.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Breakers } from '../upstream/breaker.js';
import type { InFlight } from './cache/in-flight.js';
import type { Refreshed } from './cache/refreshed.js';

export interface PipelineSettings {
  readonly retryDelayMs: number;
  readonly requestsMax: number;
  /** Bytes of an answer that a transform has to hold whole. */
  readonly collectedBytesMax: number;
}

export interface PipelineServices {
  readonly settings: PipelineSettings;
  readonly authenticator: Authenticator;
  readonly plans: PlanCache;
  readonly breakers: Breakers;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A cache that fails costs no call anything, and may do so with every call. */
  readonly cacheFaults: Pick<FaultReport, 'add'>;
  /** False: the queue was full and the record is lost (and counted). */
  readonly record: (record: LogRecord) => boolean;
  readonly hostOf: (pluginId: string) => Host;
  /** Answers on their way that others may join. */
  readonly inFlight: InFlight;
  readonly refreshed: Refreshed;
  /** Responses kept for providers that keep none. */
  readonly responses: ResponseStore;
}
