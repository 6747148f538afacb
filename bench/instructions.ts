// Counts the instructions of a request and of an event in user space, under valgrind. See bench/README.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildTree } from './against.js';
import { attribute, compilerName, fileOf, functionNameOf, garbageName, isLayered, layerOf, outsideName, sumOf } from './load/attribution.js';
import { Callgrind } from './load/callgrind.js';
import type { CallGraph } from './load/callgrind-file.js';
import { sleep, stopAll } from './load/children.js';
import { median } from './load/figures.js';
import { findProgram } from './load/machine.js';
import { Measure } from './load/measure.js';
import { countedLoads, type CountedLoad } from './load/counted-loads.js';
import { startGateway, startNginx, startRelay, startUpstream, type Subject, type Surroundings } from './load/subjects.js';

// This file runs as dist/bench/instructions.js.
const root = resolve(import.meta.dirname, '..', '..');
const say = (text: string): void => void process.stderr.write(`  ${text}\n`);
/** Batches of records are written, and connections closed, by then. */
const settleMs = 2500;
const idleMs = 2000;
const stopMs = 20_000;
/** Warming up goes on until making code takes less than this, and no longer than so many times. */
const compilerShareMax = 0.04;
const warmUpTurnsMax = 4;
/** Threads beside those that serve calls collect once, some seconds after the start: the instructions of one such collection, at the least. */
const fullCollectionMin = 30_000_000;
const quietTurnsMax = 6;
/** The first request runs code that nothing has run before. */
const probeTimeoutMs = 120_000;
/** One is read and written. */
const callsOfAnEvent = 1.8;
const gatewayCommand = 'node --max-semi-space-size=32 --single-threaded-gc dist/core/main.js start';

const help = `node dist/bench/instructions.js [loads] [options]

  loads              ${Object.keys(countedLoads).join(', ')} (default: requests)
  --against COMMIT   this tree beside another commit instead of nginx
  --rounds N         how often each is counted (default 1)
  --layers           where the instructions of this tree go, by layer, beside a relay without any policy
  --functions N      the N functions with the most instructions
  --gateway COMMAND  how the gateway is started (default "${gatewayCommand}")
  --environment LIST settings of the gateway, NAME=value with a comma between
  --json FILE        write the figures`;

interface Counted {
  readonly subject: Subject;
  readonly callgrind: Callgrind;
}

interface Count {
  readonly name: string;
  /** In user space for one request or event, without the making of code. */
  readonly instructions: number;
  readonly ofGarbage: number;
  readonly systemCalls: number;
  readonly ofCompiler: number;
}

interface Sum {
  readonly all: number;
  readonly garbage: number;
  readonly compiler: number;
  readonly systemCalls: number;
  readonly seconds: number;
  readonly graph: CallGraph;
}

function sumUp(graph: CallGraph, seconds: number): Sum {
  let all = 0;
  let systemCalls = 0;
  for (const profiled of graph.values()) {
    all += profiled.own;
    systemCalls += profiled.systemCalls;
  }
  const shares = attribute(graph);
  const of = (name: string): number => { const share = shares.get(name); return share === undefined ? 0 : sumOf(share); };
  return { all, garbage: of(garbageName), compiler: of(compilerName), systemCalls, seconds, graph };
}

/** Runs `work`, lets the subject come to rest, and says what it spent. */
async function window({ subject, callgrind }: Counted, work: () => Promise<unknown>): Promise<Sum> {
  const startedAtMs = performance.now();
  await work();
  await sleep(settleMs);
  const seconds = (performance.now() - startedAtMs) / 1000;
  return sumUp(await callgrind.dump(subject.child?.pid ?? -1), seconds);
}

/** What an idle subject spends: not with what it still does because it was started. */
async function idleWindow(counted: Counted): Promise<Sum> {
  let idle = await window(counted, () => sleep(idleMs));
  for (let turn = 1; turn < quietTurnsMax && idle.garbage >= fullCollectionMin; turn += 1) {
    say(`${counted.subject.name} collects what its start left behind, waiting for that`);
    idle = await window(counted, () => sleep(idleMs));
  }
  return idle;
}

