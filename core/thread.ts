// One data thread: everything a call needs, built once, on the thread's own event loop. The main thread and the worker threads are alike.

import { Authenticator } from './auth/authenticate.js';
import { bootstrap, type GeneratedKeys } from './auth/bootstrap.js';
import { fetchKeySet } from './auth/token-keys.js';
import { Tokens } from './auth/tokens.js';
import { parseJsonObject } from './body/parse.js';
import { HeldBytes } from './body/held-bytes.js';
import { field } from './body/scan.js';
import type { ControlLink } from './control-plane/control-link.js';
import { exportsFolder } from './control-plane/resources/log-exports/export-file.js';
import { modelList } from './control-plane/model-list.js';
import { rateQuestion } from './control-plane/rate-question.js';
import { fail, reasonOf } from './errors/gateway-error.js';
import type { BodyReader } from './exchange/exchange.js';
import { KeptRoom } from './exchange/kept-bodies.js';
import { checkExporter, type LogMemory, type LogThread } from './log-thread.js';
import { CallPrices } from './limits/call-prices.js';
import { Counters } from './limits/counters.js';
import { Gate } from './limits/gate.js';
import { notePrice } from './limits/price-note.js';
import { RateBook } from './limits/rate-book.js';
import type { SpendWriter } from './limits/journal.js';
import { rateStore, restoreRates } from './limits/rate-keeper.js';
import { RecordWriter } from './logs/record-writer.js';
import { RingMemory } from './logs/ring.js';
import { BuiltBodies } from './pipeline/cache/built-bodies.js';
import { InFlight } from './pipeline/cache/in-flight.js';
import { Refreshed } from './pipeline/cache/refreshed.js';
import { HeaderMetadata } from './pipeline/request/header-metadata.js';
import { Pipeline } from './pipeline/request/run.js';
import { CacheInstances } from './plan/compile-cache.js';
import { closeProviders, forgetProviders } from './plan/load-provider.js';
import { PlanCache } from './plan/plan-cache.js';
import { isPluginKind, places } from './registry/ids.js';
import { PluginReloader } from './registry/reloader.js';
import { SecretValues } from './secrets/secret-values.js';
import { ControlEdge } from './server/control-edge.js';
import { ExportDownloads } from './server/export-downloads.js';
import { SessionCookies } from './server/session-cookie.js';
import type { ConnectionLimits } from './server/client-connections.js';
import { connectionsFor, descriptorLimit } from './server/descriptors.js';
import { YoungCollector } from './server/young-collector.js';
import { collectAfterBursts } from './server/idle-collector.js';
import { Listener, type ListenerReport } from './server/listener.js';
import { loadUws } from './server/uws.js';
import { MetricsEdge } from './server/metrics-edge.js';
import type { Settings, TokenSettings } from './settings/read.js';
import type { SettingKey } from './settings/schema.js';
import { faultOfMasterKey, recordMasterKey } from './storage/master-key-record.js';
import { ResponseStore } from './storage/response-store.js';
import { prepareStore } from './storage/prepare-store.js';
import { Repository } from './storage/repository.js';
import { requireWhole } from './storage/restore.js';
import { Sealer } from './storage/sealer.js';
import { tables } from './storage/tables/index.js';
import { recoverSpending, spendJournal } from './spend.js';
import { AppliedSequences } from './snapshot/applied-sequences.js';
import { RevisionSignal, Snapshot } from './snapshot/snapshot.js';
import type { View } from './snapshot/view.js';
import { Admission } from './telemetry/admission.js';
import type { FaultReport } from './telemetry/fault-report.js';
import { FigureTaker, type Scraped } from './telemetry/figures.js';
import { controlStore, ThreadServices } from './thread-services.js';
import { Breakers } from './upstream/breaker.js';
import { PoolCheck } from './workers/check-runner.js';
import { gatewayVersion } from './version.js';

