// Runs every micro-benchmark: each bench/micro/*.bench.js is a program of its own that prints its table.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const benchTimeoutMs = 300_000;

/** Returns the names of those that failed. */
export async function runMicro(directory: string, environment: Readonly<Record<string, string>>): Promise<string[]> {
  const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.bench.js')).sort() : [];
  if (files.length === 0) console.log(`no micro-benchmarks in ${directory}`);
  const failed: string[] = [];
  for (const file of files) {
    console.log(`\nmicro: ${file.replace(/\.bench\.js$/, '')}`);
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(process.execPath, [join(directory, file)], {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, ...environment },
        timeout: benchTimeoutMs,
        killSignal: 'SIGKILL',
      });
      const stop = (): void => void child.kill('SIGKILL');
      process.once('exit', stop);
      child.on('error', reject);
      child.on('close', (exitCode) => {
        process.removeListener('exit', stop);
        resolve(exitCode);
      });
    });
    if (code !== 0) failed.push(file);
  }
  return failed;
}
