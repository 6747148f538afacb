// Third-party packages that the settings name. Their package.json is read and judged before any of their code runs; a package at fault is
// reported with the line to change and never stops the others.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { PluginKind } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';
import { formatId, isPluginKind } from './ids.js';

/** Contract versions the host speaks, for each kind. */
const contracts: readonly number[] = [1];

export interface PackagePlugin {
  readonly kind: PluginKind;
  readonly id: string;
  readonly module: string;
}

export interface PluginPackage {
  /** As the settings name it. */
  readonly named: string;
  readonly plugins: readonly PackagePlugin[];
  readonly fault: string | undefined;
}

/** Reads every listed package. `fromFolder` is where bare names are resolved from (the working directory). */
export function readPackages(names: readonly string[], fromFolder: string): PluginPackage[] {
  const namespaces = new Map<string, string>([['default', 'the gateway itself']]);
  return names.map((named) => {
    try {
      return { named, plugins: readPackage(named, fromFolder, namespaces), fault: undefined };
    } catch (thrown) {
      return { named, plugins: [], fault: reasonOf(thrown) };
    }
  });
}

function readPackage(named: string, fromFolder: string, namespaces: Map<string, string>): PackagePlugin[] {
  const file = packageFile(named, fromFolder);
  const manifest = readManifest(file);
  const declared = member(manifest, 'gateway');
  if (!isObject(declared)) throw new Error(`${file}: has no "gateway" member; add "gateway": {"namespace": ..., "contract": ..., "plugins": ...}`);
  const namespace = member(declared, 'namespace');
  if (typeof namespace !== 'string' || !/^[a-z][a-z0-9-]{0,63}$/.test(namespace)) throw new Error(`${file}: gateway.namespace must be a lower-case word`);
  const owner = namespaces.get(namespace);
  if (owner !== undefined) throw new Error(`${file}: gateway.namespace ${namespace} is taken by ${owner}`);
  const contract = member(declared, 'contract');
  const listed = member(declared, 'plugins');
  if (!isObject(listed)) throw new Error(`${file}: gateway.plugins must be an object such as {"guardrail": ["pii"]}`);
  const packageName = member(manifest, 'name');
  if (typeof packageName !== 'string') throw new Error(`${file}: name is missing`);
  const require = createRequire(file);
  const plugins: PackagePlugin[] = [];
  for (const [kind, ids] of Object.entries(listed)) {
    if (!isPluginKind(kind)) throw new Error(`${file}: gateway.plugins.${kind} is no plugin kind`);
    const version = member(contract, kind);
    if (typeof version !== 'number' || !contracts.includes(version)) {
      throw new Error(`${file}: gateway.contract.${kind} must be ${contracts.join(' or ')}, the contract this gateway speaks`);
    }
    if (!Array.isArray(ids)) throw new Error(`${file}: gateway.plugins.${kind} must be a list of names`);
    for (const name of ids) {
      if (typeof name !== 'string' || !/^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/.test(name)) throw new Error(`${file}: gateway.plugins.${kind} holds a name that is no word`);
      plugins.push({ kind, id: formatId({ namespace, name }), module: moduleOf(file, require, packageName, `${kind}/${name}`) });
    }
  }
  namespaces.set(namespace, named);
  return plugins;
}

function readManifest(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new Error(`${file}: cannot be read as JSON: ${reasonOf(thrown)}`, { cause: thrown });
  }
}

/** A package may name itself when it has "exports": this reads its own map, wherever it is installed. */
function moduleOf(file: string, require: NodeJS.Require, packageName: string, place: string): string {
  try {
    return require.resolve(`${packageName}/${place}`);
  } catch (thrown) {
    const [reason = ''] = reasonOf(thrown).split('\n');
    throw new Error(`${file}: "exports" must lead "./${place}", which gateway.plugins lists, to a module: ${reason}`, { cause: thrown });
  }
}

function packageFile(named: string, fromFolder: string): string {
  if (named.startsWith('.') || isAbsolute(named)) {
    const file = join(resolve(fromFolder, named), 'package.json');
    if (!existsSync(file)) throw new Error(`${named}: there is no ${file}`);
    return file;
  }
  // Walks up as Node does, but finds package.json even when "exports" does not list it.
  for (let folder = resolve(fromFolder); ; folder = dirname(folder)) {
    const file = join(folder, 'node_modules', named, 'package.json');
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) throw new Error(`${named}: not installed; run npm install ${named} in ${fromFolder}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
