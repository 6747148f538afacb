// What this machine offers a bench run: cores, open files, programs.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { delimiter, join } from 'node:path';

function readIfPresent(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** The cores this process may run on (a container may allow fewer than the machine has). */
export function availableCores(): number[] {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readIfPresent('/proc/self/status'))?.[1];
  if (list === undefined) return cpus().map((_, index) => index);
  const cores: number[] = [];
  for (const range of list.split(',')) {
    const [first, last] = range.split('-').map(Number);
    if (first === undefined) continue;
    for (let core = first; core <= (last ?? first); core++) cores.push(core);
  }
  return cores;
}

/** Open files a process may have. Node raises its soft limit to the hard one, so this is what children get. */
export function openFilesMax(): number {
  const limit = /Max open files\s+(\d+|unlimited)/.exec(readIfPresent('/proc/self/limits'))?.[1];
  return limit === undefined || limit === 'unlimited' ? Infinity : Number(limit);
}

/** The path of an installed program, or null. nginx lives in sbin, which is not in everyone's PATH. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}

export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `${model}, ${availableCores().length} cores, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}
