import type { UpstreamOrigin } from '../upstream/client.js';

/** Where a target's calls go. */
export interface Base {
  readonly origin: UpstreamOrigin;
  /** Scheme, host and port, for signing. */
  readonly originUrl: string;
  /** Path of the base URL, without a trailing slash. */
  readonly path: string;
}
