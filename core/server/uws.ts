// The only file that knows where uWebSockets.js comes from. It is not on npm under its own name: an installed official build is taken
// first, then the platform package of the running Node version. Types cover just the members the edge uses.
// loadUws() must run in the main thread first: the header limit is read from the process environment when the library loads.

import { createRequire } from 'node:module';
import { fail, reasonOf } from '../errors/gateway-error.js';

export type UwsText = string | ArrayBuffer | Uint8Array;

/** Valid only until the handler returns. */
export interface UwsRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string;
  forEach(callback: (name: string, value: string) => void): void;
}

/** Valid until aborted or ended; every write belongs inside cork(). */
export interface UwsResponse {
  cork(work: () => void): UwsResponse;
  writeStatus(status: UwsText): UwsResponse;
  writeHeader(name: UwsText, value: UwsText): UwsResponse;
  write(chunk: UwsText): boolean;
  tryEnd(chunk: UwsText, totalBytes: number): [ok: boolean, done: boolean];
  end(body?: UwsText, closeConnection?: boolean): UwsResponse;
  endWithoutBody(reportedBytes?: number, closeConnection?: boolean): UwsResponse;
  close(): UwsResponse;
  getWriteOffset(): number;
  onWritable(handler: (offset: number) => boolean): UwsResponse;
  onAborted(handler: () => void): UwsResponse;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  pause(): void;
  resume(): void;
  /** 4 or 16 bytes; empty when the connection is closed. */
  getRemoteAddress(): ArrayBuffer;
}

/** A listen socket; opaque. */
export type UwsListenSocket = object;

export interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  listen(host: string, port: number, options: number, callback: (socket: UwsListenSocket | false) => void): UwsApp;
  /** Called with 1 for each connection that opens, and with -1 when it has closed. */
  filter(handler: (connection: UwsResponse, change: number) => void): UwsApp;
  close(): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  SSLApp(options: { key_file_name: string; cert_file_name: string }): UwsApp;
  us_listen_socket_close(socket: UwsListenSocket): void;
  us_socket_local_port(socket: UwsListenSocket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

const packageNames = [
  'uWebSockets.js',
  `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`,
  'uwebsockets',
];

/** Loads the library. `headerBytesMax` counts only at the first call in the process, in the main thread. */
export function loadUws(headerBytesMax: number): Uws {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(headerBytesMax);
  const require = createRequire(import.meta.url);
  const faults: string[] = [];
  for (const name of packageNames) {
    try {
      const loaded: Partial<Uws> = require(name);
      if (typeof loaded.App === 'function' && typeof loaded.SSLApp === 'function') return loaded as Uws;
      faults.push(`${name}: has no App()`);
    } catch (thrown) {
      const first = reasonOf(thrown).split('\n')[0] ?? '';
      if (!first.startsWith(`Cannot find module '${name}'`)) faults.push(`${name}: ${first}`);
    }
  }
  throw fail('SETTINGS_INVALID', {
    reason: `no uWebSockets.js binary for ${process.platform}-${process.arch}, Node ${process.versions.node}${faults.length > 0 ? ` (${faults.join('; ')})` : ''}; `
      + 'cures: run Node 20 or 22 on Linux x64 (Node 24 needs glibc 2.38), run npm ci without --omit=optional, or install the official build with npm install uNetworking/uWebSockets.js#v20.51.0',
  });
}
