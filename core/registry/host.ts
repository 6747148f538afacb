// What a plugin is given of the outside world. One for each plugin and thread; its names (stores, counters) lie below the plugin's id.

import type { Host, Log, OutboundRequest, OutboundResponse, Store, WorkerOf, WorkerOptions } from '@gateway/plugin-sdk';
import { fail, reasonOf } from '../errors/gateway-error.js';
import { timerMs } from '../settings/timer-limit.js';
import type { Logger } from '../telemetry/logger.js';
import { FaultReport } from '../telemetry/fault-report.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { UpstreamClient } from '../upstream/client.js';
import { fetchBytes } from '../upstream/fetch-bytes.js';
import { pluginCaller } from '../upstream/resolver.js';
import type { WorkerPool } from '../workers/pool.js';

const answerBytesMaxDefault = 1024 * 1024;

export interface HostServices {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly upstream: UpstreamClient;
  readonly workers: WorkerPool;
  /** Addresses of a name; empty when it has none. */
  readonly resolve: (name: string, caller: string) => Promise<readonly string[]>;
  readonly openStore: (name: string) => Promise<Store>;
  readonly environment: NodeJS.ProcessEnv;
}

export class PluginHosts {
  /** By plugin. */
  readonly #timers = new Map<string, Set<NodeJS.Timeout>>();

  readonly #periodicFaults: FaultReport;

  constructor(readonly services: HostServices) {
    this.#periodicFaults = new FaultReport({ log: (message, fields) => services.logger.error(message, fields), metrics: services.metrics, message: 'periodic work failed', metric: 'periodicWork.failed', subject: 'plugin' });
  }

  hostOf(pluginId: string): Host {
    const { services } = this;
    const log: Log = {
      info: (message, fields) => services.logger.info(message, { plugin: pluginId, ...fields }),
      warn: (message, fields) => services.logger.warn(message, { plugin: pluginId, ...fields }),
      error: (message, fields) => services.logger.error(message, { plugin: pluginId, ...fields }),
    };
    const caller = pluginCaller(pluginId);
    return {
      log,
      now: () => Date.now(),
      random: () => Math.random(),
      fetch: (request: OutboundRequest): Promise<OutboundResponse> => fetchBytes(services.upstream, request, answerBytesMaxDefault, caller),
      resolve: (name) => services.resolve(name, caller),
      store: (name) => services.openStore(storeName(pluginId, name)),
      worker: <M>(module: URL, options?: WorkerOptions): WorkerOf<M> => services.workers.proxy<M>(module, options),
      secret: async (reference) => {
        const name = /^env:([A-Za-z_]\w*)$/.exec(reference)?.[1];
        const value = name === undefined ? undefined : services.environment[name];
        if (value === undefined) throw fail('PLUGIN_FAILED', { plugin: pluginId, reason: `no secret ${reference}; references look like env:NAME` });
        return value;
      },
      count: (metric, by = 1) => services.metrics.add(`${pluginId}.${metric}`, by),
      every: (periodMs, work) => this.#every(pluginId, periodMs, work),
    };
  }

  /** Ends the periodic work of a plugin that is out of service. */
  drop(pluginId: string): void {
    for (const timer of this.#timers.get(pluginId) ?? []) clearInterval(timer);
    this.#timers.delete(pluginId);
  }

  close(): void {
    for (const pluginId of [...this.#timers.keys()]) this.drop(pluginId);
    this.#periodicFaults.close();
  }

  #every(pluginId: string, periodMs: number, work: () => void | Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      Promise.resolve().then(work)
        .catch((thrown: unknown) => this.#periodicFaults.add(pluginId, reasonOf(thrown)))
        .finally(() => { isRunning = false; });
    }, timerMs(periodMs));
    timer.unref();
    const timers = this.#timers.get(pluginId) ?? new Set();
    this.#timers.set(pluginId, timers);
    timers.add(timer);
  }
}

/** `exporter/store` + `logs` -> `exporter-store-logs`: one folder name. */
const storeName = (pluginId: string, name: string): string => `${pluginId}-${name}`.replace(/[^a-zA-Z0-9-]/g, '-').toLowerCase();
