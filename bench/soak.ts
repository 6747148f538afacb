// `node dist/bench/soak.js`: mixed honest traffic (three dialects, streams, caches, guardrails) at a fixed rate, first by itself, then with attacks as a twentieth of
// the calls. Says whether the attacks cost the others anything: latency, wrong answers, log records, or calls without an end; and whether memory stays flat.

import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Child, sleep, stopAll } from './load/children.js';
import { median } from './load/figures.js';
import { describeMachine } from './load/machine.js';
import { processTree, residentMib } from './load/process-figures.js';
import { soakAttacks, SoakAttackers, type AttackCount } from './load/soak-attacks.js';
import type { CallersTask, PhaseFigures } from './load/soak-callers.js';
import { gatewayKey } from './load/subjects.js';

const attackShare = 0.05;
const warmupSeconds = 10;
const sampleMs = 1_000;
/** Bounds of the verdict. */
const slowdownMax = 2;
const growthMax = 1.2;
const growthMibMax = 48;

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' }, quiet: { type: 'string', default: '120' }, rate: { type: 'string', default: '150' },
    attacks: { type: 'string' }, tree: { type: 'string', default: resolve(import.meta.dirname, '..') }, help: { type: 'boolean', default: false },
  },
});

class Callers {
  readonly #child: Child;
  readonly #waiting: ((figures: PhaseFigures) => void)[] = [];

  constructor(task: CallersTask) {
    this.#child = new Child(process.execPath, [join(import.meta.dirname, 'load', 'soak-callers.js'), JSON.stringify(task)], { core: 'generator', isTied: true });
    const { stdout } = this.#child.process;
    if (stdout === null) throw new Error('the callers have no output');
    createInterface({ input: stdout }).on('line', (line) => this.#waiting.shift()?.(JSON.parse(line) as PhaseFigures));
  }

  run(phase: string, seconds: number): Promise<PhaseFigures> {
    this.#child.process.stdin?.write(`${JSON.stringify({ phase, seconds })}\n`);
    return Promise.race([
      new Promise<PhaseFigures>((resolve) => this.#waiting.push(resolve)),
      this.#child.ended.then(() => { throw new Error(`the callers ended: ${this.#child.lastWords}`); }),
    ]);
  }
}

/** Trace ids of the log that the JSON lines exporter wrote; the soak's own begin with `soak-`. */
function loggedCalls(folder: string): Map<string, number> {
  const logged = new Map<string, number>();
  for (const file of readdirSync(folder).filter((name) => name.startsWith('calls.jsonl'))) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue;
      const { traceId } = JSON.parse(line) as { traceId: string };
      if (traceId.startsWith('soak-')) logged.set(traceId, (logged.get(traceId) ?? 0) + 1);
    }
  }
  return logged;
}

function missingRecords(logged: ReadonlyMap<string, number>, phases: readonly PhaseFigures[]): string[] {
  return phases.flatMap(({ phase, sent }) => Array.from({ length: sent }, (_, number) => `soak-${phase}-${number}`).filter((id) => logged.get(id) !== 1));
}

const ms = (us: number): string => (us / 1000).toFixed(1).padStart(9);

function printPhase(figures: PhaseFigures): void {
  console.log(`${figures.phase.padEnd(9)} ${String(figures.sent).padStart(7)} ${String(figures.right).padStart(7)} ${ms(figures.plainP50Us)} ${ms(figures.plainP99Us)} ${ms(figures.firstByteP99Us)} ${ms(figures.streamP99Us)}`);
  for (const fault of figures.faults) console.log(`  ${fault}`);
}

function printAttacks(counts: ReadonlyMap<string, AttackCount>): void {
  console.log('\nattack                            begun   ended  statuses (0: closed without one)');
  for (const [name, { begun, ended, statuses }] of counts) {
    console.log(`${name.padEnd(32)} ${String(begun).padStart(6)}  ${String(ended).padStart(6)}  ${[...statuses].sort(([left], [right]) => left - right).map(([status, count]) => `${status}: ${count}`).join(', ')}`);
  }
}

