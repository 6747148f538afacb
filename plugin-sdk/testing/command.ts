// `gateway-plugin`: what an author of plugins does beside writing them.

import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ProviderPlugin } from '../src/kinds/provider.js';
import { writeFixtures } from './write-fixtures.js';

const sdkFolder = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));

const usage = `Usage:
  gateway-plugin new <folder>                  a package of your own to start from: the template, with this SDK
  gateway-plugin fixtures <module> <folder>    writes what the provider (a built module) makes of each case below the folder`;

/** Resolves with the exit code. */
export async function runCommand([command, ...words]: readonly string[]): Promise<number> {
  try {
    if (command === 'new' && words.length === 1) makePackage(resolve(words[0] ?? ''));
    else if (command === 'fixtures' && words.length === 2) await makeFixtures(resolve(words[0] ?? ''), resolve(words[1] ?? ''));
    else {
      const isHelp = command === '--help' || command === 'help';
      (isHelp ? process.stdout : process.stderr).write(`${usage}\n`);
      return isHelp ? 0 : 1;
    }
    return 0;
  } catch (thrown) {
    process.stderr.write(`gateway-plugin: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    return 1;
  }
}

function makePackage(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty; name a folder that is new`);
  cpSync(join(sdkFolder, 'template'), folder, { recursive: true, filter: (path) => !/[/\\](?:node_modules|dist)$/.test(path) });
  // An SDK that was not installed from a registry is none that npm would find there.
  if (!sdkFolder.split(sep).includes('node_modules')) {
    const file = join(folder, 'package.json');
    const manifest: { devDependencies: Record<string, string> } = JSON.parse(readFileSync(file, 'utf8'));
    manifest.devDependencies['@gateway/plugin-sdk'] = `file:${relative(realpathSync(folder), sdkFolder).split(sep).join('/')}`;
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  process.stdout.write(`made ${folder}; next: cd there, npm install, npm test\n`);
}

async function makeFixtures(module: string, folder: string): Promise<void> {
  if (!existsSync(module)) throw new Error(`there is no ${module}; build first`);
  const plugin: unknown = (await import(pathToFileURL(module).href)).default;
  if (!isProvider(plugin)) throw new Error(`the default export of ${module} is not a provider`);
  const written = writeFixtures(plugin, folder);
  if (written.length === 0) throw new Error(`there is no case below ${folder}; a case is a folder with request.json and the provider's answer`);
  for (const { name, changed } of written) process.stdout.write(`${name}: ${changed.length === 0 ? 'as it was' : `wrote ${changed.join(', ')}`}\n`);
}

const isProvider = (value: unknown): value is ProviderPlugin => typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'provider';
