// The composition root of the process: storage, keys, shared memory, threads. Thread 0 is the main thread itself; the others run
// thread-entry.ts. What must be exact across threads lives in shared memory or LMDB, never in one thread's heap.

import type { LogReader } from '@gateway/plugin-sdk';
import { mkdirSync, accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { Worker, type MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { HeldBytes } from './body/held-bytes.js';
import { LocalLink, PortLink, type ControlLink } from './control-plane/control-link.js';
import { ControlWorker } from './control-worker.js';
import { fail, isGatewayError, reasonOf } from './errors/gateway-error.js';
import { beforeEnd, hearLostPromises } from './process-end.js';
import { Counters } from './limits/counters.js';
import { LogThread, type LogMemory } from './log-thread.js';
import { LogWorker } from './log-worker.js';
import { RingMemory } from './logs/ring.js';
import { figuresMsMax, MetricsHub } from './metrics-hub.js';
import { catalogueOf, type Catalogue } from './registry/catalogue.js';
import { Registry } from './registry/registry.js';
import { descriptorLimit } from './server/descriptors.js';
import { reservePort } from './server/listener.js';
import { loadUws } from './server/uws.js';
import { checkMasterKey, loadMasterKey } from './settings/master-key.js';
import { noResources, type Settings } from './settings/read.js';
import type { SettingKey } from './settings/schema.js';
import { isOwnPort, newProcessName, Presence } from './storage/presence.js';
import { AppliedSequences } from './snapshot/applied-sequences.js';
import { RevisionSignal } from './snapshot/snapshot.js';
import { Repository } from './storage/repository.js';
import { verifyAudit, type AuditVerdict } from './storage/verify-audit.js';
import { noFigures } from './telemetry/figures.js';
import { Questions } from './telemetry/questions.js';
import { Breakers } from './upstream/breaker.js';
import { DataThread, type SharedMemory } from './thread.js';
import { gatewayVersion } from './version.js';
import { servingGeneration } from './workers/young-generation.js';
import { controlStore, requireDirectory, ThreadServices } from './thread-services.js';
import type { ThreadData, ThreadMessage } from './thread-entry.js';

/** Descriptors that a thread has open at once while it loads its files, about twice over. */
const descriptorsOfStart = 256;

/** A thread that needs longer to close its app, at an exit without a stop, is stuck. */
const closeTimeoutMs = 500;

export interface RunningGateway {
  readonly url: string;
  /** Present only when made at this start: shown once, never logged. */
  readonly generatedKeys: { readonly admin?: string; readonly api?: string };
  /** Stops accepting, lets open answers finish up to the deadline, then closes everything. */
  stop(deadlineMs: number): Promise<void>;
}

export interface StartOptions {
  /** False runs the exporters on the main thread, which is quick to start: for tests of other things. */
  readonly hasLogThread?: boolean;
  /** The same of control calls. */
  readonly hasControlThread?: boolean;
  /** Records of calls for control calls on this thread, in place of what the exporters keep: for tests of what reads them. */
  readonly logs?: LogReader | undefined;
}

export async function startGateway(settings: Settings, options: StartOptions = {}): Promise<RunningGateway> {
  loadUws(settings.headerBytesMax);
  prepareDataDir(settings.dataDir);
  let untold: unknown = undefined;
  const name = newProcessName();
  const presence = Presence.enter(settings.dataDir, 'gateway', (thrown) => { untold = thrown; }, name);
  try {
    const running = await startIn(settings, options, presence, name);
    if (untold !== undefined) process.emitWarning(`commands that need the data directory for themselves do not see this gateway: ${reasonOf(untold)}`);
    return running;
  } catch (thrown) {
    presence?.leave();
    throw thrown;
  }
}

async function startIn(settings: Settings, { hasLogThread = true, hasControlThread = true, logs }: StartOptions, presence: Presence | null, name: string): Promise<RunningGateway> {
  const uws = loadUws(settings.headerBytesMax);
  const masterKey = shareBytes(loadMasterKey(settings));
  const port = await reservePort(uws, settings.host, settings.port);
  presence?.tell({ host: settings.host, port });
  // Applied by this thread, and nobody else's affair: secrets are in it.
  const plainSettings: Settings = { ...settings, resources: noResources };
  const applyResources = async (services: ThreadServices, repository: Repository): Promise<void> => {
    if (settings.resources === noResources) return;
    await (await import('./apply-resources.js')).applyResources(services, repository, masterKey);
  };
  const breakers = Breakers.allocate();
  const log: LogMemory = {
    rings: settings.exporters.length === 0 ? [] : Array.from({ length: settings.threads }, () => RingMemory.allocate()),
    held: new Int32Array(new SharedArrayBuffer(4)),
    breakers,
    revision: RevisionSignal.allocate(),
  };
  const shared: SharedMemory = { masterKey, breakers, revision: log.revision, applied: AppliedSequences.allocate(settings.threads), heldBodies: HeldBytes.allocate(), counters: Counters.allocate(settings.limitCounters), process: name, log };
  let logWorker: LogWorker | null = null;
  const stopLog = async (deadlineMs: number, isHasty: boolean, writersEnded: Promise<unknown>): Promise<void> => logWorker?.stop(deadlineMs, isHasty, writersEnded);
  const startLog = async (services: ThreadServices): Promise<LogThread | null> => {
    if (log.rings.length === 0) return null;
    // What is kept in the heap of this thread can be written nowhere else.
    if (!services.isStorageShared || (!hasLogThread && settings.threads === 1)) return LogThread.start(services, log, false);
    logWorker = await LogWorker.start({ settings: plainSettings, memory: log }, services);
    return null;
  };
  let controlLink: PortLink | null = null;
  const workers: DataWorker[] = [];
  const controlWorker = new ControlWorker({ settings: plainSettings, memory: { masterKey, revision: shared.revision, applied: shared.applied, counters: shared.counters, process: name } }, settings.threads, ([first, ...others]) => {
    if (first !== undefined) controlLink?.attach(first);
    for (const worker of workers) {
      const port = others[worker.index - 1];
      if (port !== undefined) worker.attachControl(port);
    }
  });
  const linkControl = async (services: ThreadServices, repository: Repository): Promise<ControlLink> => {
    const [first] = controlWorker.ports;
    if (first === undefined || !services.isStorageShared || (!hasControlThread && settings.threads === 1)) return localLink(services, repository, shared, logs);
    controlWorker.start(services);
    return controlLink = new PortLink(first);
  };
  const hub: MetricsHub = new MetricsHub({
    figures: (): readonly (ThreadFigures | Promise<ThreadFigures>)[] => [main.figures.take(), ...workers.map((worker) => worker.figures()), controlWorker.figures()].filter((each) => each !== null),
    text: async (threads) => main.log?.scrape(threads) ?? logWorker?.scrape(threads) ?? { kind: 'off' },
  });
  const main = await DataThread.start(settings, shared, port, 0, { startLog, linkControl, applyResources, scrape: () => hub.scrape() }).catch(async (thrown: unknown) => {
    await Promise.all([stopLog(0, true, Promise.resolve()), controlWorker.stop(true, Promise.resolve())]);
    throw thrown;
  });
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const onExit = (): void => closeApps(workers, ended);
  if (settings.threads > 1) process.once('exit', onExit);
  const stopAll = async (deadlineMs: number, isHasty: boolean): Promise<void> => {
    const ended = Promise.all([main.stop(deadlineMs, isHasty), ...workers.map((worker) => worker.stop(deadlineMs, isHasty))]);
    // Told now: it follows each thread to its last record.
    await Promise.all([ended, stopLog(deadlineMs, isHasty, ended), controlWorker.stop(isHasty, ended)]);
    presence?.leave();
  };
  const takeBack = [beforeEnd(() => stopAll(0, true)), hearLostPromises((thrown) => main.services.onLostPromise(thrown))];
  const stop = async (deadlineMs: number): Promise<void> => {
    await stopAll(deadlineMs, false);
    process.off('exit', onExit);
    for (const each of takeBack) each();
  };
  const startWorker = async (index: number): Promise<void> => {
    const control = controlWorker.ports[index];
    if (control === undefined) return;
    const worker = await DataWorker.start({ settings: plainSettings, shared, port, index, control, ended }, hub);
    workers.push(worker);
    // The control thread died meanwhile.
    const current = controlWorker.ports[index];
    if (current !== undefined && current !== control) worker.attachControl(current);
  };
  try {
    // Side by side, since each reads the stored rows for itself; as far as there are descriptors for the files that a thread loads.
    const atOnce = Math.max(1, Math.floor((descriptorLimit() ?? Infinity) / descriptorsOfStart));
    for (let from = 1; from < settings.threads; from += atOnce) {
      const indexes = Array.from({ length: Math.min(atOnce, settings.threads - from) }, (_, index) => from + index);
      const started = await Promise.allSettled(indexes.map(startWorker));
      for (const each of started) if (each.status === 'rejected') throw each.reason;
    }
  } catch (thrown) {
    await stop(0);
    throw thrown;
  }
  const { adminKey, apiKey } = main.generatedKeys;
  const scheme = settings.tls === undefined ? 'http' : 'https';
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    url: `${scheme}://${host}:${port}`,
    generatedKeys: {
      ...(adminKey === undefined ? {} : { admin: adminKey }),
      ...(apiKey === undefined ? {} : { api: apiKey }),
    },
    stop,
  };
}

function shareBytes(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  shared.set(bytes);
  return shared;
}

export { backupGateway, rekeyGateway, restoreGateway } from './maintenance.js';
export { verifySpending } from './spend.js';
export { repriceHistory, showModel, unpricedModels } from './pricing.js';

/** Everything that `start` would find wrong, and every plugin loaded; for `gateway check`. */
export async function checkGateway(settings: Settings, faulty: ReadonlySet<SettingKey> = new Set()): Promise<readonly { readonly subject: string; readonly fault?: string }[]> {
  const results: { subject: string; fault?: string }[] = [];
  const attempt = async (subject: string, work: () => unknown): Promise<void> => {
    try {
      await work();
      results.push({ subject });
    } catch (thrown) {
      results.push({ subject, fault: reasonOf(thrown) });
    }
  };
  /** Nothing is looked at that was not meant. */
  const isMeant = (...keys: readonly SettingKey[]): boolean => !keys.some((key) => faulty.has(key));
  await attempt('uWebSockets.js', () => loadUws(settings.headerBytesMax));
  const reserve = (port: number): Promise<number> => reservePort(loadUws(settings.headerBytesMax), settings.host, port);
  if (isMeant('host', 'port')) await attempt(`address ${settings.host}:${settings.port}`, () => reserve(settings.port).catch(async (thrown: unknown) => {
    // Settings are tried before a restart: the gateway that runs on this data gives its port up then. Its address must be one of this machine all the same.
    if (!isMeant('data_dir') || !isOwnPort(settings.dataDir, settings)) throw thrown;
    await reserve(0).catch(() => { throw thrown; });
  }));
  if (isMeant('data_dir')) await attempt(`data directory ${settings.dataDir}`, () => prepareDataDir(settings.dataDir));
  let masterKey: Uint8Array | undefined | null = null;
  if (isMeant('data_dir', 'master_key')) await attempt('master key', () => { masterKey = checkMasterKey(settings); });
  results.push(...await DataThread.checkPlugins(settings, masterKey, isMeant));
  const key: Uint8Array | undefined | null = masterKey;
  if (settings.resources !== noResources && isMeant('resources', 'data_dir', 'storage', 'threads', 'plugins', 'admin_key', 'api_key') && key !== null) {
    await attempt('resources', async () => (await import('./apply-resources.js')).checkResources(settings, key));
  }
  return results;
}

/** For `gateway audit verify`; a gateway may be running on the same data. */
export async function verifyAuditLog(settings: Settings): Promise<AuditVerdict> {
  requireDirectory(settings);
  const services = new ThreadServices(settings);
  try {
    const storage = await services.openStorage();
    return await verifyAudit(new Repository(await storage.open(controlStore)));
  } finally {
    await services.close();
  }
}

/** Everything installed, for `gateway plugins`: nothing is opened, started or written. */
export function listPlugins(settings: Settings, cwd: string): Promise<Catalogue> {
  const hostOf = (plugin: string): never => { throw fail('PLUGIN_FAILED', { plugin, reason: 'nothing is started while plugins are listed' }); };
  return catalogueOf(new Registry({ packages: settings.plugins, fromFolder: cwd, hostOf }), gatewayVersion);
}

function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the data directory ${join(dataDir)} cannot be written (${reasonOf(thrown)}); choose another with GATEWAY_DATA_DIR` }, thrown);
  }
}

/** Loaded only here: the code of all control calls is a third of what the main thread would have. */
async function localLink(services: ThreadServices, repository: Repository, shared: SharedMemory, logs: LogReader | undefined): Promise<ControlLink> {
  const { startControlPlane } = await import('./control-thread.js');
  return new LocalLink(await startControlPlane(services, repository, shared, logs));
}

/** A data thread beside the main one. */
class DataWorker {
  #isStopping = false;
  readonly #exited: Promise<void>;
  readonly #figures = new Questions<ThreadFigures>();

  private constructor(readonly worker: Worker, readonly index: number, hub: MetricsHub) {
    this.#exited = new Promise((resolve) => { worker.once('exit', () => resolve()); });
    worker.on('error', onThreadDeath);
    worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'died') onThreadDeath(message.fault);
      else if (message.kind === 'figured') this.#figures.answer(message.number, message.figures);
      else if (message.kind === 'scrape') {
        const { number } = message;
        hub.scrape().then((scraped) => worker.postMessage({ kind: 'scraped', number, scraped } satisfies ThreadMessage), onThreadDeath);
      }
    });
    worker.once('exit', () => { if (!this.#isStopping) onThreadDeath(new Error('a thread ended by itself')); });
  }

  /** Resolves when it accepts connections. */
  static start(data: ThreadData, hub: MetricsHub): Promise<DataWorker> {
    const worker = new Worker(new URL('./thread-entry.js', import.meta.url), { workerData: data, transferList: [data.control], resourceLimits: servingGeneration() });
    return new Promise((resolve, reject) => {
      worker.once('message', (message: ThreadMessage) => {
        worker.off('error', reject);
        if (message.kind === 'failed') reject(fail('SETTINGS_INVALID', { reason: message.reason }));
        else resolve(new DataWorker(worker, data.index, hub));
      });
      worker.once('error', reject);
      // After `message` or `error` this comes too late to matter.
      worker.once('exit', () => reject(fail('INTERNAL', { id: 'thread' }, new Error('a thread ended before it had started'))));
    });
  }

  /** What the thread says of itself. Never rejects. */
  figures(): Promise<ThreadFigures> {
    const name = `serve-${this.index}`;
    return this.#figures.ask((number) => this.worker.postMessage({ kind: 'figures', number } satisfies ThreadMessage), figuresMsMax, noFigures(name));
  }

  /** To the control thread that takes the place of one that died. */
  attachControl(port: MessagePort): void {
    this.worker.postMessage({ kind: 'control', port } satisfies ThreadMessage, [port]);
  }

  /** May be called again, with less patience. */
  stop(deadlineMs: number, isHasty: boolean): Promise<void> {
    this.#isStopping = true;
    this.worker.postMessage({ kind: 'stop', deadlineMs, isHasty } satisfies ThreadMessage);
    return this.#exited;
  }
}

/** A thread that dies takes its connections and counters with it: an impossible state, which ends the process. */
function onThreadDeath(thrown: unknown): void {
  throw isGatewayError(thrown) ? thrown : fail('INTERNAL', { id: 'thread' }, thrown);
}

/**
 * The process exits before its threads were stopped. A thread that ends with an open app aborts the process, whatever its exit code was to be, so
 * each closes its app first. Blocks: nothing else runs any more.
 */
function closeApps(workers: readonly DataWorker[], ended: Int32Array): void {
  for (const { worker } of workers) worker.postMessage({ kind: 'stop', deadlineMs: 0, isHasty: true } satisfies ThreadMessage);
  const byMs = performance.now() + closeTimeoutMs;
  for (let count = Atomics.load(ended, 0); count < workers.length; count = Atomics.load(ended, 0)) {
    if (Atomics.wait(ended, 0, count, Math.max(0, byMs - performance.now())) === 'timed-out') return;
  }
}
