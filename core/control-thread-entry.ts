// Entry of the control thread. Started by control-worker.ts.

import { setPriority } from 'node:os';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { ThreadFigures } from '@gateway/plugin-sdk';
import { answerCalls } from './control-plane/control-link.js';
import { startControlPlane, type ControlMemory } from './control-thread.js';
import { reasonOf } from './errors/gateway-error.js';
import type { Settings } from './settings/read.js';
import { RevisionSignal } from './snapshot/snapshot.js';
import type { ThreadNews } from './started-thread.js';
import { Repository } from './storage/repository.js';
import { FigureTaker } from './telemetry/figures.js';
import { controlStore, ThreadServices } from './thread-services.js';

export interface ControlThreadData {
  readonly settings: Settings;
  readonly memory: ControlMemory;
}

export interface ControlThreadStart extends ControlThreadData {
  /** One for each thread that serves calls. */
  readonly ports: readonly MessagePort[];
}

export type ControlThreadMessage =
  /** What the thread says of itself, asked for and told. */
  | { readonly kind: 'figures'; readonly number: number }
  | { readonly kind: 'figured'; readonly number: number; readonly figures: ThreadFigures }
  | ThreadNews
  | { readonly kind: 'stop' };

/** Something of a plugin may keep the thread alive when all is closed. It gets this long; lines of the log are on their way meanwhile. */
const lingerMs = 300;

/** A control call may wait, calls to models may not: where cores are short, the threads of those come first. */
const niceness = 5;
// On Linux this is the calling thread's alone; elsewhere it would be the whole process's.
if (process.platform === 'linux') setPriority(niceness);

const port = parentPort;
if (port === null) throw new Error('control-thread-entry.js runs in a worker thread only');
const data: ControlThreadStart = workerData;
const tell = (message: ControlThreadMessage): void => port.postMessage(message);
const services = new ThreadServices({ ...data.settings, pluginsReload: false });

let isLeaving = false;
/** Calls under way end without an answer, which their threads tell the clients. */
const leave = (): void => {
  if (isLeaving) return;
  isLeaving = true;
  const close = (): void => {
    for (const each of data.ports) each.close();
    port.close();
    setTimeout(() => process.exit(), lingerMs).unref();
  };
  services.close().then(close, close);
};

try {
  const storage = await services.openStorage();
  const signal = new RevisionSignal(data.memory.revision);
  const plane = await startControlPlane(services, new Repository(await storage.open(controlStore), () => signal.bump()), data.memory);
  process.on('uncaughtException', (thrown) => {
    if (isLeaving) return;
    tell({ kind: 'died', reason: reasonOf(thrown) });
    // Nobody knows what holds any more: no other call is begun.
    for (const each of data.ports) each.removeAllListeners('message');
    leave();
  });
  process.on('unhandledRejection', (thrown) => services.onLostPromise(thrown));
  for (const each of data.ports) answerCalls(each, plane);
  const figures = new FigureTaker('control', services.metrics);
  port.on('message', (message: ControlThreadMessage) => {
    if (message.kind === 'figures') tell({ kind: 'figured', number: message.number, figures: figures.take() });
    else if (message.kind === 'stop') {
      figures.close();
      leave();
    }
  });
  services.collectWhenQuiet('control');
  tell({ kind: 'ready' });
} catch (thrown) {
  tell({ kind: 'failed', reason: reasonOf(thrown) });
  leave();
}