/** What one more request costs: the difference of a long and a short run, so that connections cancel out, less what an idle subject spends in the same time. */
async function count(counted: Counted, measure: Measure, load: CountedLoad): Promise<{ readonly count: Count; readonly long: Sum; readonly longCount: number }> {
  const idle = await idleWindow(counted);
  const short = await window(counted, () => load.run(measure, counted.subject, false));
  const long = await window(counted, () => load.run(measure, counted.subject, true));
  const more = load.countOf(true) - load.countOf(false);
  const each = (figure: 'all' | 'garbage' | 'compiler' | 'systemCalls'): number => (long[figure] - short[figure] - ((idle[figure] / idle.seconds) * (long.seconds - short.seconds))) / more;
  return {
    count: { name: counted.subject.name, instructions: each('all') - each('compiler'), ofGarbage: each('garbage'), ofCompiler: each('compiler'), systemCalls: each('systemCalls') },
    long,
    longCount: load.countOf(true),
  };
}

const thousands = (value: number): string => `${(value / 1000).toFixed(Math.abs(value) < 9950 ? 2 : 1)} k`;

function printLayers(name: string, { graph }: Sum, requests: number): void {
  const byLayer = new Map<string, { own: number; native: number }>();
  let all = 0;
  for (const share of attribute(graph, isLayered).values()) {
    const parts = share.name === outsideName
      ? [...share.native].map(([origin, native]) => ({ layer: origin === 'uWebSockets.js' ? 'uWebSockets.js, before it calls us' : 'event loop and sockets of Node', own: 0, native }))
      : [{ layer: layerOf(share.name), own: share.own, native: sumOf(share) - share.own }];
    for (const { layer, own, native } of parts) {
      const sum = byLayer.get(layer) ?? { own: 0, native: 0 };
      sum.own += own;
      sum.native += native;
      all += own + native;
      byLayer.set(layer, sum);
    }
  }
  console.log(`\n${name}, by layer: instructions, of them in code of the layer itself, share`);
  for (const [layer, { own, native }] of [...byLayer].sort((a, b) => b[1].own + b[1].native - a[1].own - a[1].native)) {
    if ((own + native) / all < 0.001) continue;
    console.log(`${thousands((own + native) / requests).padStart(10)} ${thousands(own / requests).padStart(10)} ${(((own + native) / all) * 100).toFixed(1).padStart(6)} %  ${layer}`);
  }
}

