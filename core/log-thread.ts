// The log of all threads: takes records out of their rings and runs the exporters, each behind a queue of its own. In a thread of its own
// (log-thread-entry.ts), so that what exporters do costs no call anything; on the thread that serves calls where the storage cannot be shared.

import type { Exporter, ExporterPlugin, ProcessFigures, ThreadFigures } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf } from './errors/gateway-error.js';
import { exporterParams } from './exporter-params.js';
import { LogDrain, type DrainPricer } from './logs/log-drain.js';
import { bytesWaiting, RingMemory } from './logs/ring.js';
import { textMsMax } from './metrics-hub.js';
import { parameterPath } from './plan/parameter-path.js';
import { recordPricerOf } from './pricing.js';
import type { ExporterSetting } from './settings/read.js';
import { RevisionSignal } from './snapshot/revision-signal.js';
import { Repository } from './storage/repository.js';
import { FigureTaker, type Scraped } from './telemetry/figures.js';
import { LogQueue } from './telemetry/queue.js';
import { controlStore, type ThreadServices } from './thread-services.js';
import { Breakers } from './upstream/breaker.js';

/** Beyond the deadline of the calls: what closing a thread may take before it writes no more records. */
const writersMs = 4_000;
/** The last writes, when everything else is closed, get this long. */
const flushTimeoutMs = 5_000;
/** The same, all in all, when the process ends without notice. */
const hastyFlushMs = 500;

/** Memory that the log shares with the rest of the process. */
export interface LogMemory {
  /** One for each thread that serves calls. */
  readonly rings: readonly SharedArrayBuffer[];
  /** Records that were taken out of the rings and not exported yet: lost when the log thread dies. */
  readonly held: Int32Array;
  /** Those of the threads that serve calls, for the metrics. */
  readonly breakers: SharedArrayBuffer;
  /** Moves when stored rows change. */
  readonly revision: SharedArrayBuffer;
}

export class LogThread {
  #ending: Promise<void> | undefined = undefined;
  #isHasty = false;
  readonly #rings: readonly RingMemory[];
  readonly #breakers: Breakers;

  private constructor(
    readonly services: ThreadServices,
    readonly memory: LogMemory,
    readonly exporters: readonly Exporter[],
    readonly queues: readonly LogQueue[],
    readonly drain: LogDrain,
    rings: readonly RingMemory[],
    /** Of the thread itself; null where that has a taker of its own. */
    readonly own: FigureTaker | null,
  ) {
    this.#rings = rings;
    this.#breakers = new Breakers(memory.breakers);
  }

  /** Resolves when all exporters are made. `services` are the caller's, who closes them after the end. `isAlone`: the thread does nothing else. */
  static async start(services: ThreadServices, memory: LogMemory, isAlone = true): Promise<LogThread> {
    const { logger, metrics } = services;
    const made: MadeExporter[] = [];
    for (const entry of services.settings.exporters) made.push(await createExporter(services, entry));
    const names = namesOf(services.settings.exporters);
    const queues = made.map(({ exporter, plugin }, index) => new LogQueue(exporter, {
      logger,
      name: names[index] ?? '',
      onDropped: (count) => metrics.add('log.recordsDropped', count),
      takesBodies: plugin.takesBodies === true && exporter.takesBodies !== false,
      onBodiesDropped: () => metrics.add('log.bodiesDropped', 1),
      ...(plugin.batch === undefined ? {} : { batchCountMax: plugin.batch.countMax, waitMsMax: plugin.batch.waitMsMax }),
    }));
    const rings = memory.rings.map((ring) => new RingMemory(ring));
    const drain = new LogDrain(rings, {
      queues,
      unread: services.faultReport('error', { message: 'log records could not be read', metric: 'log.recordsDropped', subject: 'where' }),
      onLook: () => tellHeld(memory, queues),
      pricer: await pricerFor(services, memory),
    });
    drain.start();
    return new LogThread(services, memory, made.map(({ exporter }) => exporter), queues, drain, rings, isAlone ? new FigureTaker('log', metrics) : null);
  }

