import type { EndpointName, Json } from './shared.js';

/** One client call and its answer, as plugins see it. Valid until the exchange ends; never keep it. */
export interface Exchange {
  readonly id: string;
  readonly traceId: string;
  readonly endpoint: EndpointName;
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number;
  readonly principal: { readonly keyId: string; readonly workspaceId: string; readonly organisationId: string };
  /** The JSON object of `x-gateway-metadata`. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** The target of the running attempt; before the first attempt an empty provider and attempt 0. */
  readonly target: { readonly provider: string; readonly attempt: number };
  readonly request: RequestView;
  /** Aborted when the client leaves or the exchange ends early. */
  readonly signal: AbortSignal;
  /** A drawer for this exchange, shared by the plugins on the route: prefix keys with the plugin's id. */
  readonly notes: Map<string, unknown>;
}

/** The client's request. Reading above the level that `needs.request` declared throws. */
export interface RequestView {
  readonly method: string;
  /** Path as the client sent it, without the query string. */
  readonly path: string;
  header(nameLowerCase: string): string | undefined;
  /** Level `bytes`: one top-level scalar of a JSON body, found by scanning; nothing else is decoded. */
  field(name: string): string | number | boolean | undefined;
  /** Level `bytes`: the body, owned by the host. Read it; never keep it, never write to it. */
  bytes(): Uint8Array;
  /** Level `json`: parsed once for each exchange and shared. */
  json(): Json;
}
