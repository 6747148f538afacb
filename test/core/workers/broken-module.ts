// What no worker function should do. Gates are shared memory: a test opens them, and reads how far a function has come.

import { threadId } from 'node:worker_threads';

type Gate = SharedArrayBuffer;

const view = (gate: Gate): Int32Array => new Int32Array(gate);

/** Counts itself in the gate's second number. */
const enter = (gate: Gate): void => {
  Atomics.add(view(gate), 1, 1);
  Atomics.notify(view(gate), 1);
};

export const whereAmI = (): number => threadId;

/** Blocks its thread until the gate opens. */
export const block = (gate: Gate, value = 0): number => {
  enter(gate);
  Atomics.wait(view(gate), 0, 0);
  return value;
};

export const blockedThread = (gate: Gate): number => block(gate, threadId);

/** Leaves its thread free until the gate opens. */
export const waitAside = async (gate: Gate, value = 0): Promise<number> => {
  enter(gate);
  while (Atomics.load(view(gate), 0) === 0) await new Promise((resolve) => { setTimeout(resolve, 1); });
  return value;
};

export const spin = (gate?: Gate): never => {
  if (gate !== undefined) enter(gate);
  for (;;);
};

export const spinMicrotasks = async (gate: Gate): Promise<never> => {
  enter(gate);
  for (;;) await undefined;
};

export const never = (gate: Gate): Promise<never> => {
  enter(gate);
  return new Promise(() => undefined);
};

export const exitNow = (code: number): never => process.exit(code);

/** Ends its thread when the gate opens. */
export const exitLater = async (gate: Gate): Promise<never> => {
  await waitAside(gate);
  return process.exit(9);
};

export const abortProcess = (): never => process.abort();

/** The call is fine; its thread ends when the gate opens. */
export const leaveTimer = (gate: Gate): number => {
  void waitAside(gate).then(() => setImmediate(() => { throw new Error('left behind'); }));
  return threadId;
};

/** The call is fine; its thread is blocked after it until the gate opens. */
export const leaveBlock = (gate: Gate): number => {
  setImmediate(() => block(gate));
  return threadId;
};

export const rejectUnheard = (): Promise<never> => new Promise(() => {
  void Promise.reject(new Error('unheard'));
});

const fillHeap = (): number => {
  const all: object[] = [];
  for (;;) all.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
};

export const fillHeapLater = async (gate: Gate): Promise<number> => {
  await waitAside(gate);
  return fillHeap();
};

export const allocate = (bytes: number): number => new ArrayBuffer(bytes).byteLength;

export const resultOf = (length: number): string => 'a'.repeat(length);
export const manyParts = (length: number): number[] => Array.from({ length }, () => 1);
export const mapOf = (length: number): Map<string, string> => new Map([['key', 'a'.repeat(length)]]);
export const functionResult = (): unknown => ({ nested: [() => 1] });
export const cyclicResult = (): unknown => {
  const made: { self?: unknown } = {};
  made.self = made;
  return made;
};

export const throwString = (): never => { throw 'only a text'; };
export const throwNothing = (): never => { throw undefined; };
export const throwFunctionInside = (): never => { throw Object.assign(new TypeError('with a function'), { extra: () => 1 }); };
export const throwTrap = (): never => {
  throw Object.defineProperty(new Error('x'), 'message', { get: () => { throw new Error('trap'); } });
};
export const throwLong = (): never => { throw new Error('long '.repeat(10_000)); };

export const recurse = (depth: number): number => 1 + recurse(depth + 1);

export const print = async (lines: number): Promise<number> => {
  for (let index = 0; index < lines; index += 1) {
    process.stdout.write(`${'.'.repeat(1000)}\n`);
    if (index % 100 === 0) await new Promise((resolve) => { setImmediate(resolve); });
  }
  return lines;
};
