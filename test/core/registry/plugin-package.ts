// A third-party package as its author would publish it: plain ES modules in a temporary folder, with the SDK as its only dependency.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after } from 'node:test';

export interface PackageParts {
  /** Default: `acme-plugins`. */
  readonly name?: string;
  /** The `gateway` member of package.json; undefined leaves it out. */
  readonly gateway: unknown;
  /** Path in the package to source text. */
  readonly files?: Readonly<Record<string, string>>;
  /** Default: every file below its own path, without `.js`. */
  readonly exports?: unknown;
}

/** plugin-sdk of this repository, as an installed package sees it. */
const sdkFolder = dirname(dirname(dirname(createRequire(import.meta.url).resolve('@gateway/plugin-sdk'))));

/** A folder that is removed after the test file. Call it at the top level of the file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-plugins-')));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes the package into `folder`, which is made. */
export function writePackage(folder: string, parts: PackageParts): string {
  const { name = 'acme-plugins', gateway, files = {} } = parts;
  mkdirSync(folder, { recursive: true });
  const exported = parts.exports ?? Object.fromEntries(Object.keys(files).map((path) => [`./${path.replace(/\.js$/, '')}`, `./${path}`]));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', exports: exported, ...(gateway === undefined ? {} : { gateway }) }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mkdirSync(join(folder, 'node_modules/@gateway'), { recursive: true });
  symlinkSync(sdkFolder, join(folder, 'node_modules/@gateway/plugin-sdk'));
  return folder;
}
