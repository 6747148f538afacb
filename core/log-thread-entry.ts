// Entry of the log thread. Started by log-worker.ts.

import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { reasonOf } from './errors/gateway-error.js';
import { LogThread, type LogMemory } from './log-thread.js';
import type { Settings } from './settings/read.js';
import type { ThreadNews } from './started-thread.js';
import type { Scraped } from './telemetry/figures.js';
import { ThreadServices } from './thread-services.js';

export interface LogThreadData {
  readonly settings: Settings;
  readonly memory: LogMemory;
}

export type LogThreadMessage =
  | { readonly kind: 'scrape'; readonly number: number; readonly threads: readonly ThreadFigures[] }
  | { readonly kind: 'scraped'; readonly number: number; readonly scraped: Scraped }
  | ThreadNews
  /** `isHasty`: the process ends, and what is not written at once is lost. */
  | { readonly kind: 'stop'; readonly deadlineMs: number; readonly isHasty: boolean };

/** Something of a plugin may keep the thread alive when all is closed. It gets this long; lines of the log are on their way meanwhile. */
const lingerMs = 300;

const port = parentPort;
if (port === null) throw new Error('log-thread-entry.js runs in a worker thread only');
const data: LogThreadData = workerData;
const tell = (message: LogThreadMessage): void => port.postMessage(message);
// Exporters are made once: what is installed now stays.
const services = new ThreadServices({ ...data.settings, pluginsReload: false });

const leave = (): void => {
  port.close();
  setTimeout(() => process.exit(), lingerMs).unref();
};

try {
  await services.openStorage();
  const thread = await LogThread.start(services, data.memory);
  let isDead = false;
  process.on('uncaughtException', (thrown) => {
    if (isDead) return;
    isDead = true;
    thread.cut();
    tell({ kind: 'died', reason: reasonOf(thrown) });
    services.close().then(leave, leave);
  });
  process.on('unhandledRejection', (thrown) => services.onLostPromise(thrown));
  port.on('message', (message: LogThreadMessage) => {
    if (message.kind === 'stop') thread.stop(message.deadlineMs, message.isHasty).then(() => services.close()).then(leave, leave);
    else if (message.kind === 'scrape') {
      const { number } = message;
      thread.scrape(message.threads).then((scraped) => port.postMessage({ kind: 'scraped', number, scraped } satisfies LogThreadMessage, scraped.kind === 'text' ? [scraped.bytes.buffer as ArrayBuffer] : []))
        .catch((thrown: unknown) => tell({ kind: 'scraped', number, scraped: { kind: 'failed', reason: reasonOf(thrown) } }));
    }
  });
  services.collectWhenQuiet('log');
  tell({ kind: 'ready' });
} catch (thrown) {
  tell({ kind: 'failed', reason: reasonOf(thrown) });
  await services.close();
  leave();
}
