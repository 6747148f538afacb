// Runs in a worker thread of the pool: imports the asked module once and calls one of its exported functions. Nothing that a function does may
// leave this file as an error: the pool takes an error for the end of the worker.

import { setPriority } from 'node:os';
import { serialize } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { hideCollection } from './engine-collection.js';
import { plainBytes } from './plain-bytes.js';
import type { Fault } from './worker-error.js';

export interface WorkerCall {
  /** Place in the shared cells, and what the pool wrote there. */
  readonly cell: number;
  readonly ticket: number;
  /** Empty: the worker only says that it is up. */
  readonly module: string;
  /** Empty: the module is only loaded. */
  readonly name: string;
  readonly args: readonly unknown[];
}

/** `undefined`: the pool had taken the call back before it began. */
export type WorkerOutcome = { readonly value: unknown; readonly runMs: number } | { readonly fault: Fault; readonly runMs: number } | undefined;

/** Given to a worker at its start. */
export interface WorkerShare {
  /** One for each call that may be in the worker: its ticket, and the negative ticket from the moment it begins. */
  readonly cells: Int32Array;
  readonly resultBytesMax: number;
  /** Bytes that a worker may print in its life. */
  readonly printedBytesMax: number;
}

const isShare = (value: unknown): value is WorkerShare => typeof value === 'object' && value !== null && 'cells' in value && value.cells instanceof Int32Array;

const share = isShare(workerData) ? workerData : undefined;
const resultBytesMax = share?.resultBytesMax ?? Infinity;
const messageLengthMax = 2000;
const stackLinesMax = 6;

const modules = new Map<string, Promise<Readonly<Record<string, unknown>>>>();
const loaded = new Map<string, Readonly<Record<string, unknown>>>();

/** Each URL once: a new query string is another version of a module. */
export function loadModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  let loading = modules.get(url);
  if (loading === undefined) {
    loading = import(url);
    modules.set(url, loading);
    // A file that was not there may come.
    loading.then((exported) => loaded.set(url, exported), () => modules.delete(url));
  }
  return loading;
}

export default async function run(call: WorkerCall): Promise<WorkerOutcome> {
  // The call that loads a module answers for it. Others begin behind it one by one, so that the pool can take them back.
  if (!loaded.has(call.module)) await modules.get(call.module)?.catch(() => undefined);
  // Taken back by the pool, or begun here: exactly one of the two succeeds.
  if (share !== undefined && Atomics.compareExchange(share.cells, call.cell, call.ticket, -call.ticket) !== call.ticket) return undefined;
  const startMs = performance.now();
  const outcome = await outcomeOf(call);
  const runMs = performance.now() - startMs;
  return 'fault' in outcome ? { fault: outcome.fault, runMs } : { value: outcome.value, runMs };
}

async function outcomeOf({ module, name, args }: WorkerCall): Promise<{ readonly value: unknown } | { readonly fault: Fault }> {
  if (module === '') return { value: undefined };
  let called: unknown;
  try {
    called = (loaded.get(module) ?? await loadModule(module))[name];
  } catch (thrown) {
    return { fault: { code: 'unloadable', message: clipped(`${module} cannot be loaded: ${messageOf(thrown)}`) } };
  }
  if (name === '') return { value: undefined };
  if (typeof called !== 'function') return { fault: { code: 'unloadable', message: `${module} exports no function ${name}` } };
  let value: unknown;
  try {
    value = await called(...args);
  } catch (thrown) {
    return { fault: faultOf(thrown) };
  }
  return checked(value);
}

/** A result that cannot be cloned would end the worker, and a huge one would hold up the loop that gets it. */
function checked(value: unknown): { readonly value: unknown } | { readonly fault: Fault } {
  let bytes: number;
  try {
    bytes = plainBytes(value, resultBytesMax) ?? serialize(value).byteLength;
  } catch (thrown) {
    return { fault: { code: 'uncloneable', message: clipped(`the result cannot be cloned: ${messageOf(thrown)}`) } };
  }
  if (bytes <= resultBytesMax) return { value };
  return { fault: { code: 'too-large', message: `the result is larger than ${resultBytesMax} bytes` } };
}

function faultOf(thrown: unknown): Fault {
  try {
    if (!(thrown instanceof Error)) return { code: 'threw', message: clipped(messageOf(thrown)) };
    const fault: Fault = { code: 'threw', name: String(thrown.name), message: clipped(String(thrown.message)) };
    return typeof thrown.stack === 'string' ? { ...fault, stack: clipped(thrown.stack.split('\n', stackLinesMax).join('\n')) } : fault;
  } catch {
    // Members of an error can be getters that throw.
    return { code: 'threw', message: 'the function threw something that cannot be read' };
  }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
  return typeof thrown === 'object' || typeof thrown === 'function' ? 'the function threw something that is not an error' : String(thrown);
}

const clipped = (text: string): string => (text.length > messageLengthMax ? `${text.slice(0, messageLengthMax)} ...` : text);

/** What a worker prints goes through the loop of the pool's thread: a flood would hold up calls. */
function limitPrinting(bytesMax: number): void {
  let left = bytesMax;
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = (chunk: Uint8Array | string, encodingOrDone?: BufferEncoding | ((error?: Error | null) => void), done?: (error?: Error | null) => void): boolean => {
      left -= chunk.length;
      const [encoding, finished] = typeof encodingOrDone === 'function' ? [undefined, encodingOrDone] : [encodingOrDone, done];
      if (left > 0) return write(chunk, encoding, finished);
      if (finished !== undefined) queueMicrotask(finished);
      return true;
    };
  }
}

/** A verdict may wait, calls may not: where cores are short, the threads of calls come first. */
const niceness = 10;

if (share !== undefined) {
  limitPrinting(share.printedBytesMax);
  hideCollection();
  // On Linux this is the calling thread's alone; elsewhere it would be the whole process's.
  if (process.platform === 'linux') setPriority(niceness);
}
