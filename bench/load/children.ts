// Starts the processes of the bench, each pinned to its core, and sees that none outlives the bench:
// they are ended in `stopAll`, and at the latest when this process exits for whatever reason.
import { spawn, type ChildProcess } from 'node:child_process';
import { availableCores, findProgram } from './machine.js';
import { processTree } from './process-figures.js';

/** `any`: not pinned, for a subject whose threads are to run side by side. */
export type Core = 'proxy' | 'upstream' | 'generator' | 'any';

export interface ChildOptions {
  readonly core: Core;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** Keep a pipe to the child's standard input, so that it notices when this process dies. */
  readonly isTied?: boolean;
}

export class Child {
  readonly process: ChildProcess;
  readonly command: string;
  readonly ended: Promise<number>;
  output = '';
  errors = '';

  constructor(command: string, argv: readonly string[], options: ChildOptions) {
    this.command = [command, ...argv].join(' ').slice(0, 200);
    const pin = pinning();
    const [file, all] = pin === null || options.core === 'any' ? [command, [...argv]] : ['taskset', ['-c', String(pin[options.core]), command, ...argv]];
    this.process = spawn(file, all, {
      stdio: [options.isTied === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: { ...cleanEnvironment(), ...options.environment },
      ...(options.directory === undefined ? {} : { cwd: options.directory }),
    });
    running.add(this);
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => (this.output = (this.output + text).slice(-outputCharsMax)));
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors = (this.errors + text).slice(-outputCharsMax)));
    this.ended = new Promise((resolve, reject) => {
      this.process.on('error', (error) => {
        running.delete(this);
        reject(new Error(`cannot start ${this.command}: ${error.message}`));
      });
      this.process.on('close', (code) => {
        running.delete(this);
        resolve(code ?? 1);
      });
    });
    // Whoever waits for `ended` sees the failure; without this line it would end the process before that.
    this.ended.catch(() => undefined);
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  get hasEnded(): boolean {
    return !running.has(this);
  }

  /** The last lines the child said, for an error message. */
  get lastWords(): string {
    return `${this.output}\n${this.errors}`.trim().split('\n').slice(-12).join('\n');
  }

  /** Resolves with the first line of output that `find` accepts. */
  async line(find: (line: string) => boolean, timeoutMs: number): Promise<string> {
    const untilMs = performance.now() + timeoutMs;
    while (performance.now() < untilMs) {
      const line = this.output.split('\n').slice(0, -1).find(find);
      if (line !== undefined) return line;
      if (this.hasEnded) throw new Error(`${this.command} ended early: ${this.lastWords}`);
      await sleep(10);
    }
    throw new Error(`${this.command} said nothing usable within ${timeoutMs} ms: ${this.lastWords}`);
  }

  /** Waits for the end; kills at the deadline. Throws unless the exit code is 0. */
  async finish(timeoutMs: number): Promise<string> {
    const timer = setTimeout(() => this.process.kill('SIGKILL'), timeoutMs);
    const code = await this.ended.finally(() => clearTimeout(timer));
    if (code !== 0) throw new Error(`${this.command} failed (exit ${code}): ${this.lastWords}`);
    return this.output;
  }

  async stop(timeoutMs = 3000): Promise<void> {
    if (this.hasEnded) return;
    const pids = processTree(this.pid);
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => kill(pids), timeoutMs);
    await this.ended.catch(() => undefined);
    clearTimeout(timer);
  }
}

const outputCharsMax = 1024 * 1024;
const running = new Set<Child>();

/** Settings of whoever runs the bench must not reach the gateway that is measured. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_')));
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

let pins: Readonly<Record<Exclude<Core, 'any'>, number>> | null | undefined;

/** The proxy under test has a core to itself; provider and generator share the other, or have one each. */
export function pinning(): Readonly<Record<Exclude<Core, 'any'>, number>> | null {
  if (pins === undefined) {
    const [first, second, third] = availableCores();
    pins = findProgram('taskset') === null || first === undefined || second === undefined ? null : { proxy: first, upstream: second, generator: third ?? second };
  }
  return pins;
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // ESRCH: it ended by itself in the meantime, which is what we want.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop()));
}

process.on('exit', () => {
  for (const child of running) if (child.pid > 0) kill(processTree(child.pid));
});
