// What the rest of core knows of the upstream side: an origin to send to. http/http-client.ts implements it; a provider's own
// transport (the mock) takes the same place. Listener and call are the SDK's shapes: no promise and no stream object for a chunk. A chunk is
// lent: its bytes stay until the running callback and its queue of process.nextTick are done (http/README.md), and whoever keeps them copies.

import type { Readable } from 'node:stream';
import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Flat: name, value, ...; names in lower case. Host and content-length of a Buffer are the client's business. */
  readonly headers: string[];
  /** Bytes must not change before the call is over: it may be repeated. A stream is sent once: such a call cannot be. */
  readonly body: Uint8Array | Readable | null;
  /** On whose behalf: a workspace, or a plugin. What one of them is waiting for has its limits. */
  readonly caller?: string;
}

export interface UpstreamOrigin {
  /** For messages: `api.example.com:8443`. */
  readonly host: string;
  send(request: UpstreamRequest, listener: UpstreamListener, watcher?: SendWatcher): UpstreamCall;
}

/** Who counts what goes over the wire. */
export interface SendWatcher {
  /** The request goes out anew: the server had closed the idle connection it was sent over. */
  onRepeat(): void;
}

/** Called by egress rules: who wrote the address. */
export type Trust = 'operator' | 'request';

export interface UpstreamClient {
  /** The origin of `url` (its path is ignored), shared by everyone who may use it with the same trust. */
  origin(url: URL, trust: Trust): UpstreamOrigin;
  close(): Promise<void>;
}
