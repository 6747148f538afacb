// Third-party packages that the settings name. Their package.json is read and judged before any of their code runs; a package at fault is
// reported with the line to change and never stops the others.

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { isObject, type PluginKind } from '@gateway/plugin-sdk';
import { explainFault } from '../body/json-fault.js';
import { reasonOf } from '../errors/gateway-error.js';
import { formatId, isPluginKind, ownNamespaces } from './ids.js';
import { lineOfMember } from './member-line.js';
import { exportedPath } from './package-exports.js';

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
  /** Given by a path, not by a name. */
  readonly isPath: boolean;
  /** Where it is; undefined when it is not there at all. */
  readonly folder: string | undefined;
  /** Empty when package.json says none. */
  readonly version: string;
  /** Undefined when it was refused. */
  readonly namespace: string | undefined;
  readonly plugins: readonly PackagePlugin[];
  readonly fault: string | undefined;
}

const isPathName = (named: string): boolean => named.startsWith('.') || isAbsolute(named);

/** Reads every listed package. `fromFolder` is where bare names are resolved from (the working directory). */
export function readPackages(names: readonly string[], fromFolder: string): PluginPackage[] {
  const namespaces = new Map<string, string>();
  return names.map((named) => {
    const read = readPackage(named, fromFolder, namespaces);
    if (read.namespace !== undefined) namespaces.set(read.namespace, named);
    return read;
  });
}

/** Reads one package; `taken` are the namespaces of the others, with their names. */
export function readPackage(named: string, fromFolder: string, taken: ReadonlyMap<string, string>): PluginPackage {
  let folder: string | undefined;
  let version = '';
  try {
    const file = packageFile(named, fromFolder);
    folder = realpathSync(dirname(file));
    const manifest = new Manifest(file);
    const given = member(manifest.value, 'version');
    if (typeof given === 'string') version = given;
    const namespace = namespaceOf(manifest, taken);
    return { named, isPath: isPathName(named), folder, version, namespace, plugins: pluginsOf(manifest, namespace), fault: undefined };
  } catch (thrown) {
    return { named, isPath: isPathName(named), folder, version, namespace: undefined, plugins: [], fault: reasonOf(thrown) };
  }
}

/** A package.json, and the line of each member in it. */
class Manifest {
  readonly value: unknown;
  readonly #text: string;

  constructor(readonly file: string) {
    this.#text = readFileSync(file, 'utf8');
    try {
      this.value = JSON.parse(this.#text);
    } catch (thrown) {
      const reason = explainFault(this.#text);
      const line = /line (\d+)/.exec(reason)?.[1] ?? String(this.#text.trimEnd().split('\n').length);
      throw new Error(`${file}:${line}: cannot be read as JSON: ${reason}`, { cause: thrown });
    }
  }

  /** `path` leads to the member to change. */
  refuse(path: readonly string[], reason: string, cause?: unknown): never {
    throw new Error(`${this.file}:${lineOfMember(this.#text, path)}: ${reason}`, { cause });
  }
}

function namespaceOf(manifest: Manifest, taken: ReadonlyMap<string, string>): string {
  const declared = member(manifest.value, 'gateway');
  if (!isObject(declared)) manifest.refuse(['gateway'], 'has no "gateway" member; add "gateway": {"namespace": ..., "contract": ..., "plugins": ...}');
  const namespace = member(declared, 'namespace');
  const place = ['gateway', 'namespace'];
  if (typeof namespace !== 'string' || !/^[a-z][a-z0-9-]{0,63}$/.test(namespace)) return manifest.refuse(place, 'gateway.namespace must be a lower-case word');
  const owner = ownNamespaces.has(namespace) ? 'the gateway itself' : taken.get(namespace);
  return owner === undefined ? namespace : manifest.refuse(place, `gateway.namespace ${namespace} is taken by ${owner}`);
}

function pluginsOf(manifest: Manifest, namespace: string): PackagePlugin[] {
  const declared = member(manifest.value, 'gateway');
  const contract = member(declared, 'contract');
  const listed = member(declared, 'plugins');
  if (!isObject(listed)) return manifest.refuse(['gateway', 'plugins'], 'gateway.plugins must be an object such as {"guardrail": ["pii"]}');
  if (typeof member(manifest.value, 'name') !== 'string') return manifest.refuse(['name'], 'name is missing');
  const plugins: PackagePlugin[] = [];
  for (const [kind, ids] of Object.entries(listed)) {
    const place = ['gateway', 'plugins', kind];
    if (!isPluginKind(kind)) return manifest.refuse(place, `gateway.plugins.${kind} is not a plugin kind`);
    const version = member(contract, kind);
    if (typeof version !== 'number' || !contracts.includes(version)) {
      manifest.refuse(['gateway', 'contract', kind], `gateway.contract.${kind} must be ${contracts.join(' or ')}, the contract this gateway speaks`);
    }
    if (!Array.isArray(ids)) return manifest.refuse(place, `gateway.plugins.${kind} must be a list of names`);
    for (const [index, name] of ids.entries()) {
      const entry = [...place, String(index)];
      if (typeof name !== 'string' || !/^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/.test(name)) return manifest.refuse(entry, `gateway.plugins.${kind} holds a name that is not a word`);
      const id = formatId({ namespace, name });
      if (plugins.some((plugin) => plugin.kind === kind && plugin.id === id)) return manifest.refuse(entry, `gateway.plugins.${kind} holds ${name} twice`);
      plugins.push({ kind, id, module: moduleOf(manifest, `./${kind}/${name}`) });
    }
  }
  return plugins;
}

/** A plugin's module as its package exports it. */
function moduleOf(manifest: Manifest, place: string): string {
  const refuse = (reason: string): never => manifest.refuse(['exports', place], `"exports" must lead "${place}", which gateway.plugins lists, to a module: ${reason}`);
  const path = exportedPath(member(manifest.value, 'exports'), place);
  if (path === undefined) return refuse('it leads nowhere');
  const module = join(dirname(manifest.file), path);
  // Its place in the end, as import() has it.
  return statSync(module, { throwIfNoEntry: false })?.isFile() === true ? realpathSync(module) : refuse(`Cannot find module '${module}'`);
}

function packageFile(named: string, fromFolder: string): string {
  if (isPathName(named)) {
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

/** The same plugins, in a copy of the package's folder. What lies outside of the folder stays where it is. */
export function movedTo(read: PluginPackage, folder: string): PluginPackage {
  const { folder: from } = read;
  if (from === undefined) return read;
  const plugins = read.plugins.map((plugin) => {
    const path = relative(from, plugin.module);
    return path.startsWith('..') || isAbsolute(path) ? plugin : { ...plugin, module: join(folder, path) };
  });
  return { ...read, plugins };
}

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
