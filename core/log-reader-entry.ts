// Entry of the thread that reads the log. Started by log-reader.ts, from the thread of the control plane.

import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from './errors/gateway-error.js';
import { makeLogReader, type LogReaderData, type LogReaderMessage } from './log-reader.js';
import { LogCalls, type LogCallAnswer } from './logs/log-calls.js';
import { ThreadServices } from './thread-services.js';

/** Something of a plugin may keep the thread alive when all is closed. It gets this long; lines of the log are on their way meanwhile. */
const lingerMs = 100;
/** A question may wait, calls may not: where cores are short, the threads of those come first. */
const niceness = 10;
// On Linux this is the calling thread's alone; elsewhere it would be the whole process's.
if (process.platform === 'linux') setPriority(niceness);

const port = parentPort;
if (port === null) throw new Error('log-reader-entry.js runs in a worker thread only');
const { settings }: LogReaderData = workerData;
const tell = (message: LogReaderMessage): void => port.postMessage(message);
const services = new ThreadServices({ ...settings, pluginsReload: false });

let isLeaving = false;
const leave = (): void => {
  if (isLeaving) return;
  isLeaving = true;
  const end = (): void => {
    port.close();
    setTimeout(() => process.exit(), lingerMs).unref();
  };
  services.close().then(end, end);
};
const die = (thrown: unknown): void => {
  if (isLeaving) return;
  tell({ kind: 'died', reason: reasonOf(thrown) });
  leave();
};

process.on('uncaughtException', die);
process.on('unhandledRejection', (thrown) => services.onLostPromise(thrown));
let countsTold: Readonly<Record<string, number>> = {};
/** Nobody asks this thread for its figures: those of the thread that started it have what is counted here. */
function tellCounts(): void {
  const counts = services.metrics.since(countsTold);
  if (Object.keys(counts).length === 0) return;
  countsTold = services.metrics.snapshot();
  tell({ kind: 'counted', counts });
}

const calls = open();
// Each question is answered with the reason; the next thread may do better.
calls.catch(() => undefined);

async function open(): Promise<LogCalls> {
  await services.openStorage();
  services.collectWhenQuiet('log reader');
  const reader = await makeLogReader(services);
  services.writers.push({ stop: async () => { await reader.close?.(); } });
  return new LogCalls(reader);
}

port.on('message', (message: LogReaderMessage) => {
  if (message.kind === 'stop') leave();
  if (message.kind !== 'call') return;
  const { call } = message;
  const refused = (thrown: unknown): LogCallAnswer => ({ number: call.number, reason: reasonOf(thrown), isOfInput: false });
  calls.then((each) => each.answer(call), refused).then((answer) => {
    // First, so that who has the answer finds them.
    tellCounts();
    tell({ kind: 'answer', answer });
  }).catch(die);
});
