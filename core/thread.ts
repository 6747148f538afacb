// One data thread: everything a call needs, built once, on the thread's own event loop. The main thread and the worker threads are alike.

import type { Exporter, ExporterPlugin, LogRecord, Storage, Store } from '@gateway/plugin-sdk';
import { readFileSync } from 'node:fs';
import { Authenticator } from './auth/authenticate.js';
import { bootstrap, type GeneratedKeys } from './auth/bootstrap.js';
import { parseJsonObject } from './body/parse.js';
import { HeldBytes } from './body/held-bytes.js';
import { field } from './body/scan.js';
import { fail, isGatewayError, reasonOf } from './errors/gateway-error.js';
import type { BodyReader } from './exchange/exchange.js';
import { recordOf } from './logs/record-of.js';
import { InFlight } from './pipeline/cache/in-flight.js';
import { Refreshed } from './pipeline/cache/refreshed.js';
import { Pipeline } from './pipeline/request/run.js';
import { CacheInstances } from './plan/compile-cache.js';
import { closeProviders, forgetProviders } from './plan/load-provider.js';
import { PlanCache } from './plan/plan-cache.js';
import { isPluginKind, places } from './registry/ids.js';
import { PluginReloader } from './registry/reloader.js';
import type { ConnectionLimits } from './server/client-connections.js';
import { connectionsFor, descriptorLimit } from './server/descriptors.js';
import { Listener } from './server/listener.js';
import { loadUws } from './server/uws.js';
import type { ExporterSetting, Settings } from './settings/read.js';
import type { SettingKey } from './settings/schema.js';
import { ResponseStore } from './storage/response-store.js';
import { Repository } from './storage/repository.js';
import { RevisionSignal, Snapshot } from './storage/snapshot.js';
import { Admission } from './telemetry/admission.js';
import { FaultReport } from './telemetry/fault-report.js';
import { LogQueue } from './telemetry/queue.js';
import { controlStore, ThreadServices } from './thread-services.js';
import { Breakers } from './upstream/breaker.js';
import { PoolCheck } from './workers/check-runner.js';

/** Memory that all threads share. */
export interface SharedMemory {
  readonly breakers: SharedArrayBuffer;
  readonly revision: SharedArrayBuffer;
  readonly heldBodies: SharedArrayBuffer;
}

const dayMs = 86_400_000;
/** Name of the store of responses that providers do not keep. */
const responseStore = 'responses';
/** How often those are looked at that are too old. */
const sweepMs = 600_000;
/** How often rows are looked at for writes of other processes. */
const refreshMs = 1000;
/** What is left to write when everything else is closed gets this long. */
const flushTimeoutMs = 5_000;
/** The same when the process ends without notice. */
const hastyFlushMs = 500;
/** Connections get this long to take the last bytes of answers that ended. */
const lingerMs = 50;

const manifest: { version: string } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
export const gatewayVersion = manifest.version;

const bodyReader: BodyReader = { parse: parseJsonObject, field };

export class DataThread {
  readonly #listener: Listener;
  #ending: Promise<void> | undefined = undefined;
  /** Ends the waiting for open answers. */
  #cut: (() => void) | null = null;
  #isHasty = false;

  private constructor(
    /** Made at this start; of thread 0 only. */
    readonly generatedKeys: GeneratedKeys,
    readonly services: ThreadServices,
    readonly pipeline: Pipeline,
    readonly plans: PlanCache,
    readonly caches: CacheInstances,
    readonly queues: readonly LogQueue[],
    readonly exporters: readonly Exporter[],
    readonly reloader: PluginReloader,
    listener: Listener,
  ) {
    this.#listener = listener;
  }

