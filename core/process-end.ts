// The end of the process, wanted or not, and what comes before it. Ending in haste can hang for ever: a commit of the storage that waits for this
// thread holds a thread of the pool, and the process waits for that one. So the gateway is closed first, while the loop still turns, and a second
// process sees to it that the end comes even when this one is stuck. Runs once; nothing here may throw.

import { spawn } from 'node:child_process';

/** What an end without notice (error, second signal) may take: closing, and all in all. */
const closingMsMax = 1_500;
const hastyEndMs = 2_500;

/** Ends with this process, whose end closes its input; else ends this process. It has no environment: nothing of ours is to change what it does. */
const watchdog = `const [pid, ms] = process.argv.slice(1).map(Number);
process.stdin.resume().on('end', () => process.exit()).on('error', () => process.exit());
setTimeout(() => { try { process.kill(pid, 'SIGKILL'); } catch {} process.exit(); }, ms);`;

/** This process is killed when it is still there after `ms`. (As the first process of a container it cannot be: run it under an init there.) */
export function endWithin(ms: number): void {
  const onFault = (thrown: unknown): void => {
    process.stderr.write(`gateway: nothing watches over the end of the process: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  };
  try {
    const child = spawn(process.execPath, ['-e', watchdog, String(process.pid), String(ms)], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} });
    child.on('error', onFault);
    child.stdin.on('error', () => undefined);
    child.unref();
  } catch (thrown) {
    onFault(thrown);
  }
}

type Close = () => Promise<void>;

const closers = new Set<Close>();
let isEnding = false;

/** `close` is called when the process ends before it was stopped, or in the middle of that: it closes what is open at once. Returns what takes it back. */
export function beforeEnd(close: Close): () => void {
  closers.add(close);
  return () => { closers.delete(close); };
}

/** Closes everything, as far as it can be closed in time, and exits. Returns at once; a second call does nothing. */
export function endProcess(code: number): void {
  if (isEnding) return;
  isEnding = true;
  endWithin(hastyEndMs);
  const exit = (): void => { process.exit(code); };
  setTimeout(exit, closingMsMax);
  Promise.allSettled([...closers].map(async (close) => close())).then(exit, exit);
}

/** The end that the command line came to by itself. One in haste, with its own code, goes before. */
export function leave(code: number): void {
  if (!isEnding) process.exit(code);
}

/** Told of a promise that rejected and that nobody held. */
type OnLost = (thrown: unknown) => void;

let onLost: OnLost | null = null;

/** While the gateway runs, a lost promise costs the call it belonged to and no other. Returns what takes it back. */
export function hearLostPromises(listener: OnLost): () => void {
  onLost = listener;
  return () => { if (onLost === listener) onLost = null; };
}

/** False: nobody listens, and the process cannot go on as if nothing had been. */
export function tellLostPromise(thrown: unknown): boolean {
  if (onLost === null || isEnding) return isEnding;
  onLost(thrown);
  return true;
}