/** Memory that all threads share. */
export interface SharedMemory {
  /** Each thread that seals or opens secrets makes itself a `new Sealer(shared.masterKey)`. Handed over nowhere else, never logged. */
  readonly masterKey: Uint8Array;
  readonly log: LogMemory;
  readonly breakers: SharedArrayBuffer;
  readonly revision: SharedArrayBuffer;
  readonly applied: SharedArrayBuffer;
  readonly heldBodies: SharedArrayBuffer;
  /** Of limits. */
  readonly counters: SharedArrayBuffer;
  /** The name of this start of the process in the data directory. */
  readonly process: string;
}

const dayMs = 86_400_000;
/** What is called when the storage is open. */
export interface ThreadStart {
  /** Returns the log when it runs on this thread. */
  startLog(services: ThreadServices): Promise<LogThread | null>;
  linkControl(services: ThreadServices, repository: Repository): Promise<ControlLink>;
  /** The metrics of the process. Never rejects. */
  scrape(): Promise<Scraped>;
  /** Applies the setting `resources` to the storage, before anything reads it. */
  applyResources?(services: ThreadServices, repository: Repository): Promise<void>;
}

/** Name of the store of responses that providers do not keep. */
const responseStore = 'responses';
/** How often those are looked at that are too old. */
const sweepMs = 600_000;
/** How often rows are looked at for writes of other processes. */
const refreshMs = 1000;
/** Connections get this long to take the last bytes of answers that ended. */
const lingerMs = 50;

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
    /** Null: nothing is logged. */
    readonly writer: RecordWriter | null,
    /** The log of the process, when it runs on this thread. */
    readonly log: LogThread | null,
    readonly reloader: PluginReloader,
    readonly control: ControlLink,
    /** What the thread says of itself. */
    readonly figures: FigureTaker,
    /** What calls under a budget spend. */
    readonly journal: SpendWriter,
    listener: Listener,
    /** No rows are looked at any more, and nobody waits for this thread to see them. */
    readonly leaveRows: () => void,
  ) {
    this.#listener = listener;
  }

  /** Resolves when the thread accepts connections on `port`. */
  static async start(settings: Settings, shared: SharedMemory, port: number, index: number, { startLog, linkControl, applyResources, scrape }: ThreadStart): Promise<DataThread> {
    const services = new ThreadServices(settings);
    const storage = await services.openStorage();
    const signal = new RevisionSignal(shared.revision);
    const repository = new Repository(await storage.open(controlStore), () => signal.bump());
    const sealer = new Sealer(shared.masterKey);
    const generatedKeys = index === 0 ? await prepareRows(services, repository, sealer) : {};
    await applyResources?.(services, repository);
    const applied = new AppliedSequences(shared.applied);
    const young = new YoungCollector();
    let onRows = (): void => {};
    const snapshot = new Snapshot(repository, signal, {
      sealer,
      onFault: (thrown) => services.logger.error('stored rows could not be read', { reason: reasonOf(thrown) }),
      onUnusable: (table, id, thrown) => services.logger.error('a stored row cannot be used, calls do without it', { table, id, reason: reasonOf(thrown) }),
      onApplied: (sequence, commits) => {
        onRows();
        applied.publish(index, sequence);
        young.applied(commits);
      },
    });
    const unwatch = snapshot.watch();
    await snapshot.refreshIfMoved();
    // The signal reaches the threads of this process; another process can only be noticed by looking.
    services.hosts.hostOf('gateway').every(refreshMs, () => snapshot.refreshIfMoved());
    const breakers = new Breakers(shared.breakers);
    const caches = new CacheInstances({ memoryBytesMax: settings.cacheMemoryBytes, diskBytesMax: settings.cacheDiskBytes });
    const tokens = settings.tokens === null ? null : tokensOf(settings.tokens, services, () => snapshot.view);
    const authenticator = new Authenticator(snapshot, Date.now, tokens);
    const secrets = secretsOf(services, () => snapshot.view);
    const plans = new PlanCache({
      registry: services.registry, upstream: services.upstream, breakers, userAgent: `gateway/${gatewayVersion}`, caches, rows: snapshot,
      poolCheck: (module, params, timeoutMs) => new PoolCheck(services.workers, module, params, timeoutMs),
      holdsKey: (text) => authenticator.holdsKey(text),
      secrets,
    });
    onRows = () => plans.dropOtherGuardrails();
    const log = await startLog(services);
    // Before the keeper of the control plane, which goes on from there.
    if (index === 0) await recoverSpending(services, repository, shared);
    const journal = spendJournal(services, shared, index);
    const link = await linkControl(services, repository);
    const bodiesDropped = services.faultReport('warn', { message: 'bodies of calls were not kept', metric: 'log.bodiesDropped', subject: 'at' });
    const writer = recordWriterOf(services, shared, index, bodiesDropped);
    const responses = await responseStoreOf(services, index);
    const rates = new RateBook({ ask: rateQuestion(link), now: Date.now });
    const counters = await countersOf(services, shared, index);
    const pipeline = new Pipeline({
      settings: { retryDelayMs: settings.retryDelayMs, requestsMax: settings.requestsMax, collectedBytesMax: settings.collectedBytesMax, showsCost: settings.costHeader },
      authenticator,
      plans,
      rows: snapshot,
      headerMetadata: settings.headersToMetadata.length === 0 ? null : new HeaderMetadata(settings.headersToMetadata),
      breakers,
      timers: services.timers,
      logger: services.logger,
      metrics: services.metrics,
      cacheFaults: services.faultReport('warn', { message: 'caches failed', metric: 'cache.faults', subject: 'cache' }),
      record: writer === null ? null : (exchange, usage, left) => {
        if (left === null) notePrice(exchange, usage);
        writer.write(exchange, usage, left);
      },
      keptRoom: writer === null ? null : new KeptRoom(bodiesDropped),
      hostOf: (id) => services.registry.host(id),
      inFlight: new InFlight(),
      refreshed: new Refreshed(),
      builtBodies: new BuiltBodies(),
      listModels: modelList(link),
      rates,
      gate: new Gate({ counters, journal, outputTokens: settings.limitOutputTokens, prices: new CallPrices(rates, () => snapshot.view), isRecorded: writer !== null }),
      responses,
    });
    const sessions = new SessionCookies({ publicUrl: settings.publicUrl, isTls: settings.tls !== undefined, find: (hash) => snapshot.view.session(hash, Date.now()) });
    const control = new ControlEdge({ authenticator, sessions, link, downloads: new ExportDownloads(exportsFolder(settings.dataDir), sealer), onFault: (call, reason) => services.logger.error('a control call failed', { call, reason }) });
    const metrics = new MetricsEdge({ authenticator, scrape, onFault: (reason) => services.logger.error('the metrics could not be asked for', { reason }) });
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
    }, pipeline, bodyReader, control, metrics, listenerReportOf(services, index, descriptorsMax));
    if (index === 0) for (const entry of services.registry.packages) if (entry.fault !== undefined) services.logger.error('plugin package refused', { package: entry.named, reason: entry.fault });
    const reloader = reloaderOf(services, plans, caches, index);
    collectAfterBursts((periodMs, work) => services.hosts.hostOf('gateway').every(periodMs, work), () => listener.open === 0 && pipeline.open === 0,
      (fault) => services.logger.warn('memory could not be given back', { reason: reasonOf(fault), thread: index }));
    await listener.listen(settings.host, port);
    if (index === 0) reportFaults(services).catch((thrown: unknown) => services.logger.error('packages could not be looked at', { reason: reasonOf(thrown) }));
    return new DataThread(generatedKeys, services, pipeline, plans, caches, writer, log, reloader, link, new FigureTaker(`serve-${index}`, services.metrics, () => pipeline.open, () => breakers.broken()), journal, listener, () => {
      unwatch();
      secrets.close();
      applied.leave(index);
    });
  }

  /** Opens the storage and loads every plugin that is installed, built-in or listed. `masterKey` undefined: a start would make one; null: it is at fault. */
  static async checkPlugins(settings: Settings, masterKey: Uint8Array | undefined | null, isMeant: (...keys: readonly SettingKey[]) => boolean): Promise<{ subject: string; fault?: string }[]> {
    const services = new ThreadServices(settings);
    const results: { subject: string; fault?: string }[] = services.registry.packages
      .map((entry) => ({ subject: `package ${entry.named}`, ...(entry.fault === undefined ? {} : { fault: entry.fault }) }));
    const attempt = async (subject: string, work: () => Promise<unknown>): Promise<void> => {
      const fault = await work().then(() => undefined, reasonOf);
      results.push({ subject, ...(fault === undefined ? {} : { fault }) });
    };
    if (isMeant('data_dir', 'storage', 'threads')) {
      await attempt(`storage ${settings.storage}`, async () => (await services.openStorage()).open(responseStore));
      const { storage } = services;
      if (results.at(-1)?.fault === undefined && storage !== undefined && masterKey !== null) {
        await attempt('stored secrets', async () => {
          const repository = new Repository(await storage.open(controlStore));
          await requireWhole(repository.store);
          const fault = await faultOfMasterKey(repository, tables, masterKey === undefined ? undefined : new Sealer(masterKey));
          if (fault !== undefined) throw fail('SETTINGS_INVALID', { reason: fault });
        });
      }
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

  /** Never rejects. May be called again, with less patience: `isHasty` when the process ends, and what is not written at once is lost. */
  stop(deadlineMs: number, isHasty = false): Promise<void> {
    this.#isHasty ||= isHasty;
    if (this.#ending === undefined) this.#ending = this.#end(deadlineMs);
    else if (isHasty) {
      this.#cut?.();
      this.log?.stop(0, true).catch((thrown: unknown) => this.services.logger.error('the log could not be closed', { reason: reasonOf(thrown) }));
    }
    return this.#ending;
  }

  async #end(deadlineMs: number): Promise<void> {
    const { services } = this;
    const byMs = performance.now() + deadlineMs;
    this.#listener.stopListening();
    await services.closing('the reloader', () => this.reloader.close());
    await this.#untilIdle(deadlineMs);
    // The last bytes of ended answers may still be in the library's hands.
    await new Promise((resolve) => { setTimeout(resolve, Math.min(lingerMs, deadlineMs)); });
    this.#listener.close();
    this.leaveRows();
    this.figures.close();
    this.control.close();
    await this.#untilSettled(byMs - performance.now());
    this.pipeline.settleAll();
    this.journal.close();
    this.writer?.close();
    await this.log?.stop(0, this.#isHasty);
    this.plans.clear();
    await services.closing('the caches', () => this.caches.close());
    await services.closing('the providers', () => closeProviders(services.registry));
    await services.close();
  }

  #untilIdle(deadlineMs: number): Promise<void> {
    if (this.#listener.open === 0) return Promise.resolve();
    return this.#wait(deadlineMs, (onIdle) => { this.#listener.onIdle = onIdle; });
  }

  /** Until hooks that no answer waits for have said what belongs into the log. */
  #untilSettled(deadlineMs: number): Promise<void> {
    if (this.pipeline.isSettled) return Promise.resolve();
    return this.#wait(deadlineMs, (onSettled) => { this.pipeline.onSettled = onSettled; });
  }

  #wait(deadlineMs: number, listen: (onOver: () => void) => void): Promise<void> {
    if (this.#isHasty || deadlineMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#cut = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(this.#cut, deadlineMs);
      listen(this.#cut);
    });
  }
}