  /** Resolves when the thread accepts connections on `port`. */
  static async start(settings: Settings, shared: SharedMemory, port: number, index: number): Promise<DataThread> {
    const services = new ThreadServices(settings);
    const storage = await services.openStorage();
    const signal = new RevisionSignal(shared.revision);
    const repository = new Repository(await storage.open(controlStore), () => signal.bump());
    const generatedKeys = index === 0 ? await bootstrap(repository, { adminKey: settings.adminKey, apiKey: settings.apiKey }) : {};
    const snapshot = new Snapshot(repository, signal, (thrown) => services.logger.error('stored rows could not be read', { reason: reasonOf(thrown) }));
    await snapshot.refreshIfMoved();
    // The signal reaches the threads of this process; another process can only be noticed by looking.
    services.hosts.hostOf('gateway').every(refreshMs, () => snapshot.refreshIfMoved());
    const breakers = new Breakers(shared.breakers);
    const caches = new CacheInstances({ memoryBytesMax: settings.cacheMemoryBytes, diskBytesMax: settings.cacheDiskBytes });
    const authenticator = new Authenticator(snapshot);
    const plans = new PlanCache({
      registry: services.registry, upstream: services.upstream, breakers, userAgent: `gateway/${gatewayVersion}`, caches,
      poolCheck: (module, params, timeoutMs) => new PoolCheck(services.workers, module, params, timeoutMs),
      holdsKey: (text) => authenticator.holdsKey(text),
    });
    const exporters = await createExporters(services);
    const queues = exporters.map(({ exporter, plugin }) => new LogQueue(exporter, {
      logger: services.logger,
      onDropped: (count) => services.metrics.add('log.recordsDropped', count),
      ...(plugin.batch === undefined ? {} : { batchCountMax: plugin.batch.countMax, waitMsMax: plugin.batch.waitMsMax }),
    }));
    const unrecorded = new FaultReport({ log: (message, fields) => services.logger.warn(message, fields), metrics: services.metrics, message: 'calls without a valid key were not recorded one by one', metric: 'log.refusedCallers', subject: 'code' });
    const admission = new Admission(queues, unrecorded);
    const lost = new FaultReport({ log: (message, fields) => services.logger.error(message, fields), metrics: services.metrics, message: 'responses could not be stored', metric: 'responses.lost', subject: 'store' });
    const responses = new ResponseStore(await services.openStore(responseStore), settings.responsesDays * dayMs, (thrown) => lost.add(responseStore, reasonOf(thrown)));
    if (index === 0) services.hosts.hostOf('gateway').every(sweepMs, () => responses.sweep(Date.now()));
    const pipeline = new Pipeline({
      settings: { retryDelayMs: settings.retryDelayMs, requestsMax: settings.requestsMax, collectedBytesMax: settings.collectedBytesMax },
      authenticator,
      plans,
      breakers,
      logger: services.logger,
      metrics: services.metrics,
      cacheFaults: new FaultReport({ log: (message, fields) => services.logger.warn(message, fields), metrics: services.metrics, message: 'caches failed', metric: 'cache.faults', subject: 'cache' }),
      record: (exchange, usage) => { admission.record(recordOf(exchange, usage)); },
      hostOf: (id) => services.registry.host(id),
      inFlight: new InFlight(),
      refreshed: new Refreshed(),
      responses,
    });
    const descriptorsMax = descriptorLimit();
    const listener = new Listener(loadUws(settings.headerBytesMax), {
      tls: settings.tls,
      limits: { bodyBytesMax: settings.bodyBytesMax, bodyTimeoutMs: settings.bodyTimeoutMs, bodyDeadlineMs: settings.bodyDeadlineMs, bodyRateMin: settings.bodyRateMin },
      held: new HeldBytes(shared.heldBodies, settings.heldBodyBytesMax),
      version: gatewayVersion,
      spinMs: settings.spinUs / 1000,
      connections: connectionLimits(settings, descriptorsMax),
      descriptorsMax,
      corsOrigins: settings.corsOrigins,
    }, pipeline, bodyReader, {
      refused: (reason, count) => {
        services.metrics.add('connections.refused', count);
        services.logger.warn('connections of clients were closed at once: too many', {
          of: reason === 'all' ? 'all clients' : 'one address', count, thread: index,
          setting: reason === 'all' ? 'GATEWAY_CLIENT_CONNECTIONS_MAX, or the file descriptors of the process' : 'GATEWAY_CLIENT_CONNECTIONS_PER_ADDRESS_MAX, or GATEWAY_TRUSTED_PROXIES for a reverse proxy',
        });
      },
      paused: (isPaused) => services.logger.error(isPaused ? 'no file descriptors are left; no connections are accepted for now' : 'connections are accepted again', { descriptors: descriptorsMax, thread: index }),
    });
    if (index === 0) for (const entry of services.registry.packages) if (entry.fault !== undefined) services.logger.error('plugin package refused', { package: entry.named, reason: entry.fault });
    const reloader = new PluginReloader({
      registry: services.registry, logger: services.logger, isReporting: index === 0,
      onSwitch: (plugins) => {
        const idsOf = (kind: string): string[] => [...plugins].flatMap((plugin) => (plugin.startsWith(`${kind}/`) ? [plugin.slice(kind.length + 1)] : []));
        forgetProviders(services.registry, idsOf('provider'));
        for (const mode of idsOf('cache')) caches.retire(mode);
        plans.dropUsing(plugins);
      },
    });
    await listener.listen(settings.host, port);
    if (index === 0) reportFaults(services).catch((thrown: unknown) => services.logger.error('packages could not be looked at', { reason: reasonOf(thrown) }));
    return new DataThread(generatedKeys, services, pipeline, plans, caches, queues, exporters.map(({ exporter }) => exporter), reloader, listener);
  }

  /** Opens the storage and loads every plugin that is installed, built-in or listed. */
  static async checkPlugins(settings: Settings, isMeant: (...keys: readonly SettingKey[]) => boolean): Promise<{ subject: string; fault?: string }[]> {
    const services = new ThreadServices(settings);
    const results: { subject: string; fault?: string }[] = services.registry.packages
      .map((entry) => ({ subject: `package ${entry.named}`, ...(entry.fault === undefined ? {} : { fault: entry.fault }) }));
    const attempt = async (subject: string, work: () => Promise<unknown>): Promise<void> => {
      const fault = await work().then(() => undefined, reasonOf);
      results.push({ subject, ...(fault === undefined ? {} : { fault }) });
    };
    if (isMeant('data_dir', 'storage', 'threads')) {
      await attempt(`storage ${settings.storage}`, async () => (await services.openStorage()).open(responseStore));
    }
    if (isMeant('exporters', 'log_store_bytes_max', 'log_store_days')) {
      for (const entry of settings.exporters) await attempt(`exporter ${entry.id}`, () => checkExporter(services, entry));
    }
    for (const kind of Object.keys(places)) {
      if (!isPluginKind(kind)) continue;
      for (const id of services.registry.list(kind)) {
        const fault = await services.registry.find(kind, id).then(() => undefined, reasonOf);
        results.push({ subject: `${kind} ${id}`, ...(fault === undefined ? {} : { fault }) });
      }
    }
    await services.close();
    return results;
  }

