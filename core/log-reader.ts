// Who reads the records of calls for the control plane: the first exporter that can, in a thread of its own (log-reader-entry.ts), or in place where the
// control plane has no thread either, because the storage cannot be shared.

import type { LogReader } from '@gateway/plugin-sdk';
import { isMainThread } from 'node:worker_threads';
import { exporterParams } from './exporter-params.js';
import { LogAccess, readInPlace, type ReaderEnd } from './logs/log-access.js';
import type { LogCall, LogCallAnswer } from './logs/log-calls.js';
import type { Settings } from './settings/read.js';
import { startThread, type ThreadNews } from './started-thread.js';
import type { ThreadServices } from './thread-services.js';

/** Rows of a query live for as long as the query. */
const youngGenerationMb = 32;

export interface LogReaderData {
  readonly settings: Settings;
}

export type LogReaderMessage =
  | { readonly kind: 'call'; readonly call: LogCall }
  | { readonly kind: 'stop' }
  | { readonly kind: 'answer'; readonly answer: LogCallAnswer }
  /** By name, since the last message. */
  | { readonly kind: 'counted'; readonly counts: Readonly<Record<string, number>> }
  | ThreadNews;

/** Undefined: nothing is logged. Costs nothing before the first question. */
export function logReaderOf(services: ThreadServices): LogReader | undefined {
  if (services.settings.exporters.length === 0) return undefined;
  const access = new LogAccess({
    start: (onAnswer, onEnd) => (isMainThread ? readInPlace(() => makeLogReader(services), onAnswer) : startReader(services, onAnswer, onEnd)),
    // Of the same thread there is nothing to be had back: what a plugin does from time to time for its reader goes on, closed or not.
    isKept: isMainThread,
    onDeath: (reason) => {
      services.metrics.add('log.readerDeaths', 1);
      services.logger.error('the thread that reads the log died; the next question starts it again', { reason });
    },
  });
  services.writers.push({ stop: () => access.close() });
  return access;
}

/** Of the first exporter that has one. */
export async function makeLogReader(services: ThreadServices): Promise<LogReader> {
  const { settings, registry } = services;
  for (const setting of settings.exporters) {
    const plugin = await registry.find('exporter', setting.id);
    if (plugin?.reader === undefined) continue;
    return plugin.reader(exporterParams(services, plugin, setting), registry.host(`exporter/${setting.id}`));
  }
  throw new Error('no exporter keeps records that can be read; add store to GATEWAY_EXPORTERS');
}

function startReader({ settings, metrics }: Pick<ThreadServices, 'settings' | 'metrics'>, onAnswer: (answer: LogCallAnswer) => void, onEnd: (reason: string) => void): ReaderEnd {
  let left = (): void => {};
  const exited = new Promise<void>((resolve) => { left = resolve; });
  const worker = startThread<LogReaderMessage>({ data: { settings } satisfies LogReaderData }, {
    entry: new URL('./log-reader-entry.js', import.meta.url), youngGenerationMb,
    onMessage: (message) => {
      if (message.kind === 'answer') onAnswer(message.answer);
      else if (message.kind === 'counted') for (const [name, count] of Object.entries(message.counts)) metrics.add(name, count);
    },
  }, (reason) => {
    onEnd(reason);
    left();
  });
  worker.unref();
  const tell = (message: LogReaderMessage): void => worker.postMessage(message);
  return {
    send: (call) => tell({ kind: 'call', call }),
    end: async (forceMs) => {
      tell({ kind: 'stop' });
      const timer = setTimeout(() => { worker.terminate().catch(() => undefined); }, forceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}