/** Of the thread that starts first, before any reads rows: the store is whole, of this version and of the master key, and has its first keys. */
async function prepareRows(services: ThreadServices, repository: Repository, sealer: Sealer): Promise<GeneratedKeys> {
  const { settings } = services;
  await requireWhole(repository.store);
  const fault = await faultOfMasterKey(repository, tables, sealer);
  if (fault !== undefined) throw fail('SETTINGS_INVALID', { reason: fault });
  await prepareStore(repository, tables);
  const generatedKeys = await bootstrap(repository, { adminKey: settings.adminKey, apiKey: settings.apiKey, ownerEmail: settings.ownerEmail });
  await recordMasterKey(repository.store, sealer, (thrown) => services.logger.warn('which master key the store goes by could not be written; it is tried again at the next start', { reason: reasonOf(thrown) }));
  return generatedKeys;
}

/** Null: nothing is logged. */
function recordWriterOf(services: ThreadServices, shared: SharedMemory, index: number, bodiesDropped: FaultReport): RecordWriter | null {
  const unrecorded = services.faultReport('warn', { message: 'calls without a valid key were not recorded one by one', metric: 'log.refusedCallers', subject: 'code' });
  const dropped = services.faultReport('warn', { message: 'log records dropped', metric: 'log.recordsDropped', subject: 'at' });
  const ring = shared.log.rings[index];
  return ring === undefined ? null : new RecordWriter(new RingMemory(ring), { admission: new Admission(unrecorded), dropped, bodiesDropped, name: `thread ${index}` });
}

