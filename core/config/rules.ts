// The rules of a config that span several members, after the schema has checked each of them: which members go together, how many targets,
// how deep. Runs when a config is seen for the first time.

import type { Config } from './config.js';
import { placeBelow, type ConfigFault } from './place.js';
import { isConfigMember } from './schema.js';

export interface ConfigOptions {
  /** Whether calls to the provider need no key at all. */
  isKeyless(provider: string): boolean;
}

const rootTargetsMax = 100;
/** Routing by conditions is a table of who goes where, which may be long. */
const conditionalTargetsMax = 1000;
const nestedTargetsMax = 50;
export const nestingMax = 8;

/** The first broken rule, parents before their targets. */
export function brokenRule(config: Config, options: ConfigOptions, path = 'config', depth = 0): ConfigFault | undefined {
  const own = unreadReference(config, path) ?? brokenPairing(config, path) ?? brokenPassthrough(config, path) ?? brokenCount(config, path, depth) ?? missingSet(config, options, path);
  if (own !== undefined) return own;
  for (const [index, target] of (config.targets ?? []).entries()) {
    const fault = brokenRule(target, options, placeBelow(placeBelow(path, 'targets'), index), depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** `env:NAME`, as plugins of the operator may have it resolved. */
const reference = /^env:[A-Za-z_]\w*$/;

/** Sent on as it is, it would be a key that the provider refuses. */
function unreadReference(config: Config, path: string): ConfigFault | undefined {
  for (const [name, value] of Object.entries(config)) {
    if (typeof value !== 'string' || !reference.test(value)) continue;
    return { path: placeBelow(path, name), reason: 'env:NAME is not read in a config, which may be anybody\'s; give the value itself, or for api_key send it as Authorization' };
  }
  return undefined;
}

function brokenPairing(config: Config, path: string): ConfigFault | undefined {
  if (config.strategy !== undefined && config.targets === undefined) return { path: placeBelow(path, 'targets'), reason: 'is required beside strategy' };
  if (config.targets !== undefined && config.strategy === undefined) return { path: placeBelow(path, 'strategy'), reason: 'is required beside targets' };
  return undefined;
}

const excludedByPassthrough = ['targets', 'strategy', 'override_params', 'input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators'] as const;

function brokenPassthrough(config: Config, path: string): ConfigFault | undefined {
  if (config.passthrough !== true) return undefined;
  const excluded = excludedByPassthrough.find((name) => config[name] !== undefined);
  if (excluded === undefined) return undefined;
  return { path: placeBelow(path, excluded), reason: 'cannot stand beside passthrough: true; remove one of the two' };
}

function brokenCount(config: Config, path: string, depth: number): ConfigFault | undefined {
  const { targets } = config;
  if (targets === undefined) return undefined;
  const place = placeBelow(path, 'targets');
  if (depth >= nestingMax) return { path: place, reason: `targets may be nested at most ${nestingMax} deep` };
  const maximum = depth > 0 ? nestedTargetsMax : config.strategy?.conditions === undefined ? rootTargetsMax : conditionalTargetsMax;
  if (targets.length > maximum) return { path: place, reason: `must have at most ${maximum} items here` };
  return undefined;
}

/** Property sets of which one is enough. */
const sufficient = [
  'virtual_key', 'cache', 'retry', 'prompt_id', 'forward_headers', 'request_timeout',
  'before_request_hooks', 'after_request_hooks', 'input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators',
] as const;

/** Beside `provider`, one of these is needed whole. */
const providerSets = [
  ['api_key'],
  ['custom_host'],
  ['cloud1_access_key_id', 'cloud1_secret_access_key'],
  ['cloud2_region', 'cloud2_service_account_json'],
  ['cloud2_region', 'cloud2_project_id'],
  ['cloud3_deployment_name', 'cloud3_deployment_type', 'cloud3_region', 'cloud3_api_version'],
  ['cloud3_endpoint_name', 'cloud3_deployment_type'],
  // Extensions.
  ['resource_name', 'cloud3_ad_token'],
  ['resource_name', 'cloud3_entra_tenant_id', 'cloud3_entra_client_id', 'cloud3_entra_client_secret'],
] as const;

function missingSet(config: Config, options: ConfigOptions, path: string): ConfigFault | undefined {
  if (config.strategy !== undefined && config.targets !== undefined) return undefined;
  if (config.passthrough === true || sufficient.some((name) => config[name] !== undefined)) return undefined;
  // `@slug/model` names the provider as well.
  const setModel = config.override_params?.model ?? config.default_params?.model;
  const { provider } = config;
  if (provider === undefined && typeof setModel === 'string' && setModel.startsWith('@')) return undefined;
  if (provider === undefined) {
    return {
      path,
      reason: 'says nothing about where to send the call; it must have at least one of: provider with api_key or custom_host, virtual_key, '
        + 'strategy with targets, passthrough: true, prompt_id, cache, retry, request_timeout, forward_headers, or a list of hooks or guardrails',
    };
  }
  // An empty custom_host counts as none.
  const isGiven = (name: (typeof providerSets)[number][number]): boolean => config[name] !== undefined && config[name] !== '';
  if (providerSets.some((set) => set.every(isGiven))) return undefined;
  if (provider.startsWith('@') || options.isKeyless(provider)) return undefined;
  // Of a third party, with credentials of its own.
  if (provider.includes('.') && Object.keys(config).some((name) => !isConfigMember(name))) return undefined;
  // The set that the client seems to have begun.
  let begun: (typeof providerSets)[number] = providerSets[0];
  for (const set of providerSets) if (set.filter(isGiven).length > begun.filter(isGiven).length) begun = set;
  const given = begun.filter(isGiven);
  if (given.length > 0) {
    return { path, reason: `provider with ${given.join(' and ')} also needs ${begun.filter((name) => !isGiven(name)).join(' and ')}` };
  }
  return {
    path,
    reason: 'provider needs api_key beside it (or custom_host, or a whole set of cloud1_*, cloud2_* or cloud3_* credentials; '
      + 'a provider of the catalogue is written @slug)',
  };
}
