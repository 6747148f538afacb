// Finds plugins by kind and id and loads them on first use: built-in ones by folder name, third-party ones from the packages the settings
// list. Knows kinds, never a plugin by name. Runs when a config is compiled, never for a call.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Host, ObjectSchema, PluginByKind, PluginKind } from '@gateway/plugin-sdk';
import { fail, reasonOf } from '../errors/gateway-error.js';
import { aliasFault } from './alias-fault.js';
import { folderOf, isPluginKind, nameOf, ownNamespaces, parseId, places } from './ids.js';
import { lineIn, placeOfDefinition, placeOfImportFault, type FaultPlace } from './module-fault.js';
import { didYouMean } from '../settings/nearest-name.js';
import { readFiles, type PackageFiles, type PackageVersions } from './package-versions.js';
import { movedTo, readPackage, readPackages, type PluginPackage } from './packages.js';

/** dist/ when built: the folder that holds core, plugins and providers. */
const root = fileURLToPath(new URL('../..', import.meta.url));

export interface ParamFault {
  /** `conditions[0].then`; empty for the parameters as a whole. */
  readonly path: string;
  readonly reason: string;
}

export interface RegistrySettings {
  /** Package names and paths from the settings. */
  readonly packages: readonly string[];
  readonly fromFolder: string;
  /** Makes the host that a plugin is given. */
  readonly hostOf: (pluginId: string) => Host;
  /** The plugin that had this host is out of service. */
  readonly dropHost?: (pluginId: string) => void;
  /** Holds the versions of packages that are given by path. Without it they are loaded where they are, once and for all. */
  readonly versions?: PackageVersions;
}

/** The outcome for a package whose files may have changed. */
export type Reload =
  | { readonly outcome: 'same' }
  | { readonly outcome: 'refused'; readonly reason: string }
  /** `plugins`: kind and id of all that the package had or has. `faults`: of plugins that were at fault before, too. */
  | { readonly outcome: 'changed'; readonly version: string; readonly plugins: ReadonlySet<string>; readonly faults: readonly string[] };

/** A module and its definition, once it is asked for. */
interface Loading {
  readonly module: string;
  readonly plugin: Promise<unknown>;
}

/** A package and the version of its files that is in service. */
interface Served {
  readonly read: PluginPackage;
  /** Where its modules are loaded from. */
  readonly copy: string | undefined;
  readonly digest: string;
}

export class Registry {
  readonly #served: Served[] = [];
  /** Of the version that was refused last, for each package: it is told once. */
  readonly #refused = new Map<string, string>();
  readonly #modules = new Map<string, string>();
  readonly #loading = new Map<string, Loading>();
  readonly #hosts = new Map<string, Host>();
  // Unknown parameters are faults, so every object schema is closed unless it says otherwise (see closed()).
  readonly #ajv = new Ajv({ allErrors: false, useDefaults: true, strict: true, verbose: true, keywords: ['secret'] });
  /** Definitions of third parties: what they make of `env:NAME` is theirs to say. */
  readonly #foreign = new WeakSet<object>();
  readonly #validators = new WeakMap<object, ValidateFunction>();