async function responseStoreOf(services: ThreadServices, index: number): Promise<ResponseStore> {
  const lost = services.faultReport('error', { message: 'responses could not be stored', metric: 'responses.lost', subject: 'store' });
  const responses = new ResponseStore(await services.openStore(responseStore), services.settings.responsesDays * dayMs, (thrown) => lost.add(responseStore, reasonOf(thrown)));
  if (index === 0) services.hosts.hostOf('gateway').every(sweepMs, () => responses.sweep(Date.now()));
  return responses;
}

async function countersOf(services: ThreadServices, shared: SharedMemory, index: number): Promise<Counters> {
  const counters = new Counters(shared.counters);
  if (index === 0) {
    const lost = await restoreRates(counters, await services.openStore(rateStore));
    if (lost > 0) services.logger.warn('there is no room for all counters of rate limits that were kept; raise GATEWAY_LIMIT_COUNTERS', { lost });
  }
  return counters;
}

function reloaderOf(services: ThreadServices, plans: PlanCache, caches: CacheInstances, index: number): PluginReloader {
  return new PluginReloader({
    registry: services.registry, logger: services.logger, isReporting: index === 0,
    onSwitch: (plugins) => {
      const idsOf = (kind: string): string[] => [...plugins].flatMap((plugin) => (plugin.startsWith(`${kind}/`) ? [plugin.slice(kind.length + 1)] : []));
      forgetProviders(services.registry, idsOf('provider'));
      for (const mode of idsOf('cache')) caches.retire(mode);
      plans.dropUsing(plugins);
    },
  });
}

