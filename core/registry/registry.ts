// Finds plugins by kind and id and loads them on first use: built-in ones by folder name, third-party ones from the packages the settings
// list. Knows kinds, never a plugin by name. Runs when a config is compiled, never for a call.

import { Ajv, type ValidateFunction } from 'ajv';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Host, ObjectSchema, PluginByKind, PluginKind } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { folderOf, nameOf, parseId, places } from './ids.js';
import { readPackages, type PluginPackage } from './packages.js';

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
}

export class Registry {
  readonly packages: readonly PluginPackage[];
  readonly #modules = new Map<string, string>();
  readonly #loading = new Map<string, Promise<unknown>>();
  readonly #hosts = new Map<string, Host>();
  // Unknown parameters are faults, so every object schema is closed unless it says otherwise (see closed()).
  readonly #ajv = new Ajv({ allErrors: false, useDefaults: true, strict: true, keywords: ['secret'] });
  readonly #validators = new WeakMap<object, ValidateFunction>();

  constructor(readonly settings: RegistrySettings) {
    this.packages = readPackages(settings.packages, settings.fromFolder);
    for (const plugin of this.packages.flatMap((entry) => entry.plugins)) this.#modules.set(`${plugin.kind}/${plugin.id}`, plugin.module);
  }

  /** The definition, or undefined when nothing of that id is installed. Rejects with PLUGIN_INVALID when it is but cannot be used. */
  async find<K extends PluginKind>(kind: K, id: string): Promise<PluginByKind[K] | undefined> {
    const key = `${kind}/${id}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      const module = this.#moduleOf(kind, id);
      if (module === undefined) return undefined;
      loading = load(kind, key, module);
      this.#loading.set(key, loading);
    }
    // load() has checked that kind and contract are what the type says.
    return await loading as PluginByKind[K];
  }

  /** Ids of everything installed, built-in and third-party. Reads folder names only. */
  list(kind: PluginKind): string[] {
    const ids: string[] = [];
    for (const folder of folders(kind)) ids.push(kind === 'guardrail' ? `default.${nameOf(folder)}` : folder);
    for (const key of this.#modules.keys()) if (key.startsWith(`${kind}/`)) ids.push(key.slice(kind.length + 1));
    return ids.sort();
  }

  /** Checks parameters against the plugin's schema and fills in defaults (in place). */
  checkParams(plugin: { readonly params: ObjectSchema }, params: Record<string, unknown>): ParamFault | undefined {
    let validate = this.#validators.get(plugin.params);
    if (validate === undefined) {
      validate = this.#ajv.compile(closed(plugin.params));
      this.#validators.set(plugin.params, validate);
    }
    if (validate(params)) return undefined;
    const error = validate.errors?.[0];
    if (error === undefined) return { path: '', reason: 'is not valid' };
    const place = error.instancePath.slice(1).split('/').filter((part) => part !== '')
      .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
    const extra = error.keyword === 'additionalProperties' ? ` (${String(error.params.additionalProperty)})` : '';
    const allowed = error.keyword === 'enum' ? ` (${(error.params.allowedValues as unknown[]).join(', ')})` : '';
    return { path: place, reason: `${error.message ?? 'is not valid'}${extra}${allowed}` };
  }

  host(pluginId: string): Host {
    let host = this.#hosts.get(pluginId);
    if (host === undefined) {
      host = this.settings.hostOf(pluginId);
      this.#hosts.set(pluginId, host);
    }
    return host;
  }

  #moduleOf(kind: PluginKind, id: string): string | undefined {
    const parsed = parseId(id);
    if (parsed === undefined) return undefined;
    const listed = this.#modules.get(`${kind}/${id}`);
    if (listed !== undefined) return listed;
    if (parsed.namespace !== '' && parsed.namespace !== 'default') return undefined;
    const folder = folderOf(parsed.name);
    return folders(kind).includes(folder) ? join(root, places[kind].folder, folder, places[kind].module) : undefined;
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

async function load(kind: PluginKind, key: string, module: string): Promise<unknown> {
  try {
    const loaded: { default?: unknown } = await import(pathToFileURL(module).href);
    const plugin = loaded.default;
    if (typeof plugin !== 'object' || plugin === null) throw fail('PLUGIN_INVALID', { plugin: key, reason: `${module} has no default export made by define...()` });
    const { kind: found, contract, params } = plugin as { kind?: unknown; contract?: unknown; params?: unknown };
    if (found !== kind) throw fail('PLUGIN_INVALID', { plugin: key, reason: `it is of kind ${String(found)}, not ${kind}` });
    if (contract !== 1) throw fail('PLUGIN_INVALID', { plugin: key, reason: `it was written for contract ${String(contract)} of this kind; this gateway speaks 1` });
    if (typeof params !== 'object' || params === null) throw fail('PLUGIN_INVALID', { plugin: key, reason: 'params must be a JSON Schema of type object' });
    return plugin;
  } catch (thrown) {
    if (isGatewayError(thrown)) throw thrown;
    throw fail('PLUGIN_INVALID', { plugin: key, reason: `could not be loaded: ${reasonOf(thrown)}` }, thrown);
  }
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
