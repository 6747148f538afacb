// A guardrail check that runs in the worker pool, as the loop's side sees it.

import type { CheckInput, Exchange, Json, Verdict } from '@gateway/plugin-sdk';
import type { PoolCheckTask } from './check-entry.js';
import type { WorkerPool } from './pool.js';

const module = new URL('./check-entry.js', import.meta.url);

export interface PoolCheckOptions {
  /** False: bodies stay here, for a check that reads `pieces()` and `text()` alone. Default true. */
  readonly sendsJson?: boolean;
}

export class PoolCheck {
  readonly #params: string;
  readonly #pluginModule: string;
  readonly #sendsJson: boolean;

  /** `params` are plain data, with defaults filled in. The plugin's module is what a worker imports: another query string is another version of it. */
  constructor(readonly pool: WorkerPool, pluginModule: URL, params: object, readonly timeoutMs: number, { sendsJson = true }: PoolCheckOptions = {}) {
    this.#params = JSON.stringify(params);
    this.#pluginModule = pluginModule.href;
    this.#sendsJson = sendsJson;
    pool.warm(module);
    pool.warm(pluginModule);
  }

  /** Makes the check in a worker. Rejects with what `create` says about the parameters, or with why the plugin cannot be loaded. */
  async prepare(): Promise<void> {
    await this.pool.call(module, 'prepare', [this.#pluginModule, this.#params], { timeoutMs: this.timeoutMs, blame: this.#pluginModule });
  }

  /** Rejects with a WorkerError. */
  async evaluate(input: CheckInput): Promise<Verdict> {
    const { timeoutMs } = this;
    const task = this.#taskOf(input);
    return await this.pool.call(module, 'evaluate', [task], { timeoutMs, blame: this.#pluginModule, signal: input.signal }) as Verdict;
  }

  #taskOf({ stage, pieces, json, status, exchange }: CheckInput): PoolCheckTask {
    const { id, traceId, endpoint, startedAtMs, principal, metadata, target, request } = exchange;
    return {
      pluginModule: this.#pluginModule,
      params: this.#params,
      input: {
        stage,
        pieces: pieces(),
        json: this.#sendsJson ? textOf(json()) : undefined,
        status,
        exchange: {
          id, traceId, endpoint, startedAtMs, metadata,
          // Both may be objects of the host with more on them.
          principal: { keyId: principal.keyId, workspaceId: principal.workspaceId, organisationId: principal.organisationId },
          target: { provider: target.provider, attempt: target.attempt },
          method: request.method,
          path: request.path,
          body: this.#sendsJson && stage === 'output' ? bodyOf(exchange) : undefined,
        },
      },
    };
  }
}

/** A route may not need the request's JSON; then the check cannot read it either. */
function bodyOf(exchange: Exchange): string | undefined {
  try {
    return textOf(exchange.request.json());
  } catch {
    return undefined;
  }
}

/** Bodies are shared by the checks of a call, and the same object each time: each is written once. */
const texts = new WeakMap<object, string>();

function textOf(body: Json): string {
  if (typeof body !== 'object' || body === null) return JSON.stringify(body);
  let text = texts.get(body);
  if (text === undefined) texts.set(body, text = JSON.stringify(body));
  return text;
}
