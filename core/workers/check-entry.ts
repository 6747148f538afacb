// A module of the pool: guardrail checks in a worker. The plugin's own module is loaded here, and a check is made once for its parameters.

import { isObject, type Check, type CheckInput, type EndpointName, type Exchange, type GuardrailPlugin, type Host, type Json, type TextPiece, type Verdict } from '@gateway/plugin-sdk';
import { LRUCache } from 'lru-cache';
import { loadModule } from './entry.js';

/** The part of a check's input that crosses. Bodies are JSON text: cheaper than a clone, and read only by checks that ask for them. */
export interface PoolCheckInput {
  readonly stage: 'input' | 'output';
  readonly pieces: readonly TextPiece[];
  /** The body that is judged. */
  readonly json: string | undefined;
  readonly status: number;
  readonly exchange: PoolExchange;
}

export interface PoolExchange {
  readonly id: string;
  readonly traceId: string;
  readonly endpoint: EndpointName;
  readonly startedAtMs: number;
  readonly principal: Exchange['principal'];
  readonly metadata: Readonly<Record<string, Json>>;
  readonly target: Exchange['target'];
  readonly method: string;
  readonly path: string;
  /** The request; at the input stage the same as `json`, and not sent twice. */
  readonly body: string | undefined;
}

export interface PoolCheckTask {
  readonly pluginModule: string;
  /** JSON text: it is the key of the check as well. */
  readonly params: string;
  readonly input: PoolCheckInput;
}

/** A check that is in use is closed after its last verdict. */
interface Kept {
  readonly check: Promise<Check>;
  uses: number;
  isDropped: boolean;
}

const checksMax = 256;
const checks = new LRUCache<string, Kept>({
  max: checksMax,
  dispose: (kept) => {
    kept.isDropped = true;
    closeUnused(kept);
  },
});

export async function evaluate({ pluginModule, params, input }: PoolCheckTask): Promise<Verdict> {
  const kept = keptOf(pluginModule, params);
  kept.uses += 1;
  try {
    return await (await kept.check).evaluate(inputOf(input));
  } finally {
    kept.uses -= 1;
    closeUnused(kept);
  }
}

/** Makes the check ahead of its first verdict. */
export async function prepare(pluginModule: string, params: string): Promise<void> {
  await keptOf(pluginModule, params).check;
}

function keptOf(pluginModule: string, params: string): Kept {
  const key = `${pluginModule}\n${params}`;
  let kept = checks.get(key);
  if (kept === undefined) {
    kept = { check: make(pluginModule, params), uses: 0, isDropped: false };
    checks.set(key, kept);
    kept.check.catch(() => checks.delete(key));
  }
  return kept;
}

async function make(pluginModule: string, params: string): Promise<Check> {
  const plugin: unknown = (await loadModule(pluginModule)).default;
  if (!isGuardrail(plugin)) throw new Error(`${pluginModule} is not a guardrail plugin; its default export must come from defineGuardrail`);
  return plugin.create(JSON.parse(params), poolHost);
}

function closeUnused(kept: Kept): void {
  if (!kept.isDropped || kept.uses > 0) return;
  // A check that could not be made, or does not close, is gone either way.
  kept.check.then((check) => check.close?.()).catch(() => undefined);
}

const isGuardrail = (value: unknown): value is GuardrailPlugin =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'guardrail' && 'create' in value && typeof value.create === 'function';

const missing = (name: string): never => {
  throw new Error(`host.${name} is not there in the worker pool; a plugin that needs it must run on the loop`);
};
const nothing = (): void => undefined;

/** Lines and counts of a check in the pool go nowhere: a line for each would cross the loop that the pool is to keep free. */
const poolHost: Host = {
  log: { info: nothing, warn: nothing, error: nothing },
  now: () => Date.now(),
  random: () => Math.random(),
  fetch: async () => missing('fetch'),
  store: async () => missing('store'),
  resolve: async () => missing('resolve'),
  worker: () => missing('worker'),
  secret: async () => missing('secret'),
  count: nothing,
  every: () => missing('every'),
};

/** A call that is over is ended from outside: in here nothing is ever aborted. */
const { signal } = new AbortController();

function inputOf({ stage, pieces, json, status, exchange }: PoolCheckInput): CheckInput {
  const { id, traceId, endpoint, startedAtMs, principal, metadata, target, method, path, body } = exchange;
  const judged = lazily(json, 'the judged body');
  const request = stage === 'input' && body === undefined ? judged : lazily(body, 'the request body');
  let texts: string[] | undefined;
  return {
    stage,
    pieces: () => pieces,
    text: () => texts ??= pieces.map((piece) => piece.text),
    json: judged,
    status,
    signal,
    exchange: {
      id, traceId, endpoint, startedAtMs, principal, metadata, target, signal,
      notes: new Map(),
      request: {
        method,
        path,
        header: () => undefined,
        field: (name) => {
          const value = memberOf(request(), name);
          return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
        },
        bytes: () => {
          throw new Error('the bytes of the request are not sent to the worker pool; read request.json()');
        },
        json: request,
      },
    },
  };
}

const memberOf = (value: Json, name: string): Json | undefined =>
  (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** Parsed at the first asking. */
function lazily(text: string | undefined, name: string): () => Json {
  let parsed: Json | undefined;
  return () => {
    if (text === undefined) throw new Error(`${name} is not sent to the worker pool for this check`);
    return parsed ??= JSON.parse(text) as Json;
  };
}