async function main(): Promise<boolean> {
  const names = options.attacks?.split(',') ?? Object.keys(soakAttacks);
  const unknown = names.find((name) => !(name in soakAttacks));
  if (unknown !== undefined) throw new Error(`--attacks: "${unknown}" is none of ${Object.keys(soakAttacks).join(', ')}`);
  const rate = Number(options.rate);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-soak-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const settingsFile = join(folder, 'settings.json');
  writeFileSync(settingsFile, JSON.stringify({ exporters: ['store', { id: 'jsonl', params: { path: join(folder, 'calls.jsonl'), bytesMax: 1_073_741_824 } }] }));

  const provider = new Child(process.execPath, [join(import.meta.dirname, 'load', 'soak-provider.js')], { core: 'upstream', isTied: true });
  const { port: providerPort } = JSON.parse(await provider.line((text) => text.startsWith('{'), 10_000)) as { port: number };
  const gateway = new Child(process.execPath, ['--max-semi-space-size=32', '--single-threaded-gc', join(options.tree, 'core/main.js'), 'start'], {
    core: 'proxy',
    environment: {
      NODE_ENV: 'production', GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_API_KEY: gatewayKey,
      GATEWAY_TRUSTED_HOSTS: '127.0.0.1', GATEWAY_LOG_LEVEL: 'error', GATEWAY_SETTINGS: settingsFile,
    },
  });
  const port = Number(/:(\d+)\s*$/.exec(await gateway.line((text) => /Base URL +\S+/.test(text), 20_000))?.[1]);
  const callers = new Callers({ port, providerPort, key: gatewayKey, callsPerSecond: rate });
  const attackers = new SoakAttackers({ port, providerPort, key: gatewayKey }, names);
  console.log(`machine: ${describeMachine()}; ${rate} honest calls/s, attacks ${attackShare * 100} % of all calls, ${options.quiet} s quiet, ${options.seconds} s attacked`);
  console.log('latency in ms\nphase        sent   right       p50       p99  1st byte    stream (p99)');

  const phases: PhaseFigures[] = [];
  const phase = async (name: string, seconds: number): Promise<PhaseFigures> => {
    const figures = await callers.run(name, seconds);
    phases.push(figures);
    printPhase(figures);
    return figures;
  };
  await phase('warm-up', warmupSeconds);
  const quiet = await phase('quiet', Number(options.quiet));
  const resident: number[] = [];
  const sampling = setInterval(() => resident.push(residentMib(processTree(gateway.pid))), sampleMs);
  attackers.begin((rate * attackShare) / (1 - attackShare));
  const attacked = await phase('attacked', Number(options.seconds));
  clearInterval(sampling);
  await attackers.end();
  await phase('after', Math.min(30, Number(options.quiet)));
  printAttacks(attackers.counts);

  const isAlive = !gateway.hasEnded;
  gateway.process.kill('SIGTERM');
  const stopped = await Promise.race([gateway.ended, sleep(45_000).then(() => null)]);
  const tenth = Math.max(1, Math.floor(resident.length / 10));
  const tenths = Array.from({ length: 10 }, (_, index) => median(resident.slice(index * tenth, (index + 1) * tenth)));
  const [early = NaN, late = NaN] = [tenths[2], tenths[9]];
  const missing = missingRecords(loggedCalls(folder), phases);
  const attacks = [...attackers.counts.values()];
  const endless = phases.reduce((sum, { endless: count }) => sum + count, 0) + attacks.reduce((sum, count) => sum + count.endless, 0);
  const wrong = phases.reduce((sum, { sent, right }) => sum + sent - right, 0);
  console.log(`\nresident memory, MiB, median of each tenth: ${tenths.map((value) => Math.round(value)).join(' ')}`);
  const verdicts: readonly (readonly [string, boolean])[] = [
    [`plain p99 ${(attacked.plainP99Us / quiet.plainP99Us).toFixed(2)} of the quiet one (at most ${slowdownMax})`, attacked.plainP99Us <= slowdownMax * quiet.plainP99Us],
    [`first byte p99 ${(attacked.firstByteP99Us / quiet.firstByteP99Us).toFixed(2)} of the quiet one (at most ${slowdownMax})`, attacked.firstByteP99Us <= slowdownMax * quiet.firstByteP99Us],
    [`whole streams p99 ${(attacked.streamP99Us / quiet.streamP99Us).toFixed(2)} of the quiet one (at most ${slowdownMax})`, attacked.streamP99Us <= slowdownMax * quiet.streamP99Us],
    [`memory in the last tenth ${(late / early).toFixed(2)} of that in the third (at most ${growthMax}, or ${growthMibMax} MiB more)`, late <= growthMax * early || late - early <= growthMibMax],
    [`${endless} calls without an end (0)`, endless === 0],
    [`${wrong} honest calls without the right answer (0)`, wrong === 0],
    [`${missing.length} honest calls without exactly one log record (0)${missing.length === 0 ? '' : `: ${missing.slice(0, 5).join(', ')}`}`, missing.length === 0],
    [`the gateway ${isAlive ? 'was alive' : 'had died'} and ${stopped === null ? 'did not stop' : `stopped with ${stopped}`} (alive, 0)`, isAlive && stopped === 0],
  ];
  for (const [text, isGood] of verdicts) console.log(`${isGood ? 'ok    ' : 'FAILED'}  ${text}`);
  if (gateway.errors !== '') console.log(`\nlast words of the gateway:\n${gateway.errors.trim().split('\n').slice(-8).map((line) => line.slice(0, 400)).join('\n')}`);
  return verdicts.every(([, isGood]) => isGood);
}

const help = `node dist/bench/soak.js [--seconds 600] [--quiet 120] [--rate 150] [--attacks LIST] [--tree dist]
attacks: ${Object.keys(soakAttacks).join(', ')}`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stopAll().finally(() => process.exit(130)));
if (options.help) {
  console.log(help);
} else {
  try {
    process.exitCode = await main() ? 0 : 1;
  } finally {
    await stopAll();
  }
}
