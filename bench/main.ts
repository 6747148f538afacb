// The bench: micro-benchmarks, then the load bench. See bench/README.md.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildTree } from './against.js';
import { checkBudget, readBudget } from './budget.js';
import { pinning, stopAll } from './load/children.js';
import { countersFault } from './load/hardware-counters.js';
import { describeMachine, findProgram, openFilesMax } from './load/machine.js';
import { Measure } from './load/measure.js';
import { hasWrongAnswers, problemsOf, runScenario, type ScenarioResult } from './load/rounds.js';
import { scenarios, type Scale } from './load/scenarios.js';
import { startGateway, startNginx, startNodeProxy, startUpstream, type Subject, type Surroundings } from './load/subjects.js';
import { runMicro } from './micro.js';
import { help, readOptions, type Options } from './options.js';
import { asJson, ratiosOf, table } from './report.js';

// This file runs as dist/bench/main.js.
const root = resolve(import.meta.dirname, '..', '..');
const filesPerStream = 2;
const filesSpare = 200;

const say = (text: string): void => void process.stderr.write(`  ${text}\n`);

interface LoadRun {
  readonly results: readonly ScenarioResult[];
  readonly subject: string;
  readonly reference: string;
}

async function startSubjects(options: Options, around: Surroundings): Promise<readonly [reference: Subject, subject: Subject]> {
  if (options.against !== null) {
    const base = buildTree(root, options.against, around.temporaryDirectory, say);
    return [
      await startGateway(base.name, options.gatewayCommand, base.tree, around, { hasProbe: true }),
      await startGateway('this tree', options.gatewayCommand, root, around, { hasProbe: true }),
    ];
  }
  if (options.againstGateway !== null) {
    return [
      await startGateway('other start', options.againstGateway, root, around, { hasProbe: true }),
      await startGateway('this start', options.gatewayCommand, root, around, { hasProbe: true }),
    ];
  }
  const usesNginx = options.reference === 'nginx' || (options.reference === 'auto' && findProgram('nginx') !== null);
  return [
    await (usesNginx ? startNginx(around) : startNodeProxy(around)),
    await startGateway('gateway', options.gatewayCommand, root, around, { hasProbe: true }),
  ];
}

function scaleOf(options: Options): Scale {
  const files = openFilesMax();
  const streamsMax = Math.floor((files - filesSpare) / filesPerStream);
  if (streamsMax < 2000) {
    console.log(`NOTE: a process here may open ${files} files, too few for 2000 streams through a proxy (4200 needed):`);
    console.log(`      only ${streamsMax} streams are run. Raise it with "ulimit -n 8192" before the bench.`);
  }
  if (streamsMax < 100) throw new Error(`a process here may open only ${files} files; raise it with "ulimit -n 8192"`);
  return { seconds: options.seconds, rounds: options.rounds, isQuick: options.isQuick, streamsMax };
}

async function runLoad(options: Options, temporaryDirectory: string): Promise<LoadRun> {
  const scale = scaleOf(options);
  const upstream = await startUpstream();
  const around: Surroundings = { upstreamPort: upstream.port, temporaryDirectory };
  const measure = new Measure(around);
  const subjects = await startSubjects(options, around);
  const [reference, subject] = subjects;
  const pins = pinning();
  const fault = countersFault();
  console.log(`machine: ${describeMachine()}`);
  console.log(`reference: ${reference.name}; requests/s measured with ${measure.rateTool}`);
  console.log(
    pins === null
      ? 'cores: NOT pinned (needs taskset and two cores); read CPU per request, not requests/s'
      : `cores: proxy under test on ${pins.proxy}, fake provider on ${pins.upstream}, load generator on ${pins.generator}`,
  );
  if (fault !== null) console.log(`instructions: n/a, ${fault}; "node dist/bench/instructions.js" counts those in user space with valgrind`);
  for (const each of subjects) {
    await measure.probe(each);
    say(`warming up ${each.name}`);
    measure.noteCapacity(await measure.rate(each, 32, options.isQuick ? 1 : 2));
  }
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    if (!options.scenarioNames.includes(scenario.name)) continue;
    const result = await runScenario(scenario, measure, subjects, scale, say);
    results.push(result);
    console.log(`\n${table(result, subject.name, reference.name)}`);
  }
  return { results, subject: subject.name, reference: reference.name };
}

function conclude(run: LoadRun, options: Options): number {
  const problems = run.results.flatMap(problemsOf);
  if (problems.length > 0) console.log(`\nproblems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  const ratios = run.results.flatMap((result) => ratiosOf(result, run.subject, run.reference));
  if (options.jsonFile !== null) {
    const report = {
      machine: describeMachine(),
      pinned: pinning() !== null,
      subject: run.subject,
      reference: run.reference,
      options,
      problems,
      scenarios: asJson(run.results, run.subject, run.reference),
    };
    writeFileSync(options.jsonFile, `${JSON.stringify(report, null, 2)}\n`);
    console.log(`\nfigures written to ${options.jsonFile}`);
  }
  if (!options.mustCheck) return 0;
  const { lines, isBroken } = checkBudget(readBudget(join(root, 'bench', 'budget.json')), ratios);
  console.log(`\nbudget:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  const isWrong = run.results.some((result) => hasWrongAnswers(result, run.subject));
  if (isWrong) console.log(`  BROKEN: ${run.subject} gave wrong answers, see problems`);
  return isBroken || isWrong ? 1 : 0;
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    console.log(help);
    return 0;
  }
  let code = 0;
  if (options.runsMicro) {
    const failed = await runMicro(join(import.meta.dirname, 'micro'), options.isQuick ? { BENCH_QUICK: '1' } : {});
    if (failed.length > 0) {
      console.error(`micro-benchmarks failed: ${failed.join(', ')}`);
      code = 1;
    }
  }
  if (options.scenarioNames.length === 0) return code;
  const temporaryDirectory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  process.once('exit', () => rmSync(temporaryDirectory, { recursive: true, force: true }));
  try {
    return Math.max(code, conclude(await runLoad(options, temporaryDirectory), options));
  } finally {
    await stopAll();
  }
}

const interruptDeadlineMs = 5000;
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    console.error(`bench: ended by ${signal}`);
    // The exit listeners kill what is left and remove the temporary directory.
    setTimeout(() => process.exit(130), interruptDeadlineMs);
    void stopAll().finally(() => process.exit(130));
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  // After a signal the children end under the hands of the run; that is no news.
  if (!isInterrupted) console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
