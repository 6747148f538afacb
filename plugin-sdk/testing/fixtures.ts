import { Buffer } from 'node:buffer';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../src/chat/types.js';
import type { EndpointName, Json } from '../src/shared.js';
import { encodeFrame, type Frame } from './event-stream-frames.js';

/**
 * One documented exchange with a provider, in a folder of its own:
 * - `request.json`: `{ endpoint, credentials?, isStrict?, headers?, body }`, what the client and the config say;
 * - `upstream-request.json`: `{ path, headers?, body }`, what the provider must get (path and query below the base URL);
 * - `upstream-response.json`: `{ status, headers?, body }`; for streams `upstream-response.sse`, `upstream-response.ndjson`, or
 *   `upstream-events.json` (a list of `{ headers, payload }`, sent as binary event-stream frames);
 * - `response.json`: `{ status, body }`; for streams `response.sse.json`: a list of `{ event?, data }`, the last one `{ fail }` when the
 *   stream must fail with a message that holds that text.
 *
 * `gateway-plugin fixtures` writes the files that say what the provider makes of the others.
 *
 * The id of the exchange is `exchange`, its time 1700000000, and ids that the provider makes count up from 1.
 */
export interface Fixture {
  readonly name: string;
  readonly request: FixtureRequest;
  /** Undefined until it is written. */
  readonly upstreamRequest: UpstreamRequestFixture | undefined;
  readonly upstream: UpstreamAnswer;
  readonly response: { readonly status: number; readonly body: Json } | undefined;
  readonly events: readonly FixtureEvent[] | undefined;
}

export interface UpstreamRequestFixture {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
}

export interface FixtureRequest {
  readonly endpoint: EndpointName;
  readonly credentials?: Readonly<Record<string, unknown>>;
  readonly isStrict?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly isStream: boolean;
}

export type FixtureEvent = { readonly event?: string; readonly data: Json } | { readonly fail: string };

const streamTypes: Readonly<Record<string, string>> = {
  'upstream-response.sse': 'text/event-stream',
  'upstream-response.ndjson': 'application/x-ndjson',
};

/** The fixtures below `folder`, sorted by name; none when there is no such folder. */
export function readFixtures(folder: string): Fixture[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readFixture(join(folder, entry.name), entry.name))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

function readFixture(folder: string, name: string): Fixture {
  // Test files of the repository: what is wrong with them shows in the comparison.
  const read = <T>(file: string): T => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const has = (file: string): boolean => existsSync(join(folder, file));
  return {
    name,
    request: read('request.json'),
    upstreamRequest: has('upstream-request.json') ? read('upstream-request.json') : undefined,
    upstream: readAnswer(folder, read, has),
    response: has('response.json') ? read('response.json') : undefined,
    events: has('response.sse.json') ? read('response.sse.json') : undefined,
  };
}

function readAnswer(folder: string, read: <T>(file: string) => T, has: (file: string) => boolean): UpstreamAnswer {
  for (const [file, type] of Object.entries(streamTypes)) {
    if (has(file)) return { status: 200, headers: { 'content-type': type }, bytes: readFileSync(join(folder, file)), isStream: true };
  }
  if (has('upstream-events.json')) {
    const frames: Frame[] = read('upstream-events.json');
    return { status: 200, headers: { 'content-type': 'application/vnd.amazon.eventstream' }, bytes: Buffer.concat(frames.map(encodeFrame)), isStream: true };
  }
  const { status, headers, body }: { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: Json } = read('upstream-response.json');
  return { status, headers: { 'content-type': 'application/json', ...headers }, bytes: Buffer.from(JSON.stringify(body)), isStream: false };
}