function printFunctions(name: string, { graph }: Sum, requests: number, lines: number): void {
  const shares = [...attribute(graph).values()];
  const all = shares.reduce((sum, share) => sum + sumOf(share), 0);
  console.log(`\n${name}, by function: instructions with native code on its behalf, of them its own, share`);
  for (const share of shares.sort((a, b) => sumOf(b) - sumOf(a)).slice(0, lines)) {
    const file = fileOf(share.name);
    const native = [...share.native].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([origin, amount]) => `${origin} ${thousands(amount / requests)}`).join(', ');
    console.log(`${thousands(sumOf(share) / requests).padStart(10)} ${thousands(share.own / requests).padStart(10)} ${((sumOf(share) / all) * 100).toFixed(1).padStart(6)} %  ${functionNameOf(share.name)}${file === '' ? '' : `  ${file}`}${native === '' ? '' : `  (${native})`}`);
  }
  const helpers = [...graph.values()].filter(({ object }) => object !== '').sort((a, b) => b.own - a.own).slice(0, lines);
  console.log(`\n${name}, native functions by instructions of their own, whoever called them`);
  for (const { name: helper, own, object } of helpers) console.log(`${thousands(own / requests).padStart(10)} ${((own / all) * 100).toFixed(1).padStart(6)} %  ${helper.slice(0, 110)}  ${object.slice(object.lastIndexOf('/') + 1)}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      against: { type: 'string' }, rounds: { type: 'string', default: '1' }, layers: { type: 'boolean', default: false }, functions: { type: 'string', default: '0' },
      gateway: { type: 'string', default: gatewayCommand }, environment: { type: 'string', default: '' }, json: { type: 'string' }, help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const rounds = Number(values.rounds);
  const lines = Number(values.functions);
  if (!(rounds >= 1 && rounds <= 20) || !(lines >= 0 && lines <= 1000)) throw new Error('--rounds takes a number from 1 to 20, --functions one from 0 to 1000');
  const loads = (positionals.length === 0 ? ['requests'] : positionals).map((name) => {
    const load = countedLoads[name];
    if (load === undefined) throw new Error(`"${name}" is none of ${Object.keys(countedLoads).join(', ')}`);
    return { name, load };
  });
  const directory = mkdtempSync(join(tmpdir(), 'gateway-instructions-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const upstream = await startUpstream();
  const around: Surroundings = { upstreamPort: upstream.port, temporaryDirectory: directory };
  const measure = new Measure(around);
  const environment = Object.fromEntries(values.environment.split(',').filter((pair) => pair !== '').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
  const starting: readonly (() => Promise<Counted>)[] = [
    ...(values.against === undefined
      ? findProgram('nginx') === null ? [] : [() => begin('nginx', false, (how) => startNginx(around, how))]
      : [((base) => () => begin(base.name, true, (how) => startGateway(base.name, values.gateway, base.tree, around, { ...how, environment: { ...how.environment, ...environment } })))(buildTree(root, values.against, directory, say))]),
    ...(values.layers ? [() => begin('bare relay', true, (how) => startRelay('bare relay', 'bare-relay.js', around, how))] : []),
    () => begin('this tree', true, (how) => startGateway('this tree', values.gateway, root, around, { ...how, environment: { ...how.environment, ...environment } })),
  ];
  async function begin(name: string, isNode: boolean, start: (how: ReturnType<Callgrind['how']>) => Promise<Subject>): Promise<Counted> {
    const callgrind = Callgrind.find(directory, name);
    if (callgrind === null) throw new Error('valgrind and callgrind_control are needed; Debian and Ubuntu have them in the package valgrind');
    say(`starting ${name}`);
    return { subject: await start(callgrind.how(isNode)), callgrind };
  }
  const found: Record<string, Record<string, Count[]>> = {};
  for (const start of starting) {
    const counted = await start();
    const { subject, callgrind } = counted;
    const pid = subject.child?.pid ?? -1;
    await measure.probe(subject, probeTimeoutMs);
    let isOn = false;
    for (const { name, load } of loads) {
      if (load.needsGateway && (subject.name === 'nginx' || subject.name === 'bare relay')) continue;
      say(`${name}: warming up ${subject.name}`);
      await load.warmUp(measure, subject, isOn);
      if (!isOn) await callgrind.begin(pid);
      isOn = true;
      for (let turn = 0; turn < warmUpTurnsMax; turn += 1) {
        const { all, compiler } = await window(counted, () => load.run(measure, subject, false));
        if (compiler <= all * compilerShareMax) break;
        say(`${name}: V8 still makes code for ${subject.name} (${Math.round((100 * compiler) / all)} % of all), warming up further`);
        await load.warmUp(measure, subject, true);
      }
      for (let round = 0; round < rounds; round += 1) {
        say(`${name}: counting ${subject.name}${rounds > 1 ? `, round ${round + 1} of ${rounds}` : ''}`);
        const result = await count(counted, measure, load);
        ((found[name] ??= {})[subject.name] ??= []).push(result.count);
        const { instructions, ofGarbage, ofCompiler, systemCalls } = result.count;
        console.log(`${name}, ${subject.name}: ${thousands(instructions)} instructions for each ${load.unit} in user space: ${thousands(instructions - ofGarbage)} and ${thousands(ofGarbage)} collecting garbage; ${systemCalls.toFixed(2)} system calls; making of code, not counted: ${thousands(ofCompiler)}`);
        if (load.unit === 'event' && systemCalls < callsOfAnEvent) console.log('  NOTE: events were read in heaps, the machine is too busy; that makes them cheaper than they are one by one');
        if (round < rounds - 1) continue;
        if (values.layers && subject.name !== 'nginx') printLayers(`${name}, ${subject.name}`, result.long, result.longCount);
        if (lines > 0 && subject.name !== 'nginx') printFunctions(`${name}, ${subject.name}`, result.long, result.longCount, lines);
      }
    }
    await subject.child?.stop(stopMs);
    callgrind.clean(pid);
  }
  for (const [name, subjects] of Object.entries(found)) {
    const names = Object.keys(subjects);
    const base = names[0] ?? '';
    for (const [what, figure] of [['', (each: Count) => each.instructions], [', without collections', (each: Count) => each.instructions - each.ofGarbage]] as const) {
      const mid = (subject: string): number => median((subjects[subject] ?? []).map(figure));
      const spread = (subject: string): string => rounds < 2 ? '' : ` (${(subjects[subject] ?? []).map((each) => thousands(figure(each))).join(', ')})`;
      console.log(`\n${name}${what}: ${names.map((subject) => `${subject} ${thousands(mid(subject))}${spread(subject)}`).join(', ')}${names.length > 1 ? `; this tree / ${base} ${(mid('this tree') / mid(base)).toFixed(3)}` : ''}`);
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(found, null, 2)}\n`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
try {
  await main();
} catch (error) {
  console.error(`instructions: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await stopAll();
}
