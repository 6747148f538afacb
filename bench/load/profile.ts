// Shows where the gateway spends its CPU time: starts it under --cpu-prof, loads it, and prints the
// functions and the files with the most time of their own. `node dist/bench/load/profile.js [seconds] [requests|streams|checks|policies]`
// The .cpuprofile files stay in bench/results/ and open in Chrome DevTools or VS Code.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stopAll } from './children.js';
import { Measure, type Load } from './measure.js';
import { checkedLoad, policiesLoad } from './scenarios.js';
import { startGateway, startUpstream } from './subjects.js';

const root = resolve(import.meta.dirname, '..', '..', '..');
const linesMax = 40;
const loads: Readonly<Record<string, Load | undefined>> = { requests: undefined, checks: checkedLoad, policies: policiesLoad };
const stopTimeoutMs = 20_000;

interface Place {
  readonly name: string;
  readonly file: string;
  microseconds: number;
}

/** Own time of each function of a V8 CPU profile. */
function ownTimes(file: string): Map<string, Place> {
  const profile: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof profile !== 'object' || profile === null || !('nodes' in profile) || !('samples' in profile) || !('timeDeltas' in profile)) {
    throw new Error(`${file} is not a CPU profile`);
  }
  // V8 wrote this file; the shape is that of the DevTools protocol's Profiler.Profile.
  const { nodes, samples, timeDeltas } = profile as {
    nodes: readonly { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
    samples: readonly number[];
    timeDeltas: readonly number[];
  };
  const places = new Map<string, Place>();
  const placeOfNode = new Map<number, Place>();
  for (const { id, callFrame } of nodes) {
    const file = callFrame.url.replace(/^file:\/\//, '').replace(`${root}/`, '');
    const name = `${callFrame.functionName || '(anonymous)'}${file === '' ? '' : `  ${file}:${callFrame.lineNumber + 1}`}`;
    const place = places.get(name) ?? { name, file, microseconds: 0 };
    places.set(name, place);
    placeOfNode.set(id, place);
  }
  samples.forEach((id, index) => {
    const place = placeOfNode.get(id);
    if (place !== undefined) place.microseconds += timeDeltas[index] ?? 0;
  });
  return places;
}

async function main(): Promise<void> {
  const seconds = Number(process.argv[2] ?? 5);
  const load = process.argv[3] ?? 'requests';
  const command = process.argv[4] ?? 'dist/core/main.js start';
  if (!(seconds >= 1 && seconds <= 120) || (load !== 'streams' && !(load in loads))) {
    throw new Error('usage: node dist/bench/load/profile.js [seconds from 1 to 120] [requests|streams|checks|policies]');
  }
  const results = join(root, 'bench', 'results');
  mkdirSync(results, { recursive: true });
  const profileDirectory = mkdtempSync(join(results, 'profile-'));
  const temporaryDirectory = mkdtempSync(join(tmpdir(), 'gateway-profile-'));
  process.once('exit', () => rmSync(temporaryDirectory, { recursive: true, force: true }));
  try {
    const upstream = await startUpstream();
    const around = { upstreamPort: upstream.port, temporaryDirectory };
    const measure = new Measure(around);
    const gateway = await startGateway('gateway', `node --cpu-prof --cpu-prof-dir=${profileDirectory} ${command}`, root, around);
    await measure.probe(gateway);
    const figures = load === 'streams' ? await measure.streams(gateway, 500, 100, seconds, 20) : await measure.rate(gateway, 64, seconds, loads[load]);
    console.log(JSON.stringify(figures));
    // The profile is written at an orderly end.
    await gateway.child?.stop(stopTimeoutMs);
  } finally {
    await stopAll();
  }
  for (const name of readdirSync(profileDirectory)) {
    const file = join(profileDirectory, name);
    const places = [...ownTimes(file).values()].sort((a, b) => b.microseconds - a.microseconds);
    const busyUs = places.reduce((sum, place) => sum + (place.name === '(idle)' ? 0 : place.microseconds), 0);
    const share = (microseconds: number): string => ((microseconds / busyUs) * 100).toFixed(1).padStart(6);
    console.log(`\n${file}`);
    for (const place of places.filter((each) => each.name !== '(idle)').slice(0, linesMax)) {
      console.log(`${share(place.microseconds)} %  ${place.name}`);
    }
    const files = new Map<string, number>();
    for (const place of places) if (place.name !== '(idle)') files.set(place.file || 'V8', (files.get(place.file || 'V8') ?? 0) + place.microseconds);
    console.log('by file:');
    for (const [path, microseconds] of [...files].sort((a, b) => b[1] - a[1]).slice(0, linesMax)) console.log(`${share(microseconds)} %  ${path}`);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));
try {
  await main();
} catch (error) {
  console.error(`profile: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
