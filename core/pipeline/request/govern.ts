// The rules of key, workspace and organisation for a call: what it may bring along, where it goes when it says nothing, and its metadata.
// Runs only for calls of keys and workspaces that say anything.

import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { RequestHead } from '../../exchange/request-head.js';
import type { KeyDefaults } from '../../snapshot/principal.js';
import type { SavedOnly, WorkspaceRules } from '../../snapshot/workspace-state.js';

/** Targets of a config that are looked at; a config with more is refused when it is read. */
const nodesMax = 10_000;

/** Throws what forbids the call. Puts into the head what the call leaves to its key. */
export function govern(exchange: Exchange, defaults: KeyDefaults | null, rules: WorkspaceRules | null): void {
  const { head } = exchange;
  if (rules !== null && !rules.isActive) throw fail('WORKSPACE_INACTIVE');
  if (defaults !== null && !defaults.allowsConfig && head.config !== undefined && head.config !== defaults.config) throw fail('CONFIG_OVERRIDE_NOT_ALLOWED', { param: 'x-gateway-config' });
  if (rules !== null && rules.savedOnly !== null) refuseInline(head, rules.savedOnly);
  // Who asks for models and names no provider is told of all that the key may use.
  const isRouted = exchange.route.name !== 'models' || head.config !== undefined || head.provider !== undefined || head.virtualKey !== undefined;
  if (isRouted && defaults !== null) {
    if (head.config === undefined) head.config = defaults.config ?? (defaults.isOfMember ? rules?.memberConfig : undefined);
    if (head.provider === undefined && head.virtualKey === undefined) head.provider = defaults.provider;
  }
  const own = defaults === null ? null : defaults.metadata;
  if (own !== null) exchange.addMetadata(own);
  if (rules !== null && rules.metadata !== null) exchange.addMetadata(rules.metadata);
}

function refuseInline(head: RequestHead, savedOnly: SavedOnly): void {
  const { config, provider, customHost, forwardHeaders } = head;
  const isInline = config !== undefined && config.trimStart().startsWith('{');
  if (savedOnly.configs && isInline) throw fail('INLINE_CONFIG_BLOCKED', { param: 'x-gateway-config' });
  if (provider !== undefined) refuseProvider(provider, savedOnly, 'x-gateway-provider');
  if (savedOnly.customHosts && customHost !== undefined) throw fail('INLINE_CUSTOM_HOST_BLOCKED', { param: 'x-gateway-custom-host' });
  if (savedOnly.forwardHeaders && forwardHeaders !== undefined) throw fail('INLINE_FORWARD_HEADERS_BLOCKED', { param: 'x-gateway-forward-headers' });
  if (isInline) refuseInConfig(config, savedOnly);
}

function refuseProvider(provider: string, savedOnly: SavedOnly, param: string): void {
  if (provider === '' || provider.startsWith('@')) return;
  if (savedOnly.providerUrls && provider.includes('://')) throw fail('INLINE_PROVIDER_URL_BLOCKED', { param });
  if (savedOnly.providers) throw fail('INLINE_PROVIDER_BLOCKED', { param });
}

/** A text that is not a config is refused where it is read. */
function refuseInConfig(text: string, savedOnly: SavedOnly): void {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return;
  }
  const open: { readonly node: unknown; readonly path: string }[] = [{ node: root, path: 'config' }];
  for (let place = open.pop(), looked = 0; place !== undefined && looked < nodesMax; place = open.pop(), looked += 1) {
    const { path } = place;
    const node: Readonly<Record<string, unknown>> = Object(place.node);
    if (typeof node.provider === 'string') refuseProvider(node.provider, savedOnly, `${path}.provider`);
    if (savedOnly.customHosts && node.custom_host !== undefined) throw fail('INLINE_CUSTOM_HOST_BLOCKED', { param: `${path}.custom_host` });
    if (savedOnly.forwardHeaders && node.forward_headers !== undefined) throw fail('INLINE_FORWARD_HEADERS_BLOCKED', { param: `${path}.forward_headers` });
    if (Array.isArray(node.targets)) for (const [index, target] of node.targets.entries()) open.push({ node: target, path: `${path}.targets[${index}]` });
  }
}
