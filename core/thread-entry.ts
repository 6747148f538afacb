// Entry of the threads beside the main one. Started by app.ts.

import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { PortLink } from './control-plane/control-link.js';
import { reasonOf } from './errors/gateway-error.js';
import { lateScrape, scrapeMsMax } from './metrics-hub.js';
import type { Settings } from './settings/read.js';
import type { Scraped } from './telemetry/figures.js';
import { Questions } from './telemetry/questions.js';
import { DataThread, type SharedMemory } from './thread.js';

export interface ThreadData {
  readonly settings: Settings;
  readonly shared: SharedMemory;
  readonly port: number;
  readonly index: number;
  /** To the control thread. */
  readonly control: MessagePort;
  /** How many threads have ended. */
  readonly ended: Int32Array;
}

export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'died'; readonly fault: Error }
  /** What the thread says of itself, asked for and told. */
  | { readonly kind: 'figures'; readonly number: number }
  | { readonly kind: 'figured'; readonly number: number; readonly figures: ThreadFigures }
  /** The metrics of the process, asked for by the thread and told. */
  | { readonly kind: 'scrape'; readonly number: number }
  | { readonly kind: 'scraped'; readonly number: number; readonly scraped: Scraped }
  /** To the control thread that takes the place of one that died. */
  | { readonly kind: 'control'; readonly port: MessagePort }
  /** `isHasty`: the process ends, and what is not written at once is lost. */
  | { readonly kind: 'stop'; readonly deadlineMs: number; readonly isHasty: boolean };

const port = parentPort;
if (port === null) throw new Error('thread-entry.js runs in a worker thread only');
const data: ThreadData = workerData;
const link = new PortLink(data.control);
const scrapes = new Questions<Scraped>();
const scrape = (): Promise<Scraped> => scrapes.ask((number) => port.postMessage({ kind: 'scrape', number } satisfies ThreadMessage), scrapeMsMax, lateScrape);
try {
  const thread = await DataThread.start(data.settings, data.shared, data.port, data.index, { startLog: async () => null, linkControl: async () => link, scrape });
  // Not left to end the thread: with its app open that aborts the process before anybody has said why. The main thread ends all.
  const onFault = (thrown: unknown): void => {
    port.postMessage({ kind: 'died', fault: thrown instanceof Error ? thrown : new Error(reasonOf(thrown)) } satisfies ThreadMessage);
  };
  // The message may come twice: an exit does not wait for a stop that is under way.
  let isEnded = false;
  const onEnded = (): void => {
    if (isEnded) return;
    isEnded = true;
    port.close();
    Atomics.add(data.ended, 0, 1);
    Atomics.notify(data.ended, 0);
  };
  port.on('message', (message: ThreadMessage) => {
    if (message.kind === 'control') link.attach(message.port);
    else if (message.kind === 'figures') port.postMessage({ kind: 'figured', number: message.number, figures: thread.figures.take() } satisfies ThreadMessage);
    else if (message.kind === 'scraped') scrapes.answer(message.number, message.scraped);
    else if (message.kind === 'stop') thread.stop(message.deadlineMs, message.isHasty).then(onEnded, onFault);
  });
  process.on('uncaughtException', onFault);
  process.on('unhandledRejection', (thrown) => thread.services.onLostPromise(thrown));
  port.postMessage({ kind: 'ready' } satisfies ThreadMessage);
} catch (thrown) {
  port.postMessage({ kind: 'failed', reason: reasonOf(thrown) } satisfies ThreadMessage);
  port.close();
}
