// How much memory a thread gives to objects that die young. The process is started with --max-semi-space-size, which is what threads that serve calls
// need; but a flag of the process outranks what a thread is started with, and would give as much to each thread beside them. So the flag goes once the
// main thread has its heap, and each thread is told for itself.

import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/** The engine counts two halves, and as much as one of them for what is large. */
const partsOfYoung = 3;
const flagPattern = /(?:^|\s)--max[-_]semi[-_]space[-_]size[=\s](\d+)(?=\s|$)/g;

let isFlagGone = false;

/** The limits of a thread whose young generation is so large; half a size more or less, since the engine has powers of two. */
export function youngGeneration(megabytes: number): ResourceLimits {
  if (!isFlagGone) setFlagsFromString('--max-semi-space-size=0');
  isFlagGone = true;
  return { maxYoungGenerationSizeMb: megabytes };
}

/** Those of a thread that serves calls: as the process was told; the engine's own where it was not. */
export function servingGeneration(nodeOptions = process.env['NODE_OPTIONS'] ?? '', argv: readonly string[] = process.execArgv): ResourceLimits {
  // The last one counts, and those of the command line come after the others.
  const last = [...[nodeOptions, ...argv].join(' ').matchAll(flagPattern)].at(-1);
  const megabytes = Number(last?.[1] ?? 0);
  return megabytes === 0 ? {} : youngGeneration(megabytes * partsOfYoung);
}
