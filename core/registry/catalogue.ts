// Everything that is installed, in words: for `gateway plugins`. Loads every definition and makes none of the plugins.

import type { Needs, ObjectSchema, PluginByKind, PluginKind, Schema } from '@gateway/plugin-sdk';
import { dirname } from 'node:path';
import { reasonOf } from '../errors/gateway-error.js';
import { isPluginKind, places } from './ids.js';
import type { Registry } from './registry.js';

export interface Catalogue {
  /** Third-party packages of the settings. */
  readonly packages: readonly CataloguePackage[];
  readonly plugins: readonly CatalogueEntry[];
}

export interface CataloguePackage {
  readonly name: string;
  readonly folder: string | null;
  readonly version: string;
  readonly fault: string | null;
}

export interface CatalogueEntry {
  readonly kind: PluginKind;
  readonly id: string;
  readonly status: 'ok' | 'fault';
  /** The fault, with the file and line to change. */
  readonly fault: string | null;
  readonly title: string;
  readonly describe: string;
  /** `gateway` for what comes with it. */
  readonly package: string;
  readonly folder: string;
  readonly version: string;
  readonly deprecated: string | null;
  readonly parameters: readonly CatalogueParameter[];
  /** What is particular to the kind: `stages`, `streams`, `compares` ... */
  readonly facts: Readonly<Record<string, string>>;
}

export interface CatalogueParameter {
  /** `rules[].name` */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: unknown;
  readonly description: string;
}

/** Schemas may hold themselves through `additionalProperties`; deeper members are not spelled out. */
const depthMax = 4;

export async function catalogueOf(registry: Registry, gatewayVersion: string): Promise<Catalogue> {
  const plugins: CatalogueEntry[] = [];
  for (const kind of Object.keys(places)) {
    if (!isPluginKind(kind)) continue;
    for (const id of registry.list(kind)) plugins.push(await entryOf(registry, kind, id, gatewayVersion));
  }
  return {
    packages: registry.packages.map(({ named, folder, version, fault }) => ({ name: named, folder: folder ?? null, version, fault: fault ?? null })),
    plugins,
  };
}

async function entryOf<K extends PluginKind>(registry: Registry, kind: K, id: string, gatewayVersion: string): Promise<CatalogueEntry> {
  const from = registry.packageOf(kind, id);
  const place = {
    kind, id, package: from?.named ?? 'gateway', folder: from?.folder ?? dirname(registry.moduleOf(kind, id) ?? ''), version: from?.version ?? gatewayVersion,
  };
  try {
    const plugin = await registry.find(kind, id);
    if (plugin === undefined) throw new Error('it was removed meanwhile');
    const { deprecated, title, describe, params } = plugin;
    return {
      ...place, status: 'ok', fault: null, title, describe, parameters: parametersOf(params), facts: factsOf(plugin),
      deprecated: deprecated === undefined ? null : `since ${deprecated.since}, gone in ${deprecated.removedIn}; use ${deprecated.use}`,
    };
  } catch (thrown) {
    return { ...place, status: 'fault', fault: reasonOf(thrown), title: '', describe: '', parameters: [], facts: {}, deprecated: null };
  }
}

function parametersOf(schema: ObjectSchema, place = '', depth = 0): CatalogueParameter[] {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const path = place === '' ? name : `${place}.${name}`;
    const parameter: CatalogueParameter = {
      name: path, type: typeOf(property), required: schema.required?.includes(name) === true,
      default: 'default' in property && property.default !== undefined ? property.default : null, description: property.description ?? '',
    };
    return [parameter, ...innerOf(property, path, depth)];
  });
}

function innerOf(property: Schema, path: string, depth: number): CatalogueParameter[] {
  if (depth === depthMax) return [];
  if (property.type === 'array') return property.items.type === 'object' ? parametersOf(property.items, `${path}[]`, depth + 1) : [];
  if (property.type !== 'object') return [];
  const { additionalProperties: more } = property;
  return [...parametersOf(property, path, depth + 1), ...(typeof more === 'object' && more.type === 'object' ? parametersOf(more, `${path}.*`, depth + 1) : [])];
}

function typeOf(schema: Schema): string {
  switch (schema.type) {
    case 'array': return `list of ${typeOf(schema.items)}`;
    case 'object': return typeof schema.additionalProperties === 'object' ? `object of ${typeOf(schema.additionalProperties)}` : 'object';
    case 'string': return schema.enum === undefined ? `${schema.type}${schema.secret === true ? ', secret' : ''}` : schema.enum.join(' | ');
    case 'number': case 'integer': return [schema.type, ...boundsOf(schema)].join(' ');
    default: return schema.type;
  }
}

function boundsOf({ minimum, exclusiveMinimum, maximum }: Extract<Schema, { type: 'number' | 'integer' }>): string[] {
  return [
    ...(minimum === undefined ? [] : [`from ${minimum}`]), ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]), ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ];
}

function factsOf(plugin: PluginByKind[PluginKind]): Readonly<Record<string, string>> {
  switch (plugin.kind) {
    case 'guardrail': return {
      stages: plugin.stages.join(', '),
      needs: needsOf(plugin.needs),
      runs: plugin.runsFor === undefined ? runsText[plugin.runs ?? 'loop'] : `${runsText[plugin.runs ?? 'loop']}; parameters may say otherwise`,
      streams: streamsOf(plugin.stages, plugin.needs, plugin.lookBackMax ?? 0),
      timeout: `${plugin.timeoutMs ?? 5_000} ms`,
    };
    case 'hook': return { stages: plugin.stages.map((stage) => `${stage} the request`).join(', ') };
    case 'cache': return { compares: plugin.compares === 'meaning' ? 'meaning: questions that ask the same' : 'exact: the same question, word for word' };
    case 'strategy': return { needs: needsOf(plugin.needs ?? {}) };
    case 'provider': return {
      address: typeof plugin.baseUrl === 'string' ? plugin.baseUrl || 'custom_host' : 'made of its credentials',
      credentials: plugin.auth.type,
      endpoints: Object.keys(plugin.endpoints).join(', '),
      ...(plugin.aliases === undefined ? {} : { aliases: Object.entries(plugin.aliases).map(([own, aliases]) => `${own}: ${aliases.join(' ')}`).join(', ') }),
    };
    case 'storage': return { threads: plugin.isShared === false ? 'one' : 'any number' };
    case 'secrets': return { 'manager types': (plugin.managerTypes ?? []).join(', ') || 'its id' };
    case 'exporter': return {
      batches: plugin.batch === undefined ? 'as the gateway has it' : `up to ${plugin.batch.countMax} records, after ${plugin.batch.waitMsMax} ms at the latest`,
    };
  }
}

const runsText = { loop: 'loop', either: 'loop, long texts in the pool', pool: 'pool' } as const;

function needsOf({ request = 'head', response = 'head', changes }: Needs): string {
  return `${request} of the request, ${response} of the answer${changes === undefined ? '' : `; changes ${changes === 'both' ? 'both' : `the ${changes}`}`}`;
}

function streamsOf(stages: readonly string[], needs: Needs, lookBackMax: number): string {
  if (!stages.includes('output')) return 'not applicable';
  if (needs.response === 'events') return `look-back of ${lookBackMax} characters`;
  return needs.response === 'json' ? 'held whole' : 'relayed as they come';
}
