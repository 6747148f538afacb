// npm without a network, for tests of packages: packs, and installs what was packed.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Nothing of the surroundings of the tests but what npm and node need. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

/** Runs a program to its end; rejects with what it printed when it fails. */
export function runProgram(program: string, argv: readonly string[], cwd: string): Promise<string> {
  const environment = Object.fromEntries(inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { cwd, env: { ...environment, npm_config_update_notifier: 'false' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; all += text; });
    child.stderr.setEncoding('utf8').on('data', (text: string) => { all += text; });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(out);
      else reject(new Error(`${program} ${argv.join(' ')} in ${cwd} ended with ${code}:\n${all}`));
    });
  });
}

/** npm of the running process where it says which, else the one beside node. */
export function npm(argv: readonly string[], cwd: string): Promise<string> {
  const path = process.env.npm_execpath ?? '';
  return /^npm-cli\.c?js$/.test(basename(path)) && existsSync(path) ? runProgram(process.execPath, [path, ...argv], cwd) : runProgram('npm', argv, cwd);
}

export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

/** `npm pack` of the package in `folder` into `into`. Scripts of the package are not run. */
export async function pack(folder: string, into: string): Promise<Packed> {
  const told: unknown = JSON.parse(await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', into], folder));
  // A list in npm 10, an object by package name in npm 11.
  const [packed] = Object.values(told as Record<string, { readonly filename: string; readonly files: readonly { readonly path: string }[] }>);
  if (packed === undefined) throw new Error(`npm packed nothing in ${folder}`);
  return { tarball: join(into, basename(packed.filename)), files: packed.files.map(({ path }) => path).sort() };
}

export const install = (tarballs: readonly string[], folder: string): Promise<string> =>
  npm(['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', ...tarballs], folder);
