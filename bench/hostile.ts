// `node dist/bench/hostile.js`: what hostile checks cost the other requests. Eight connections without hooks run in a closed loop; their p50 and p99
// are measured without and with attackers on the same gateway thread, in alternating rounds, so that a noisy machine hits both alike.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { hostilePackage } from '../test/fault/hostile-package/package.js';
import { writePackage } from '../test/core/registry/plugin-package.js';
import { Attack, startVictim, type AttackFigures, type Victim } from './load/attack.js';
import { attacks } from './load/attacks.js';
import { Child, stopAll } from './load/children.js';
import { median, type Figures } from './load/figures.js';
import { availableCores, describeMachine } from './load/machine.js';
import { Measure } from './load/measure.js';
import { processTree, residentMib } from './load/process-figures.js';
import { gatewayKey, startUpstream, type Subject } from './load/subjects.js';

const root = resolve(import.meta.dirname, '..', '..');
/** So many modules a misbehaviour has: with one, its circuit would open after six ended workers, and the attack would be over. */
const copies = 24;
const connections = 8;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' }, seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '5' },
    cores: { type: 'string', default: 'all' }, tree: { type: 'string', default: join(root, 'dist') }, attackers: { type: 'string', default: '4' },
  },
});
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);
const attackers = Number(options.attackers);
const names = options.only?.split(',') ?? Object.keys(attacks);

interface Rounds {
  readonly calm: Figures[];
  readonly attacked: Figures[];
  readonly attack: AttackFigures[];
  peakMib: number;
}

async function startGateway(packageFolder: string, dataDirectory: string): Promise<Subject> {
  const node = [process.execPath, '--max-semi-space-size=32', '--single-threaded-gc', join(options.tree, 'core/main.js'), 'start'];
  // The bench gives the gateway one core; here its workers may have the others.
  const [command = '', ...argv] = options.cores === 'one' ? node : ['taskset', '-c', availableCores().join(','), ...node];
  const child = new Child(command, argv, {
    core: 'proxy',
    environment: {
      NODE_ENV: 'production', GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_DATA_DIR: dataDirectory, GATEWAY_API_KEY: gatewayKey,
      GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_LOG_LEVEL: 'error', GATEWAY_PLUGINS: packageFolder,
    },
  });
  const line = await child.line((text) => /Base URL +\S+/.test(text), 20_000);
  const port = Number(/:(\d+)\s*$/.exec(line)?.[1]);
  return { name: 'gateway', port, child, idleMib: residentMib(processTree(child.pid)), probeFile: null, isGateway: true };
}

async function measureAttack(name: string, subject: Subject, victim: Victim, measure: Measure): Promise<Rounds> {
  const all: Rounds = { calm: [], attacked: [], attack: [], peakMib: 0 };
  for (let round = 0; round < rounds; round += 1) {
    all.calm.push(await measure.loop(subject, connections, seconds, true));
    const attack = new Attack(attacks[name] ?? [], { port: subject.port, key: gatewayKey, victim, attackers, copies });
    const { figures, peakMib } = await measure.peakMib(subject, () => measure.loop(subject, connections, seconds, true));
    all.attacked.push(figures);
    all.peakMib = Math.max(all.peakMib, peakMib);
    all.attack.push(await attack.end());
  }
  return all;
}

const cell = (text: string | number, width: number): string => String(text).padStart(width);
const us = (value: number): string => (Number.isNaN(value) ? 'n/a' : String(Math.round(value)));

function report(name: string, { calm, attacked, attack, peakMib }: Rounds): string {
  const of = (figures: readonly Figures[], figure: string): number => median(figures.map((each) => each[figure] ?? NaN));
  const wrong = attacked.reduce((sum, each) => sum + (each['badStatus'] ?? 0) + (each['failed'] ?? 0), 0);
  const calls = attack.reduce((sum, each) => sum + each.answers, 0);
  const slowestMs = Math.max(...attack.map((each) => each.slowestMs));
  const errored = attack.reduce((sum, each) => sum + each.errored, 0);
  return [
    name.padEnd(16), cell(us(of(calm, 'p50Us')), 8), cell(us(of(attacked, 'p50Us')), 8), cell((of(attacked, 'p50Us') / of(calm, 'p50Us')).toFixed(2), 6),
    cell(us(of(calm, 'p99Us')), 9), cell(us(of(attacked, 'p99Us')), 8), cell((of(attacked, 'p99Us') / of(calm, 'p99Us')).toFixed(2), 6),
    cell((of(attacked, 'requestsPerSecond') / of(calm, 'requestsPerSecond')).toFixed(2), 6),
    cell(wrong, 6), cell(calls, 7), cell(errored, 8), cell(Math.round(slowestMs), 8), cell(Math.round(peakMib), 6),
  ].join(' ');
}

async function main(): Promise<void> {
  const unknown = names.find((name) => !(name in attacks));
  if (unknown !== undefined) throw new Error(`--only: "${unknown}" is none of ${Object.keys(attacks).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-hostile-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const upstream = await startUpstream();
  const victim = await startVictim();
  const subject = await startGateway(writePackage(join(folder, 'package'), hostilePackage(copies)), join(folder, 'data'));
  const measure = new Measure({ upstreamPort: upstream.port, temporaryDirectory: folder });
  console.log(`machine: ${describeMachine()}; gateway on ${options.cores === 'one' ? 'one core with its workers' : 'all cores'}; ${attackers} attackers, ${rounds} rounds of ${seconds} s`);
  await measure.probe(subject);
  await measure.loop(subject, connections, 3, true);
  console.log('attack            p50 us attacked  ratio    p99 us attacked  ratio  req/s  wrong  attacks  errored slowest ms peak MiB');
  for (const name of names) console.log(report(name, await measureAttack(name, subject, victim, measure)));
  if (subject.child?.hasEnded !== false) throw new Error(`the gateway ended: ${subject.child?.lastWords ?? ''}`);
  victim.close();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stopAll().finally(() => process.exit(130)));
try {
  await main();
} finally {
  await stopAll();
}
