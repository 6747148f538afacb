// What plugins and calls of one thread reach the world through: logger, counters, upstream, worker pool, hosts, registry, storage. Made once in
// each thread, before anything that serves calls.

import type { Storage, Store } from '@gateway/plugin-sdk';
import { existsSync } from 'node:fs';
import { fail, isGatewayError, reasonOf } from './errors/gateway-error.js';
import type { MemoryJournal } from './limits/memory-journal.js';
import { PluginHosts } from './registry/host.js';
import { PackageVersions } from './registry/package-versions.js';
import { Registry } from './registry/registry.js';
import type { Settings } from './settings/read.js';
import { collectWhenQuiet } from './server/idle-collector.js';
import { SteadyStore } from './storage/steady-store.js';
import { FaultReport, type FaultReportOptions } from './telemetry/fault-report.js';
import { Logger } from './telemetry/logger.js';
import { Metrics } from './telemetry/metrics.js';
import { AddressPolicy } from './upstream/address-policy.js';
import type { UpstreamClient } from './upstream/client.js';
import { Egress } from './upstream/egress.js';
import { HttpClient } from './upstream/http/http-client.js';
import { TimerWheel } from './upstream/timer-wheel.js';
import { hideCollection } from './workers/engine-collection.js';
import { WorkerPool } from './workers/pool.js';

/** Name of the store that holds organisations, workspaces and keys. */
export const controlStore = 'control';
/** What a plugin, a cache or the storage may take to close; the others do not wait for it any longer. */
const closeTimeoutMs = 3_000;

/** Without storage until `openStorage`. */
export class ThreadServices {
  readonly logger: Logger;
  readonly metrics = new Metrics();
  readonly timers = new TimerWheel();
  readonly upstream: UpstreamClient;
  readonly workers: WorkerPool;
  readonly hosts: PluginHosts;
  readonly registry: Registry;
  readonly #versions: PackageVersions | undefined;
  readonly #reports: FaultReport[] = [];
  /** Writes that the storage did not make: the log, caches and kept responses are the poorer, and no call fails. */
  readonly refusedWrites: FaultReport;
  /** Promises that rejected and that nobody held. */
  readonly lostPromises: FaultReport;
  storage: Storage | undefined = undefined;
  /** What writes rows by itself, until the services close. */
  readonly writers: { stop(): Promise<void> }[] = [];
  /** What calls spend, where the storage is the memory of this thread. */
  fedSpending: MemoryJournal | null = null;
  /** Threads may open the same storage. */
  isStorageShared = true;