  /**
   * Exports what the serving threads have written until they end, and closes the exporters. Never rejects. May be called again, with less
   * patience: `isHasty` when the process ends, and what is not written at once is lost.
   */
  stop(deadlineMs: number, isHasty: boolean): Promise<void> {
    this.#isHasty ||= isHasty;
    if (this.#ending === undefined) this.#ending = this.#end(deadlineMs);
    else if (isHasty) {
      this.drain.hurry();
      this.#closeQueues().catch((thrown: unknown) => this.services.logger.error('the log could not be closed', { reason: reasonOf(thrown) }));
    }
    return this.#ending;
  }

  /** The text of the metrics, with `threads` in it. Never rejects. */
  async scrape(threads: readonly ThreadFigures[]): Promise<Scraped> {
    const exporter = this.exporters.find((each) => each.scrape !== undefined);
    if (exporter?.scrape === undefined) return { kind: 'off' };
    const figures: ProcessFigures = {
      threads: this.own === null ? threads : [...threads, this.own.take()],
      exporters: this.queues.map(({ name, length, bytes, exported, dropped }) => ({ name, waiting: length, waitingBytes: bytes, exported, dropped })),
      rings: this.#rings.map((ring, index) => ({ thread: `serve-${index}`, waitingBytes: bytesWaiting(ring), sizeBytes: ring.size })),
      breakers: this.#breakers.count(),
    };
    let timer: NodeJS.Timeout | undefined = undefined;
    const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Error(`the exporter took longer than ${textMsMax} ms`)), textMsMax).unref(); });
    try {
      const { contentType, text } = await Promise.race([exporter.scrape(figures), late]);
      return { kind: 'text', contentType, bytes: new TextEncoder().encode(text) };
    } catch (thrown) {
      return { kind: 'failed', reason: reasonOf(thrown) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes no more records and exports none: an error that nothing expected ends the thread. */
  cut(): void {
    this.drain.stop();
  }

  async #end(deadlineMs: number): Promise<void> {
    await this.drain.end(this.#isHasty ? hastyFlushMs / 2 : deadlineMs + writersMs);
    await this.#closeQueues();
    tellHeld(this.memory, this.queues);
    this.own?.close();
    // Side by side: one that takes its time leaves the others theirs.
    await Promise.all(this.exporters.map((exporter, index) => this.services.closing(`the exporter ${this.queues[index]?.name ?? ''}`, () => exporter.close?.())));
  }

  /** Never rejects: what cannot be exported is dropped. */
  async #closeQueues(): Promise<void> {
    await Promise.all(this.queues.map((queue) => queue.close(this.#isHasty ? hastyFlushMs / 2 : flushTimeoutMs)));
  }
}

/** Null: without storage nobody knows what integrations say of prices. */
async function pricerFor(services: ThreadServices, { revision }: LogMemory): Promise<DrainPricer | null> {
  if (services.storage === undefined) return null;
  const signal = new RevisionSignal(revision);
  return recordPricerOf(services, new Repository(await services.storage.open(controlStore)), () => signal.current());
}

function tellHeld({ held }: LogMemory, queues: readonly LogQueue[]): void {
  let most = 0;
  for (const queue of queues) most = Math.max(most, queue.length);
  Atomics.store(held, 0, most);
}

/** `id`, and `id#2` for the second with the same id. */
function namesOf(exporters: readonly ExporterSetting[]): string[] {
  const seen = new Map<string, number>();
  return exporters.map(({ id }) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? id : `${id}#${count}`;
  });
}

interface MadeExporter {
  readonly exporter: Exporter;
  readonly plugin: ExporterPlugin;
}

async function createExporter(services: ThreadServices, setting: ExporterSetting): Promise<MadeExporter> {
  const { id } = setting;
  const plugin = await services.registry.find('exporter', id);
  if (plugin === undefined) throw fail('SETTINGS_INVALID', { reason: `no exporter ${id} is installed; installed: ${services.registry.list('exporter').join(', ')}` });
  const values = exporterParams(services, plugin, setting);
  try {
    return { exporter: await plugin.create(values, services.registry.host(`exporter/${id}`)), plugin };
  } catch (thrown) {
    const path = parameterPath(thrown);
    if (path !== undefined) throw fail('SETTINGS_INVALID', { reason: `exporter ${id}: ${path} ${reasonOf(thrown)}` }, thrown);
    throw thrown;
  }
}

/** Without storage only what it is given is judged: why there is none is told already. */
export async function checkExporter(services: ThreadServices, entry: ExporterSetting): Promise<void> {
  try {
    await (await createExporter(services, entry)).exporter.close?.();
  } catch (thrown) {
    if (services.storage !== undefined || (isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID')) throw thrown;
  }
}
