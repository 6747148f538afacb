// A target of a call that was tried and left for another one; it has a record of its own. Calls that stay with their first target have none.

import type { Ending } from './exchange.js';
import type { Usage } from './usage.js';

export interface LeftTarget {
  /** Its own; the trace is that of the call, and the span of the call is above its own. */
  readonly id: string;
  readonly spanId: string;
  readonly provider: string;
  readonly providerSlug: string;
  readonly targetPath: string;
  readonly targetIndex: number;
  readonly retries: number;
  readonly attempts: number;
  readonly status: number;
  readonly ending: Ending;
  readonly errorCode: string;
  /** On the monotonic clock. */
  readonly startedAt: number;
  readonly tookMs: number;
  readonly upstreamMs: number;
  /** What hooks had said when it was left. */
  readonly hookResults: string;
  /** What the answer said about itself that was not wanted; null: nothing is known of it. */
  readonly usage: Usage | null;
}
