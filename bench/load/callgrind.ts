// Runs a subject under valgrind's callgrind, which counts the instructions that all its threads spend in user space: 30 to 60 times slower, but
// the count hardly depends on what else the machine does.
import { execFile } from 'node:child_process';
import { createReadStream, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { readCallgrind, SymbolMap, type CallGraph } from './callgrind-file.js';
import { findProgram } from './machine.js';
import type { StartOptions } from './subjects.js';

const run = promisify(execFile);
const controlTimeoutMs = 120_000;
const readyTimeoutMs = 180_000;
const symbolsFile = (pid: number): string => `/tmp/perf-${pid}.map`;

export class Callgrind {
  readonly #file: string;
  #dumps = 0;

  /** Where valgrind is not installed, null. */
  static find(directory: string, name: string): Callgrind | null {
    return findProgram('valgrind') === null || findProgram('callgrind_control') === null ? null : new Callgrind(join(directory, `callgrind-${name.replace(/\W/g, '-')}`));
  }

  private constructor(file: string) {
    this.#file = file;
  }

  /**
   * `isNode`: V8 says where the code is that it makes, and lets its heap grow by a fixed share: not by the clock, to which all is slow here.
   * A thread that polls instead of sleeping would count for ever.
   */
  how(isNode: boolean): StartOptions {
    return {
      // Memory that held code before is used again for other code: only what is not from a file has to be watched for that.
      under: ['valgrind', '--tool=callgrind', '--smc-check=all-non-file', '--instr-atstart=no', '--dump-instr=yes', '--collect-systime=yes', '--quiet', `--callgrind-out-file=${this.#file}`],
      ...(isNode ? { nodeOptions: ['--perf-basic-prof', '--no-memory-reducer', '--heap-growing-percent=100'], environment: { GATEWAY_SPIN_US: '0' } } : {}),
      readyTimeoutMs,
    };
  }

  async begin(pid: number): Promise<void> {
    await this.#control(pid, '--instr=on');
  }

  /** What was counted since the last dump. */
  async dump(pid: number): Promise<CallGraph> {
    this.#dumps += 1;
    await this.#control(pid, `--dump=${this.#dumps}`);
    const file = `${this.#file}.${this.#dumps}`;
    if (!existsSync(file)) throw new Error(`callgrind wrote no ${file}`);
    const symbols = new SymbolMap(existsSync(symbolsFile(pid)) ? readFileSync(symbolsFile(pid), 'utf8') : '');
    const lines: string[] = [];
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) lines.push(line);
    rmSync(file);
    return readCallgrind(lines, symbols);
  }

  /** After the subject ended. */
  clean(pid: number): void {
    rmSync(symbolsFile(pid), { force: true });
  }

  async #control(pid: number, option: string): Promise<void> {
    const { stdout } = await run('callgrind_control', [option, String(pid)], { timeout: controlTimeoutMs });
    if (!stdout.includes('OK.')) throw new Error(`callgrind_control ${option} did not work: ${stdout.trim()}`);
  }
}