  /** A promise of a plugin or of ours that rejected and that nobody held: the call it belonged to may be the poorer, and no other. */
  onLostPromise(thrown: unknown): void {
    this.services.lostPromises.add(frameOf(thrown), reasonOf(thrown));
  }

  /** Never rejects. May be called again, with less patience: `isHasty` when the process ends, and what is not written at once is lost. */
  stop(deadlineMs: number, isHasty = false): Promise<void> {
    this.#isHasty ||= isHasty;
    if (this.#ending === undefined) this.#ending = this.#end(deadlineMs);
    else if (isHasty) {
      this.#cut?.();
      this.#closeQueues().catch((thrown: unknown) => this.services.logger.error('the log could not be closed', { reason: reasonOf(thrown) }));
    }
    return this.#ending;
  }

  async #end(deadlineMs: number): Promise<void> {
    const { services } = this;
    this.#listener.stopListening();
    await services.closing('the reloader', () => this.reloader.close());
    await this.#untilIdle(deadlineMs);
    // The last bytes of ended answers may still be in the library's hands.
    await new Promise((resolve) => { setTimeout(resolve, Math.min(lingerMs, deadlineMs)); });
    this.#listener.close();
    await this.#closeQueues();
    for (const exporter of this.exporters) await services.closing('an exporter', () => exporter.close?.());
    this.plans.clear();
    await services.closing('the caches', () => this.caches.close());
    await services.closing('the providers', () => closeProviders(services.registry));
    await services.close();
  }

  /** Never rejects: what cannot be exported is dropped. */
  async #closeQueues(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close(this.#isHasty ? hastyFlushMs : flushTimeoutMs)));
  }

  #untilIdle(deadlineMs: number): Promise<void> {
    if (this.#isHasty || this.#listener.open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#cut = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(this.#cut, deadlineMs);
      this.#listener.onIdle = this.#cut;
    });
  }
}

/** Where it came from, as far as that can be told: the first line of the stack that is a place. */
function frameOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? thrown.stack ?? '' : '';
  return stack.split('\n').find((line) => line.trimStart().startsWith('at '))?.trim().slice(3) ?? 'unknown place';
}

function connectionLimits(settings: Settings, descriptorsMax: number | undefined): ConnectionLimits {
  const { threads, trustedProxies } = settings;
  const byDescriptors = descriptorsMax === undefined ? Infinity : Math.ceil(connectionsFor(descriptorsMax) / threads);
  const connectionsMax = Math.min(settings.clientConnectionsMax, byDescriptors);
  return { connectionsMax, perAddressMax: Math.min(settings.clientConnectionsPerAddressMax, Math.ceil(connectionsMax / 2)) * threads, trustedProxies };
}

/** Loads what packages bring, so that a fault is told before a call meets it. */
async function reportFaults({ registry, logger }: ThreadServices): Promise<void> {
  for (const { named, plugins } of registry.packages) {
    for (const { kind, id } of plugins) {
      await registry.find(kind, id).catch((thrown: unknown) => logger.error('plugin refused', { package: named, reason: reasonOf(thrown) }));
    }
  }
}

interface MadeExporter {
  readonly exporter: Exporter;
  readonly plugin: ExporterPlugin;
}

async function createExporters(services: ThreadServices): Promise<MadeExporter[]> {
  const exporters: MadeExporter[] = [];
  for (const entry of services.settings.exporters) exporters.push(await createExporter(services, entry));
  return exporters;
}

async function createExporter(services: ThreadServices, { id, params }: ExporterSetting): Promise<MadeExporter> {
  const plugin = await services.registry.find('exporter', id);
  if (plugin === undefined) throw fail('SETTINGS_INVALID', { reason: `no exporter ${id} is installed; installed: ${services.registry.list('exporter').join(', ')}` });
  const values = { ...params };
  const fault = services.registry.checkParams(plugin, values);
  if (fault !== undefined) throw fail('SETTINGS_INVALID', { reason: `exporter ${id}: ${fault.path} ${fault.reason}` });
  return { exporter: await plugin.create(values, services.registry.host(`exporter/${id}`)), plugin };
}

/** Without storage only what it is given is judged: why there is none is told already. */
async function checkExporter(services: ThreadServices, entry: ExporterSetting): Promise<void> {
  try {
    await (await createExporter(services, entry)).exporter.close?.();
  } catch (thrown) {
    if (services.storage !== undefined || (isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID')) throw thrown;
  }
}
