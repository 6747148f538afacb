// Instructions of a subject's processes as the processor counts them, where `perf` may read that: many virtual machines and containers say no.
import { spawnSync } from 'node:child_process';
import { Child, sleep } from './children.js';
import { findProgram } from './machine.js';

const events = ['instructions:u', 'instructions:k'] as const;
const attachMs = 200;
const endMs = 5000;

export interface Instructions {
  readonly user: number;
  readonly kernel: number;
}

const none: Instructions = { user: NaN, kernel: NaN };

/** Reads what `perf stat -x,` says: the count, its unit, the event. A count that was not taken is a word in angle brackets. */
export function readPerf(text: string): Instructions {
  const count = (event: string): number => {
    const line = text.split('\n').map((each) => each.split(',')).find((fields) => fields[2] === event || fields[2]?.startsWith(`${event}:`) === true);
    const digits = line?.[0] ?? '';
    return /^\d+$/.test(digits) ? Number(digits) : NaN;
  };
  return { user: count(events[0]), kernel: count(events[1]) };
}

let fault: string | null | undefined;

/** Why instructions cannot be counted here, or null. */
export function countersFault(): string | null {
  if (fault === undefined) {
    const program = findProgram('perf');
    if (program === null) fault = 'perf is not installed';
    else {
      const result = spawnSync(program, ['stat', '-x,', '-e', events.join(','), 'true'], { encoding: 'utf8', timeout: 10_000 });
      const { user, kernel } = readPerf(result.stderr ?? '');
      const said = (result.stderr ?? '').trim().split('\n')[0] ?? '';
      fault = user > 0 && kernel >= 0 ? null : said.startsWith('<not supported>') ? 'this machine has no counters that perf may read' : `perf cannot count them: ${said}`;
    }
  }
  return fault;
}

/** Counts all threads of `pids` while `work` runs. */
export async function countInstructions<T>(pids: readonly number[], work: () => Promise<T>): Promise<{ readonly result: T; readonly instructions: Instructions }> {
  if (countersFault() !== null || pids.length === 0) return { result: await work(), instructions: none };
  const perf = new Child('perf', ['stat', '-x,', '-e', events.join(','), '-p', pids.join(',')], { core: 'generator' });
  await sleep(attachMs);
  try {
    const result = await work();
    perf.process.kill('SIGINT');
    const timer = setTimeout(() => perf.process.kill('SIGKILL'), endMs);
    await perf.ended.finally(() => clearTimeout(timer));
    return { result, instructions: readPerf(perf.errors) };
  } finally {
    await perf.stop();
  }
}
