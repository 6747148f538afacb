// Says whose instructions those of native code are: its JavaScript caller's, in proportion to what each caller had it spend. Collections of
// garbage and the making of code are nobody's: they stand under names of their own, as does native code that no JavaScript called.
import type { CallGraph, ProfiledFunction } from './callgrind-file.js';

export interface Share {
  readonly name: string;
  /** Of the function itself. */
  own: number;
  /** Of native code on its behalf, by what that code belongs to. */
  readonly native: Map<string, number>;
}

export const garbageName = '(garbage collection)';
export const compilerName = '(making of code)';
export const outsideName = '(outside JavaScript)';

const javaScript = /^(?:JS|Script|Eval|Function|LazyCompile|Wasm):/;
const collection = /^v8::internal::(?:Heap::(?:CollectGarbage|PerformGarbageCollection|CollectAllGarbage)\(|(?:ScavengerCollector|MarkCompactCollector)::CollectGarbage|IncrementalMarking::|Sweeper::|ArrayBufferSweeper::|ConcurrentMarking)/;
const compilation = /^v8::internal::(?:Compiler::|OptimizingCompileDispatcher|compiler::|maglev::|baseline::|Runtime_CompileOptimized|TieringManager|interpreter::|Deoptimizer::)/;
const turnsMax = 200;

export function sumOf(share: Share): number {
  let sum = share.own;
  for (const part of share.native.values()) sum += part;
  return sum;
}

/** Name of what keeps its instructions, or null for code that works for its caller. `isOwner` false: a function of JavaScript that works for its caller too. */
function holderOf(profiled: ProfiledFunction, isOwner: (name: string) => boolean): string | null {
  if (profiled.object === '') return javaScript.test(profiled.name) && isOwner(profiled.name) ? profiled.name : null;
  if (collection.test(profiled.name)) return garbageName;
  return compilation.test(profiled.name) ? compilerName : null;
}

/** What a piece of native code belongs to. */
export function originOf({ object, name }: ProfiledFunction): string {
  const file = object.slice(object.lastIndexOf('/') + 1);
  if (object === '' || /^(?:Builtins_|v8::|(?:heap|cppgc)::|void v8::|\w+ v8::)/.test(name)) return javaScript.test(name) ? 'Node' : 'V8';
  if (/^uv_/.test(name)) return 'libuv';
  if (/^(?:node|libnode)\b/.test(file)) return 'Node';
  if (/^uws/.test(file)) return 'uWebSockets.js';
  return /^(?:lib(?:c|m|stdc\+\+|gcc_s|pthread)\b|ld-linux)/.test(file) ? 'C library' : file;
}

interface Caller {
  readonly key: string;
  readonly instructions: number;
}

function callersOf(graph: CallGraph): Map<string, { readonly list: Caller[]; sum: number }> {
  const callers = new Map<string, { readonly list: Caller[]; sum: number }>();
  for (const [key, profiled] of graph) {
    for (const [called, { instructions }] of profiled.called) {
      // A function that calls itself passes nothing on.
      if (called === key || instructions === 0) continue;
      const above = callers.get(called) ?? { list: [], sum: 0 };
      above.list.push({ key, instructions });
      above.sum += instructions;
      callers.set(called, above);
    }
  }
  return callers;
}

export function attribute(graph: CallGraph, isOwner: (name: string) => boolean = () => true): Map<string, Share> {
  const shares = new Map<string, Share>();
  const shareOf = (name: string): Share => {
    const share = shares.get(name) ?? { name, own: 0, native: new Map<string, number>() };
    shares.set(name, share);
    return share;
  };
  const giveNative = (name: string, origin: string, amount: number): void => {
    const { native } = shareOf(name);
    native.set(origin, (native.get(origin) ?? 0) + amount);
  };
  const callers = callersOf(graph);
  const pendingByOrigin = new Map<string, Map<string, number>>();
  for (const [key, profiled] of graph) {
    if (profiled.own === 0) continue;
    const holder = holderOf(profiled, isOwner);
    if (holder !== null && profiled.object === '') shareOf(holder).own += profiled.own;
    else if (holder !== null) giveNative(holder, originOf(profiled), profiled.own);
    else {
      const origin = originOf(profiled);
      const pending = pendingByOrigin.get(origin) ?? new Map<string, number>();
      pendingByOrigin.set(origin, pending.set(key, profiled.own));
    }
  }
  for (const [origin, start] of pendingByOrigin) {
    let pending = start;
    for (let turn = 1; turn <= turnsMax && pending.size > 0; turn += 1) {
      const next = new Map<string, number>();
      for (const [key, amount] of pending) {
        const above = callers.get(key);
        // What is less than one instruction is not followed through functions that call each other.
        if (above === undefined || turn === turnsMax || amount < 1) {
          giveNative(outsideName, origin, amount);
          continue;
        }
        for (const caller of above.list) {
          const part = (amount * caller.instructions) / above.sum;
          const profiled = graph.get(caller.key);
          const holder = profiled === undefined ? outsideName : holderOf(profiled, isOwner);
          if (holder === null) next.set(caller.key, (next.get(caller.key) ?? 0) + part);
          else giveNative(holder, origin, part);
        }
      }
      pending = next;
    }
  }
  return shares;
}

/** Path below the tree, or what V8 calls it: `core/pipeline/run.js`, `undici/lib/core/request.js`, `node:net`. */
export function fileOf(name: string): string {
  const file = /\s(\S+?):\d+:\d+$/.exec(name)?.[1];
  if (file === undefined) return '';
  const packagePath = file.lastIndexOf('/node_modules/');
  if (packagePath >= 0) return file.slice(packagePath + '/node_modules/'.length);
  const built = file.lastIndexOf('/dist/');
  return built >= 0 ? file.slice(built + '/dist/'.length) : file.replace(/^file:\/\//, '');
}

export function functionNameOf(name: string): string {
  const match = /^\w+:[*~^+]*([^ ]*)/.exec(name);
  return match === null ? name : match[1] === '' ? '(anonymous)' : match[1] ?? '';
}

const logLayer = 'log: record, exporters';
/** The first that fits. By folders, so that a file that moves within its folder stays where it is. */
const layers: readonly (readonly [layer: string, files: RegExp])[] = [
  ['client: head, body, answer', /^core\/(?:server|router)\//],
  ['call: exchange, ids, trace', /^core\/exchange\//],
  ['key check', /^core\/(?:auth|storage|limits)\//],
  ['plan look-up', /^core\/(?:plan|config|registry|settings)\/|^lru-cache\//],
  ['answer: headers, usage, stages', /^core\/(?:stream|dialect)\/|^core\/body\/usage|^core\/pipeline\/(?:.*\/)?(?:answer|respond|response|plain-answer|first-event|relay|collect|transform)/],
  ['body: parse, validate', /^core\/(?:body|endpoints)\//],
  ['request to the provider', /^providers\/|^core\/pipeline\/(?:.*\/)?(?:prepare|outgoing|draft|upstream-body|credentials|choose-endpoint)/],
  [logLayer, /^core\/(?:telemetry|logs)\/|^core\/log-|^plugins\/(?:exporters|storage)\/|^msgpackr|^lmdb\//],
  ['checks and hooks', /^core\/(?:workers|pipeline\/(?:.*\/)?(?:hook|check|before|after|judged))|^plugins\/(?:guardrails|hooks)\//],
  ['caches', /^plugins\/caches\/|^core\/pipeline\/(?:.*\/)?(?:cache|kept)/],
  ['steps: run, attempts, targets', /^core\/(?:pipeline|upstream\/breaker)/],
  ['provider connection', /^core\/upstream\/|^undici\//],
];

/** Native code of JavaScript of Node's own belongs to who called it; what the loop itself calls there serves the sockets to providers. */
export function isLayered(name: string): boolean {
  return !fileOf(name).startsWith('node:') && fileOf(name) !== '';
}

export function layerOf(name: string): string {
  const file = fileOf(name);
  if (file === '') return name;
  if (functionNameOf(name) === 'recordOf') return logLayer;
  return layers.find(([, files]) => files.test(file))?.[0] ?? file;
}