function listenerReportOf(services: ThreadServices, index: number, descriptorsMax: number | undefined): ListenerReport {
  return {
    refused: (reason, count) => {
      services.metrics.add('connections.refused', count);
      services.logger.warn('connections of clients were closed at once: too many', {
        of: reason === 'all' ? 'all clients' : 'one address', count, thread: index,
        setting: reason === 'all' ? 'GATEWAY_CLIENT_CONNECTIONS_MAX, or the file descriptors of the process' : 'GATEWAY_CLIENT_CONNECTIONS_PER_ADDRESS_MAX, or GATEWAY_TRUSTED_PROXIES for a reverse proxy',
      });
    },
    paused: (isPaused) => services.logger.error(isPaused ? 'no file descriptors are left; no connections are accepted for now' : 'connections are accepted again', { descriptors: descriptorsMax, thread: index }),
  };
}

function secretsOf(services: ThreadServices, view: () => View): SecretValues {
  const faults = services.faultReport('warn', { message: 'secrets could not be read; where there was a value, calls go on with it', metric: 'secrets.failed', subject: 'reference' });
  return new SecretValues({
    registry: services.registry, rules: services.settings.secretSources, view,
    after: (delayMs, work) => {
      const timer = setTimeout(work, delayMs).unref();
      return () => clearTimeout(timer);
    },
    count: (metric) => services.metrics.add(metric, 1), onFault: (slug, reason) => faults.add(slug, reason),
  });
}

function tokensOf(settings: TokenSettings, services: ThreadServices, view: () => View): Tokens {
  const { jwksUrl } = settings;
  const host = jwksUrl === undefined ? '' : new URL(jwksUrl).host;
  const faults = services.faultReport('warn', { message: 'the keys that sign tokens could not be fetched; those that are there stay in use', metric: 'tokens.keysFailed', subject: 'host' });
  return new Tokens({
    settings, view, now: Date.now, count: (metric) => services.metrics.add(metric, 1), onFault: (reason) => faults.add(host, reason),
    fetch: () => fetchKeySet(services.upstream, jwksUrl ?? ''),
  });
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