  constructor(readonly settings: Settings) {
    hideCollection();
    this.logger = new Logger(settings.logLevel);
    for (const secret of [settings.adminKey, settings.apiKey, settings.masterKey, settings.oidc?.clientSecret]) if (secret !== undefined) this.logger.hide(secret);
    this.workers = new WorkerPool(settings.threads);
    const egress = new Egress({ policy: new AddressPolicy(settings.trustedHosts), connectTimeoutMs: settings.connectTimeoutMs, timers: this.timers });
    const { connectionsMax, firstByteTimeoutMs, idleTimeoutMs } = settings;
    this.upstream = new HttpClient({
      egress, connectionsMax, firstByteTimeoutMs, idleTimeoutMs, timers: this.timers,
      onThrown: (thrown) => this.logger.error('a listener of an upstream call threw', { reason: reasonOf(thrown) }),
    });
    this.hosts = new PluginHosts({
      logger: this.logger, metrics: this.metrics, upstream: this.upstream, workers: this.workers, environment: process.env,
      resolve: (name, caller) => egress.addresses(name, caller),
      openStore: (name) => this.openStore(name),
    });
    this.refusedWrites = this.faultReport('warn', { message: 'storage refused writes', metric: 'storage.writesRefused', subject: 'store' });
    this.lostPromises = this.faultReport('error', { message: 'promises were rejected that nobody held', metric: 'promises.lost', subject: 'at' });
    this.#versions = settings.pluginsReload ? new PackageVersions() : undefined;
    this.registry = new Registry({
      packages: settings.plugins, fromFolder: process.cwd(), hostOf: (id) => this.hosts.hostOf(id), dropHost: (id) => this.hosts.drop(id),
      ...(this.#versions === undefined ? {} : { versions: this.#versions }),
    });
  }

  async openStorage(): Promise<Storage> {
    const { storage: id, dataDir } = this.settings;
    const plugin = await this.registry.find('storage', id);
    if (plugin === undefined) throw fail('SETTINGS_INVALID', { reason: `no storage plugin ${id} is installed; installed: ${this.registry.list('storage').join(', ')}` });
    if (plugin.isShared === false && this.settings.threads > 1) {
      throw fail('SETTINGS_INVALID', { reason: `storage ${id} is not shared between threads; set GATEWAY_THREADS to 1` });
    }
    this.isStorageShared = plugin.isShared !== false;
    const params = 'path' in plugin.params.properties ? { path: dataDir } : {};
    try {
      this.storage = await plugin.create(params, this.registry.host(`storage/${id}`));
      // Damage shows when the rows are opened.
      await this.storage.open(controlStore);
    } catch (thrown) {
      if (isGatewayError(thrown)) throw thrown;
      throw fail('SETTINGS_INVALID', { reason: `storage in ${dataDir} cannot be opened: ${reasonOf(thrown)}` }, thrown);
    }
    return this.storage;
  }

  /** For what calls can do without: it stays usable while the disk is full. */
  async openStore(name: string): Promise<Store> {
    const { storage } = this;
    if (storage === undefined) throw fail('PLUGIN_FAILED', { plugin: name, reason: 'storage is not open' });
    return SteadyStore.open({ name, open: () => storage.open(name), onRefused: (store, reason) => this.refusedWrites.add(store, reason) });
  }

  /** A promise of a plugin or of ours that rejected and that nobody held: what it belonged to may be the poorer, and nothing else. */
  onLostPromise(thrown: unknown): void {
    this.lostPromises.add(frameOf(thrown), reasonOf(thrown));
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.hosts.close();
    await this.closing('connections to providers', () => this.upstream.close());
    await this.closing('the workers', () => this.workers.close());
    for (const writer of this.writers) await this.closing('what writes to the storage', () => writer.stop());
    await this.closing('the storage', () => this.storage?.close?.());
    await this.closing('the versions of packages', () => this.#versions?.close());
    for (const report of this.#reports) report.close();
    this.timers.close();
  }

  /** For a thread beside those that serve calls. */
  collectWhenQuiet(thread: string): void {
    collectWhenQuiet((periodMs, work) => this.hosts.hostOf('gateway').every(periodMs, work), (fault) => this.logger.warn('memory could not be given back', { reason: reasonOf(fault), thread }));
  }

  /** Tells what is left to tell when the services close. */
  faultReport(level: 'warn' | 'error', options: Pick<FaultReportOptions, 'message' | 'metric' | 'subject'>): FaultReport {
    const report = new FaultReport({ log: (message, fields) => this.logger[level](message, fields), metrics: this.metrics, ...options });
    this.#reports.push(report);
    return report;
  }

  /** One that cannot be closed, or takes too long, keeps none of the others from it. */
  async closing(what: string, close: () => unknown): Promise<void> {
    let timer: NodeJS.Timeout | undefined = undefined;
    const timeout = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Error(`not closed after ${closeTimeoutMs} ms`)), closeTimeoutMs); });
    try {
      await Promise.race([Promise.resolve().then(close), timeout]);
    } catch (thrown) {
      this.logger.error('could not be closed', { what, reason: reasonOf(thrown) });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Where it came from, as far as that can be told: the first line of the stack that is a place. */
function frameOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? thrown.stack ?? '' : '';
  return stack.split('\n').find((line) => line.trimStart().startsWith('at '))?.trim().slice(3) ?? 'unknown place';
}

/** For commands that read what a gateway has stored: in a directory that they made, all would be well. Throws SETTINGS_INVALID. */
export function requireDirectory({ dataDir }: Settings): void {
  if (!existsSync(dataDir)) throw fail('SETTINGS_INVALID', { reason: `there is no data directory ${dataDir}; name it with GATEWAY_DATA_DIR` });
}