  constructor(readonly settings: RegistrySettings) {
    for (const read of readPackages(settings.packages, settings.fromFolder)) {
      const { folder } = read;
      const files = settings.versions === undefined || !read.isPath || folder === undefined ? undefined : readFiles(folder);
      this.#served.push(this.#serve(read, files));
    }
    for (const plugin of this.#served.flatMap(({ read }) => read.plugins)) this.#modules.set(`${plugin.kind}/${plugin.id}`, plugin.module);
  }

  get packages(): readonly PluginPackage[] {
    return this.#served.map(({ read }) => read);
  }

  /** The definition, or undefined when nothing of that id is installed. Rejects with PLUGIN_INVALID when it is but cannot be used. */
  async find<K extends PluginKind>(kind: K, id: string): Promise<PluginByKind[K] | undefined> {
    // #load() has checked that kind and contract are what the type says.
    return await this.#find(kind, id)?.plugin as PluginByKind[K] | undefined;
  }

  /** As find(), with the module it came from. */
  async locate<K extends PluginKind>(kind: K, id: string): Promise<{ readonly plugin: PluginByKind[K]; readonly module: URL } | undefined> {
    const found = this.#find(kind, id);
    return found === undefined ? undefined : { plugin: await found.plugin as PluginByKind[K], module: pathToFileURL(found.module) };
  }

  /** The module that find() loads. */
  moduleOf(kind: PluginKind, id: string): string | undefined {
    return this.#moduleOf(kind, id);
  }

  /** The package that brought a plugin; undefined for the gateway's own. */
  packageOf(kind: PluginKind, id: string): PluginPackage | undefined {
    return this.#served.find(({ read }) => read.plugins.some((plugin) => plugin.kind === kind && plugin.id === id))?.read;
  }

  /**
   * Reads a package that is given by path again. When its files have changed and are good, its plugins are the new ones from here on; what was
   * found before goes on working.
   */
  async reload(named: string): Promise<Reload> {
    const index = this.#served.findIndex(({ read }) => read.named === named);
    const before = this.#served[index];
    const folder = before?.read.folder;
    if (before?.read.isPath !== true || folder === undefined || this.settings.versions === undefined) return { outcome: 'same' };
    const files = readFiles(folder);
    if (files === undefined || files.digest === before.digest || files.digest === this.#refused.get(named)) return { outcome: 'same' };
    const taken = new Map(this.#served.flatMap(({ read }) => (read.namespace === undefined || read.named === named ? [] : [[read.namespace, read.named] as const])));
    const read = readPackage(named, this.settings.fromFolder, taken);
    if (read.fault !== undefined) return this.#refuse(named, files, read.fault);
    const after = this.#serve(read, files);
    const loaded = new Map<string, Loading>();
    for (const { kind, id, module } of after.read.plugins) loaded.set(`${kind}/${id}`, this.#load(kind, id, module, after));
    const faults: string[] = [];
    for (const [key, { plugin }] of loaded) {
      const fault = await faultOf(plugin);
      if (fault === undefined) continue;
      // A plugin that works must not stop working; one that did not work holds nobody up.
      const [kind, id] = splitKey(key);
      const was = before.read.plugins.some((plugin) => plugin.kind === kind && plugin.id === id) ? this.#find(kind, id) : undefined;
      if (was === undefined || await faultOf(was.plugin) === undefined) return this.#refuse(named, files, fault, after);
      faults.push(fault);
    }
    const old = before.read.plugins.map(({ kind, id }) => `${kind}/${id}`);
    for (const key of old) {
      this.#modules.delete(key);
      this.#loading.delete(key);
      if (this.#hosts.delete(key)) this.settings.dropHost?.(key);
    }
    for (const [key, loading] of loaded) {
      this.#modules.set(key, loading.module);
      this.#loading.set(key, loading);
    }
    this.#served[index] = after;
    this.#refused.delete(named);
    return { outcome: 'changed', version: read.version, plugins: new Set([...old, ...loaded.keys()]), faults };
  }

  /** Ids of everything installed, built-in and third-party. Reads folder names only. */
  list(kind: PluginKind): string[] {
    const ids: string[] = [];
    for (const folder of folders(kind)) ids.push(kind === 'guardrail' ? `default.${nameOf(folder)}` : folder);
    for (const key of this.#modules.keys()) if (key.startsWith(`${kind}/`)) ids.push(key.slice(kind.length + 1));
    return ids.sort();
  }

  /** Whether it is the gateway's own, or that of a package that was not refused. */
  hasNamespace(namespace: string): boolean {
    return namespace === '' || ownNamespaces.has(namespace) || this.#served.some(({ read }) => read.namespace === namespace);
  }

  /** Checks parameters against the plugin's schema and fills in defaults (in place). */
  checkParams(plugin: { readonly params: ObjectSchema }, params: Record<string, unknown>): ParamFault | undefined {
    const validate = this.#validatorOf(plugin.params);
    if (validate(params)) return this.#foreign.has(plugin) ? undefined : unreadReference(plugin.params.properties, params, '');
    const error = validate.errors?.[0];
    if (error === undefined) return { path: '', reason: 'is not valid' };
    const place = error.instancePath.slice(1).split('/').filter((part) => part !== '')
      .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
    const unknown = unknownMember(error);
    if (unknown !== undefined) return { path: place, reason: `must NOT have additional properties (${unknown})${didYouMean(unknown, membersOf(error.parentSchema))}` };
    const allowed = error.keyword === 'enum' ? ` (${(error.params.allowedValues as unknown[]).join(', ')})` : '';
    return { path: place, reason: `${error.message ?? 'is not valid'}${allowed}` };
  }

  host(pluginId: string): Host {
    let host = this.#hosts.get(pluginId);
    if (host === undefined) {
      host = this.settings.hostOf(pluginId);
      this.#hosts.set(pluginId, host);
    }
    return host;
  }

  #find(kind: PluginKind, id: string): Loading | undefined {
    const key = `${kind}/${id}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      const module = this.#moduleOf(kind, id);
      if (module === undefined) return undefined;
      loading = this.#load(kind, id, module, this.#served.find(({ read }) => read.plugins.some((plugin) => plugin.kind === kind && plugin.id === id)));
      this.#loading.set(key, loading);
    }
    return loading;
  }

  #load(kind: PluginKind, id: string, module: string, from: Served | undefined): Loading {
    const plugin = loadPlugin(kind, `${kind}/${id}`, module, from, (params) => { this.#validatorOf(params); });
    // Told to whoever asks for the plugin.
    plugin.then((definition) => { if (from !== undefined && typeof definition === 'object' && definition !== null) this.#foreign.add(definition); }, () => undefined);
    return { module, plugin };
  }

  #validatorOf(params: ObjectSchema): ValidateFunction {
    let validate = this.#validators.get(params);
    if (validate === undefined) {
      validate = this.#ajv.compile(closed(params));
      this.#validators.set(params, validate);
    }
    return validate;
  }

  #serve(read: PluginPackage, files: PackageFiles | undefined): Served {
    if (read.folder === undefined || this.settings.versions === undefined || files === undefined) return { read, copy: undefined, digest: '' };
    // A package that was refused is read again when it changes; there is nothing to copy.
    if (read.fault !== undefined) return { read, copy: undefined, digest: files.digest };
    const copy = this.settings.versions.copy(read.folder, files);
    return { read: movedTo(read, copy), copy, digest: files.digest };
  }

  #refuse(named: string, files: PackageFiles, reason: string, refused?: Served): Reload {
    this.#refused.set(named, files.digest);
    if (refused?.copy !== undefined && refused.read.folder !== undefined) this.settings.versions?.drop(refused.read.folder, refused.copy);
    return { outcome: 'refused', reason };
  }

  #moduleOf(kind: PluginKind, id: string): string | undefined {
    const parsed = parseId(id);
    if (parsed === undefined) return undefined;
    const listed = this.#modules.get(`${kind}/${id}`);
    if (listed !== undefined) return listed;
    if (parsed.namespace !== '' && !ownNamespaces.has(parsed.namespace)) return undefined;
    const installed = folders(kind);
    let folder: string | undefined = folderOf(parsed.name);
    // Other gateways are not of one mind about the letters of `modelwhitelist`.
    if (!installed.includes(folder)) folder = parsed.namespace === '' ? undefined : installed.find((name) => name.replaceAll('-', '') === parsed.name.toLowerCase());
    return folder === undefined ? undefined : join(root, places[kind].folder, folder, places[kind].module);
  }
}

function folders(kind: PluginKind): string[] {
  try {
    return readdirSync(join(root, places[kind].folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'common').map((entry) => entry.name);
  } catch (thrown) {
    // A kind without a single built-in plugin has no folder yet.
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
    throw thrown;
  }
}

async function loadPlugin(kind: PluginKind, key: string, module: string, from: Served | undefined, compile: (params: ObjectSchema) => void): Promise<unknown> {
  const refuse = (reason: string, place: FaultPlace, cause?: unknown): never => {
    throw fail('PLUGIN_INVALID', { plugin: key, reason: `${inOriginal(reason, from)} (${shownPlace(place, from)})` }, cause);
  };
  let loaded: { default?: unknown };
  try {
    loaded = await import(pathToFileURL(module).href);
  } catch (thrown) {
    return refuse(`could not be loaded: ${reasonOf(thrown)}`, placeOfImportFault(thrown, module, from?.copy ?? from?.read.folder ?? root), thrown);
  }
  const plugin = loaded.default;
  const place = placeOfDefinition(module);
  if (typeof plugin !== 'object' || plugin === null) return refuse('has no default export made by define...()', place);
  const { kind: found, contract, params } = plugin as { kind?: unknown; contract?: unknown; params?: unknown };
  if (found !== kind) return refuse(`it is of kind ${String(found)}, not ${kind}`, place);
  if (contract !== 1) return refuse(`it was written for contract ${String(contract)} of this kind; this gateway speaks 1`, place);
  const paramsPlace = { file: module, line: lineIn(module, 'params') ?? place.line };
  if (!isObjectSchema(params)) return refuse('params must be a JSON Schema of type object', paramsPlace);
  const { create } = plugin as { create?: unknown };
  const wrongAlias = kind === 'provider' ? aliasFault((plugin as { aliases?: unknown }).aliases, params) : undefined;
  if (wrongAlias !== undefined) return refuse(wrongAlias, { file: module, line: lineIn(module, 'aliases') ?? place.line });
  if (kind !== 'provider' && typeof create !== 'function') return refuse('create must be a function', place);
  // The gateway's own schemas are held to this by tests, and compiled when they are first needed.
  if (from === undefined) return plugin;
  try {
    compile(params);
  } catch (thrown) {
    const keyword = /"([^"]+)"/.exec(reasonOf(thrown))?.[1];
    const line = keyword === undefined ? undefined : lineIn(module, keyword);
    return refuse(`params is not a JSON Schema: ${reasonOf(thrown)}`, { file: module, line: line ?? paramsPlace.line }, thrown);
  }
  return plugin;
}

function isObjectSchema(params: unknown): params is ObjectSchema {
  return typeof params === 'object' && params !== null && 'properties' in params && typeof params.properties === 'object' && params.properties !== null;
}

/** Places in a copy are those of the package it was made of. */
const inOriginal = (text: string, from: Served | undefined): string =>
  (from?.copy === undefined || from.read.folder === undefined ? text : text.replaceAll(from.copy, from.read.folder));

/** `./acme/strategy/first.js:3`, as the settings name the package: messages may reach a client, and tell no more of the machine than need be. */
function shownPlace({ file, line }: FaultPlace, from: Served | undefined): string {
  const place = inOriginal(file, from);
  const folder = from?.read.folder;
  const shown = folder !== undefined && place.startsWith(folder) ? join(from?.read.named ?? '', relative(folder, place)) : place.startsWith(root) ? relative(root, place) : place;
  return line === undefined ? shown : `${shown}:${line}`;
}

const faultOf = (plugin: Promise<unknown>): Promise<string | undefined> => plugin.then(() => undefined, reasonOf);

/** `guardrail/acme.pii`; keys are made of kinds. */
function splitKey(key: string): [PluginKind, string] {
  const at = key.indexOf('/');
  const kind = key.slice(0, at);
  if (!isPluginKind(kind)) throw new TypeError(`${kind} is not a kind of plugin`);
  return [kind, key.slice(at + 1)];
}

const reference = /^env:[A-Za-z_]\w*$/;

/** A secret of one of our own plugins that looks like a reference: they are given by callers, and resolve none. */
function unreadReference(properties: ObjectSchema['properties'], values: Readonly<Record<string, unknown>>, path: string): ParamFault | undefined {
  for (const [name, schema] of Object.entries(properties)) {
    const value = values[name];
    const place = path === '' ? name : `${path}.${name}`;
    const texts = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    if ('secret' in schema && schema.secret === true && texts.some((text) => typeof text === 'string' && reference.test(text))) {
      return { path: place, reason: 'env:NAME is not read here; give the value itself' };
    }
    if (!('properties' in schema) || schema.properties === undefined || typeof value !== 'object' || value === null) continue;
    const fault = unreadReference(schema.properties, value as Readonly<Record<string, unknown>>, place);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const membersOf = (schema: Readonly<Record<string, unknown>> | undefined): string[] =>
  (typeof schema?.properties === 'object' && schema.properties !== null ? Object.keys(schema.properties) : []);

/** The member that a closed object does not know, also when the fault is one that is missing: it was most likely misspelt. */
function unknownMember({ keyword, params, data, parentSchema }: ErrorObject): string | undefined {
  if (keyword === 'additionalProperties') return String(params.additionalProperty);
  if (keyword !== 'required' || parentSchema?.additionalProperties !== false || typeof data !== 'object' || data === null) return undefined;
  const known = membersOf(parentSchema);
  return Object.keys(data).find((name) => !known.includes(name));
}

/** The schema with every object closed that does not open itself. */
function closed(schema: unknown): object {
  if (Array.isArray(schema)) return schema.map((entry) => (typeof entry === 'object' && entry !== null ? closed(entry) : entry));
  if (typeof schema !== 'object' || schema === null) return {};
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties' && typeof value === 'object' && value !== null) {
      copy[name] = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
    } else if (name === 'items' || (name === 'additionalProperties' && typeof value === 'object')) {
      copy[name] = closed(value);
    } else {
      copy[name] = value;
    }
  }
  if (copy.type === 'object' && !('additionalProperties' in copy)) copy.additionalProperties = false;
  return copy;
}
