// A gateway as users run it: `core/main.js` of this build in a process of its own, for what cannot be seen from inside (exit codes, signals,
// threads, what is printed). Ended with the test file, at the latest.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adminKey, apiKey } from './gateway.js';

/** The entry of whichever build this file belongs to. */
const mainFile = ((): string => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, 'core', 'main.js');
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) throw new Error('core/main.js is in no folder above this test: compile core with the tests');
  }
})();

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  /** Resolves when the process ended and all its output is here. */
  readonly ended: Promise<Exit>;
  stdout(): string;
  stderr(): string;
  /** Resolves when what both streams printed, in the order it came, satisfies `test`; rejects when the process ends first. */
  until(test: (text: string) => boolean): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export interface ChildGateway extends Child {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
}

export type Environment = Readonly<Record<string, string>>;

/** Only these come from outside: a setting in the environment of the tests must not become one of the child's. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

const living = new Set<number>();
// A test file that is ended by force has no hooks.
process.once('exit', () => {
  for (const pid of living) process.kill(pid, 'SIGKILL');
});

const temporaryFolders: string[] = [];
after(() => {
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is removed after the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-child-'));
  temporaryFolders.push(folder);
  return folder;
}

export interface ChildLimits {
  /** File descriptors that the process may have. */
  readonly descriptors?: number;
}

/** Runs the command line with these arguments and nothing in the environment but these settings. */
export function spawnGateway(argv: readonly string[], environment: Environment = {}, cwd = temporaryFolder(), limits: ChildLimits = {}): Child {
  const base = Object.fromEntries(inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  const command = [process.execPath, '--max-semi-space-size=32', mainFile, ...argv];
  // The shell is replaced by the process, which keeps its id.
  const [program = '', ...given] = limits.descriptors === undefined ? command : ['/bin/sh', '-c', `ulimit -n ${limits.descriptors} && exec "$0" "$@"`, ...command];
  const child = spawn(program, given, { cwd, env: { ...base, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  const pid = child.pid;
  if (pid === undefined) throw new Error('the process did not start');
  living.add(pid);
  let out = '';
  let error = '';
  let both = '';
  const waiting = new Set<() => void>();
  const wake = (): void => { for (const check of [...waiting]) check(); };
  child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; both += text; wake(); });
  child.stderr.setEncoding('utf8').on('data', (text: string) => { error += text; both += text; wake(); });
  let isOver = false;
  const ended = new Promise<Exit>((resolve) => {
    child.once('exit', () => { living.delete(pid); });
    child.once('close', (code, signal) => {
      isOver = true;
      resolve({ code, signal });
      wake();
    });
  });
  after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    pid,
    ended,
    stdout: () => out,
    stderr: () => error,
    until: (test) => new Promise((resolve, reject) => {
      const check = (): void => {
        const isThere = test(both);
        if (!isThere && !isOver) return;
        waiting.delete(check);
        if (isThere) resolve();
        else reject(new Error(`the gateway ended; it printed: ${both}`));
      };
      waiting.add(check);
      check();
    }),
    kill: (signal) => { child.kill(signal); },
  };
}

/** Runs a command that ends by itself. */
export async function runGateway(argv: readonly string[], environment: Environment = {}, cwd?: string): Promise<Exit & { readonly stdout: string; readonly stderr: string }> {
  const child = spawnGateway(argv, environment, cwd);
  const exit = await child.ended;
  return { ...exit, stdout: child.stdout(), stderr: child.stderr() };
}

/** `gateway start` with the settings of startTestGateway(); an empty text takes a default away again. Resolves when it answers. */
export async function startChildGateway(environment: Environment = {}, limits: ChildLimits = {}): Promise<ChildGateway> {
  const dataDir = environment.GATEWAY_DATA_DIR ?? temporaryFolder();
  const child = spawnGateway(['start'], {
    GATEWAY_PORT: '0',
    GATEWAY_THREADS: '1',
    GATEWAY_DATA_DIR: dataDir,
    GATEWAY_API_KEY: apiKey,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_TRUSTED_HOSTS: '127.0.0.1',
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RETRY_DELAY_MS: '1',
    ...environment,
  }, undefined, limits);
  await child.until((text) => /Base URL +\S+\n[^]*curl /.test(text));
  const url = /Base URL +(\S+)\n/.exec(child.stdout())?.[1] ?? '';
  const ready = await fetch(`${url}/ready`, { headers: { connection: 'close' } });
  if (ready.status !== 200) throw new Error(`/ready answers ${ready.status}`);
  await ready.arrayBuffer();
  return { ...child, url, port: Number(new URL(url).port), dataDir };
}
