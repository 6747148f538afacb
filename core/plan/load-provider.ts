// A provider folder, loaded on first use and spelled out for the call path.

import type { EndpointName, ObjectSchema, Schema, Transport } from '@gateway/plugin-sdk';
import { fail } from '../errors/gateway-error.js';
import type { Registry } from '../registry/registry.js';
import { nearestName } from '../settings/nearest-name.js';
import type { EndpointEntry, LoadedProvider } from './plan.js';

const loaded = new WeakMap<Registry, Map<string, Promise<LoadedProvider>>>();
/** Transports of providers that were reloaded. */
const retiredOf = new WeakMap<Registry, Transport[]>();

/** The provider `id`, the same object for every plan of a thread. Throws PROVIDER_UNKNOWN. */
export function loadProvider(registry: Registry, id: string): Promise<LoadedProvider> {
  let providers = loaded.get(registry);
  if (providers === undefined) loaded.set(registry, providers = new Map());
  let provider = providers.get(id);
  if (provider === undefined) {
    const made = load(registry, id);
    provider = made;
    providers.set(id, made);
    // A failure is not kept: the name may be a client's, and the map must not grow by them.
    made.catch(() => providers.delete(id));
  }
  return provider;
}

/** These providers have another version now. Calls that are open on the old one go on; its transport is closed with the others at the end. */
export function forgetProviders(registry: Registry, ids: readonly string[]): void {
  const providers = loaded.get(registry);
  if (providers === undefined) return;
  for (const id of ids) {
    const old = providers.get(id);
    if (old === undefined) continue;
    providers.delete(id);
    const retired = retiredOf.get(registry) ?? [];
    retiredOf.set(registry, retired);
    old.then((provider) => { if (provider.transport !== null) retired.push(provider.transport); }, () => undefined);
  }
}

/** Closes the transports of a thread's providers, when its last call is over. */
export async function closeProviders(registry: Registry): Promise<void> {
  const providers = loaded.get(registry);
  loaded.delete(registry);
  const retired = retiredOf.get(registry) ?? [];
  retiredOf.delete(registry);
  const closed = await Promise.allSettled([
    ...[...providers?.values() ?? []].map(async (loading) => (await loading.catch(() => undefined))?.transport?.close?.()),
    ...retired.map(async (transport) => transport.close?.()),
  ]);
  const failed = closed.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function load(registry: Registry, id: string): Promise<LoadedProvider> {
  const plugin = await registry.find('provider', id);
  if (plugin === undefined) {
    const nearest = nearestName(id, registry.list('provider'));
    const advice = nearest === undefined ? 'gateway plugins provider lists those that are installed' : `did you mean ${nearest}?`;
    throw fail('PROVIDER_UNKNOWN', { provider: id.slice(0, 64), advice, param: 'provider' });
  }
  const endpoints = new Map<EndpointName, EndpointEntry>();
  for (const [name, spec] of Object.entries(plugin.endpoints)) {
    if (spec !== undefined) endpoints.set(name as EndpointName, typeof spec === 'string' ? { path: spec } : spec);
  }
  const properties: ObjectSchema['properties'] = plugin.params.properties ?? {};
  return Object.freeze({
    id,
    plugin,
    endpoints,
    transport: plugin.transport === undefined ? null : await plugin.transport(registry.host(`provider/${id}`)),
    credentialNames: Object.keys(properties).filter((name) => name !== 'api_key'),
    structuredNames: new Set(Object.entries(properties).filter(([, schema]) => schema.type === 'object' || schema.type === 'array').map(([name]) => name)),
    partial: registry.packageOf('provider', id) === undefined && !hasDefault(plugin.params) ? null : { params: { ...plugin.params, required: [] } },
  });
}

function hasDefault(schema: Schema | undefined): boolean {
  if (schema?.type === 'array') return schema.default !== undefined || hasDefault(schema.items);
  if (schema?.type === 'object') return Object.values(schema.properties ?? {}).some(hasDefault);
  return schema?.default !== undefined;
}
