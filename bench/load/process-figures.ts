// CPU time and resident memory of a process and all below it, from /proc. Elsewhere: NaN, shown as "n/a".
import { existsSync, readdirSync, readFileSync } from 'node:fs';

// USER_HZ, fixed at 100 on every Linux that Node runs on.
const ticksPerSecond = 100;
const hasProc = existsSync('/proc/self/stat');

/** The fields after the program name, which may itself hold spaces and brackets; field 3 is index 0. */
function statFields(pid: number): string[] | null {
  const text = readIfAlive(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

export function processTree(root: number): number[] {
  if (!hasProc) return [root];
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const fields = statFields(pid);
    if (fields === null) continue;
    const parent = Number(fields[1]);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** User and system time of all threads, in microseconds. The kernel counts in steps of 10 ms. */
export function cpuTimeUs(pids: readonly number[]): number {
  if (!hasProc) return NaN;
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    if (fields !== null) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1e6) / ticksPerSecond;
}

/** Resident memory in MiB. Pages that several processes share count once for each. */
export function residentMib(pids: readonly number[]): number {
  if (!hasProc) return NaN;
  let kib = 0;
  for (const pid of pids) kib += Number(/VmRSS:\s*(\d+)/.exec(readIfAlive(`/proc/${pid}/status`) ?? '')?.[1] ?? 0);
  return kib / 1024;
}

function readIfAlive(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    // The process ended between listing and reading.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return null;
    throw error;
  }
}
