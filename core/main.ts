// Entry of the process: runs the command line. An error that nothing expected ends the process: its state can no longer be trusted. A promise that
// rejected and that nobody held is less than that: it is told and counted while the gateway runs, and ends the process before.

import { runCommandLine } from './cli/command-line.js';
import { reasonOf } from './errors/gateway-error.js';
import { endProcess, endWithin, leave, tellLostPromise } from './process-end.js';
import { gatewayVersion } from './version.js';

/** One line, so that it stays whole among other log lines. */
function lastWords(thrown: unknown): string {
  const stack = thrown instanceof Error ? thrown.stack ?? '' : '';
  const frame = stack.split('\n').find((line) => line.trimStart().startsWith('at '))?.trim() ?? '';
  const cause = thrown instanceof Error && thrown.cause !== undefined ? `; cause: ${reasonOf(thrown.cause)}` : '';
  return `gateway: ended by an unexpected error: ${reasonOf(thrown)}${cause}${frame === '' ? '' : ` (${frame})`}`.replaceAll('\n', ' ');
}

let isToldWhy = false;
const end = (thrown: unknown): void => {
  // What goes wrong while it ends follows from the first.
  if (!isToldWhy) process.stderr.write(`${lastWords(thrown)}\n`);
  isToldWhy = true;
  endProcess(1);
};
process.on('uncaughtException', end);
process.on('unhandledRejection', (thrown) => { if (!tellLostPromise(thrown)) end(thrown); });

let isHeard = true;
const code = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  cwd: process.cwd(),
  version: gatewayVersion,
  out: (text) => { process.stdout.write(`${text}\n`); },
  error: (text) => { process.stderr.write(`${text}\n`); },
  isHeard: () => isHeard,
  loadApp: () => import('./app.js'),
  onSignal: (listener) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => listener(signal));
    // Many a process manager sends it to have settings read again, and a terminal when it closes. Nobody reads what is printed then.
    process.on('SIGHUP', () => { process.stderr.write('gateway: SIGHUP is ignored; settings are read at the start, plugins given by path when their files change\n'); });
    process.stdout.on('error', () => { isHeard = false; });
    process.stderr.on('error', () => undefined);
  },
  exit: endProcess,
  endWithin,
});
leave(code);
