// The credentials of an integration, as clients write them -> as the row keeps them. The provider's own parameters say which members there are, and which of
// them are secrets.

import { isDeepStrictEqual } from 'node:util';
import type { ProviderPlugin } from '@gateway/plugin-sdk';
import type { Config } from '../../../config/config.js';
import { fail, isGatewayError } from '../../../errors/gateway-error.js';
import { withPlaceholders } from '../../../plan/mapped-credentials.js';
import type { Registry } from '../../../registry/registry.js';
import { holdsSecret } from '../../../registry/secret-schema.js';
import { didYouMean } from '../../../settings/nearest-name.js';
import { OpenIntegration, placeOf } from '../../../storage/open-rows.js';
import { Secret } from '../../../storage/sealer.js';
import { integrations, type IntegrationRow, type SecretMapping } from '../../../storage/tables/integrations.js';
import { parseCustomHost } from '../../../upstream/custom-host.js';
import type { ControlContext } from '../../context.js';
import { compileOnce } from '../common/compile-once.js';
import { isMasked, isSecretName, maskSecret, refuseGatewayKeys } from '../common/secret-text.js';
import { checkedHeaders } from './headers.js';
import { fitsHeader, nameOf, ownNames, ownValue, reference, writtenNames } from './parameter-names.js';

type Members = Readonly<Record<string, unknown>>;
export type CredentialMembers = Pick<IntegrationRow, 'sealedKey' | 'maskedKey' | 'configurations' | 'sealedConfigurations' | 'maskedConfigurations' | 'customHost' | 'sealedHeaders' | 'headerNames'>;

const keyCharsMax = 16_384;
const configurationsBytesMax = 256 * 1024;

/** The id of an installed provider; dashes and underscores are not told apart. Throws FIELD_INVALID. */
export function providerId(registry: Registry, given: string, param: string): string {
  const known = registry.list('provider');
  const plain = (name: string): string => name.toLowerCase().replace(/[-_]/g, '');
  const id = known.find((name) => name === given) ?? known.find((name) => plain(name) === plain(given));
  if (id === undefined) throw fail('FIELD_INVALID', { param, reason: `is not an installed provider${didYouMean(given, known) || '; gateway plugins provider lists those that are'}` });
  return id;
}

export async function providerPlugin(registry: Registry, id: string): Promise<ProviderPlugin> {
  const plugin = await registry.find('provider', id);
  if (plugin === undefined) throw fail('FIELD_INVALID', { param: 'ai_provider_id', reason: 'is not installed any more' });
  return plugin;
}

export const isSecretMember = (plugin: ProviderPlugin, name: string): boolean => isSecretName(name) || holdsSecret(plugin.params.properties[name]);

interface GivenCredentials {
  readonly key?: string | null | undefined;
  readonly configurations?: Members | null | undefined;
}

/**
 * The credentials for the row: members that are not given stay, null removes one, and a masked value means the stored one. `place`: the clients' name of the
 * configurations. Throws FIELD_INVALID.
 */
export async function credentialMembers(
  context: ControlContext, integration: { readonly id: string; readonly aiProviderId: string; readonly workspaceId: string | null }, given: GivenCredentials, before: IntegrationRow | null, place = 'configurations',
  mappings: readonly SecretMapping[] = before?.secretMappings ?? [],
): Promise<CredentialMembers> {
  const { registry } = context.services;
  const plugin = await providerPlugin(registry, integration.aiProviderId);
  const stored = before === null ? null : new OpenIntegration(before, context.sealer);
  const key = keyOf(given.key, stored, before);
  const { members, customHost, headers: givenHeaders } = membersOf(given.configurations ?? {}, plugin, integration.aiProviderId, stored, before, place);
  const hasSecret = Object.keys(members).some((name) => isSecretMember(plugin, name)) || mappings.some(({ target_field: field }) => field !== 'key' && isSecretMember(plugin, field.slice('configurations.'.length)));
  const headers = givenHeaders === undefined ? stored?.headers ?? {} : givenHeaders === null ? {} : checkedHeaders(givenHeaders, stored?.headers ?? {}, plugin.auth, key !== null || hasSecret || mappings.length > 0, `${place}.custom_headers`);
  const filled = withPlaceholders(key === null ? null : new Secret(key), members, plugin, mappings);
  requireCredentials(plugin, integration.aiProviderId, filled.key?.reveal() ?? null, hasSecret, customHost);
  await refuseGatewayKeys(context, [
    ...(key === null ? [] : [['key', key] as const]), ...textsIn(members, place), ...textsIn(headers, `${place}.custom_headers`), ...(customHost === null ? [] : [[`${place}.custom_host`, customHost] as const]),
  ]);
  await checkParameters(registry, plugin, integration, { key: filled.key?.reveal() ?? null, members: filled.configurations, customHost }, place);
  if (before !== null && stored !== null && isPersonal(context) && isKept(plugin, key, members, stored) && isElsewhere(plugin, customHost, members, before, stored)) {
    throw fail('FIELD_INVALID', { param: 'key', reason: 'must be given again: with a key of type workspace-user the stored credentials are sent to no other address than they were stored for' });
  }
  return sealed(context, plugin, integration.id, { key, members, customHost, headers });
}

/** A person calls: he may use what is stored, and need not be one who may know it. */
export const isPersonal = ({ caller }: ControlContext): boolean => caller.keyType === 'workspace-user' || (caller.keyType === 'session' && caller.workspaceId !== '');

/** One of the secrets is the stored one. */
function isKept(plugin: ProviderPlugin, key: string | null, members: Members, stored: OpenIntegration): boolean {
  if (key !== null && key === stored.key?.reveal()) return true;
  return Object.entries(members).some(([name, value]) => isSecretMember(plugin, name) && isDeepStrictEqual(value, stored.configurations[name]));
}

/** Calls go to another host than before, or may: members of the configurations can be part of it. */
function isElsewhere({ baseUrl, params }: ProviderPlugin, customHost: string | null, members: Members, before: IntegrationRow, stored: OpenIntegration): boolean {
  if (customHost !== null) return customHost !== before.customHost;
  const isMade = typeof baseUrl !== 'string' || baseUrl.includes('{');
  return isMade && Object.keys(params.properties).some((name) => !isDeepStrictEqual(members[name], stored.configurations[name]));
}

/** Masks of the secrets that exist. After a backup without secrets, rows still have masks of secrets that are gone. */
export const masksOf = (row: IntegrationRow): Pick<IntegrationRow, 'maskedKey' | 'maskedConfigurations'> => ({
  maskedKey: row.sealedKey === null ? null : row.maskedKey, maskedConfigurations: row.sealedConfigurations === null ? {} : row.maskedConfigurations,
});

function keyOf(given: string | null | undefined, stored: OpenIntegration | null, before: IntegrationRow | null): string | null {
  const kept = stored?.key?.reveal() ?? null;
  if (given === undefined || (before !== null && given !== null && given === masksOf(before).maskedKey)) return kept;
  if (given === null || given === '') return null;
  if (isMasked(given)) throw fail('FIELD_INVALID', { param: 'key', reason: 'is masked; give the key itself, or leave it out to keep the stored one' });
  if (given.length > keyCharsMax || !fitsHeader.test(given)) throw fail('FIELD_INVALID', { param: 'key', reason: `must be text that fits in a header (no line breaks, nothing beyond Latin-1, at most ${keyCharsMax} characters)` });
  if (given.trim() !== given) throw fail('FIELD_INVALID', { param: 'key', reason: 'begins or ends with a blank; leave it out' });
  if (reference.test(given)) throw fail('FIELD_INVALID', { param: 'key', reason: 'env:NAME is not read here; give the key itself' });
  return given;
}

function requireCredentials({ auth }: ProviderPlugin, provider: string, key: string | null, hasSecret: boolean, customHost: string | null): void {
  if (key !== null || customHost !== null || auth.type === 'none' || (auth.type === 'bearer' && auth.isOptional === true)) return;
  if (auth.type === 'signed' && hasSecret) return;
  throw fail('FIELD_INVALID', { param: 'key', reason: `is required: ${provider} needs an API key${auth.type === 'signed' ? ', or its own credentials in configurations' : ''}` });
}

interface Read {
  readonly members: Record<string, unknown>;
  readonly customHost: string | null;
  /** Undefined: nothing was said of them. */
  readonly headers: unknown;
}

function membersOf(given: Members, plugin: ProviderPlugin, provider: string, stored: OpenIntegration | null, before: IntegrationRow | null, place: string): Read {
  if (JSON.stringify(given).length > configurationsBytesMax) throw fail('FIELD_INVALID', { param: place, reason: `is larger than ${configurationsBytesMax} bytes` });
  const members: Record<string, unknown> = { ...stored?.configurations };
  let customHost = before?.customHost ?? null;
  let headers: unknown = undefined;
  const masks = before === null ? {} : masksOf(before).maskedConfigurations;
  const seen = new Set<string>();
  for (const [written, value] of Object.entries(given)) {
    const param = `${place}.${written.slice(0, 64)}`;
    const isMaskedName = written.startsWith('masked_');
    const name = nameOf(isMaskedName ? written.slice('masked_'.length) : written, plugin);
    if (name === undefined) throw fail('FIELD_INVALID', { param, reason: unknownReason(written, plugin, provider) });
    if (seen.has(name)) throw fail('FIELD_INVALID', { param, reason: `is ${name}, which is given twice` });
    seen.add(name);
    const mask = Object.hasOwn(masks, name) ? masks[name] : undefined;
    if (mask !== undefined && value === mask) continue;
    if (isMaskedName || (typeof value === 'string' && isMasked(value))) throw fail('FIELD_INVALID', { param, reason: 'is masked, and no stored value looks like it; give the value itself' });
    if (name === 'custom_host') customHost = hostOf(value, param);
    else if (name === 'custom_headers') headers = value;
    else if (value === null) delete members[name];
    else members[name] = ownValue(value, plugin, name, param);
  }
  return { members, customHost, headers };
}

function unknownReason(written: string, plugin: ProviderPlugin, provider: string): string {
  if (written === 'api_key') return 'is given as key, beside configurations';
  return `is nothing that ${provider} takes${didYouMean(written, writtenNames(plugin)) || `; it takes ${ownNames(plugin).join(', ')}`}`;
}

function hostOf(value: unknown, param: string): string | null {
  if (value === null || value === '') return null;
  if (typeof value !== 'string') throw fail('FIELD_INVALID', { param, reason: 'must be an absolute http:// or https:// URL' });
  return checkedHost(value, param);
}

/** As it was written. Throws FIELD_INVALID. */
export function checkedHost(value: string, param: string): string {
  try {
    parseCustomHost(value);
    return value;
  } catch (thrown) {
    throw isGatewayError(thrown) ? fail('FIELD_INVALID', { param, reason: `is not an address: ${thrown.message.replace(/^custom host: /, '')}` }) : thrown;
  }
}

function* textsIn(value: unknown, param: string): Generator<readonly [string, string]> {
  if (typeof value === 'string') yield [param, value];
  else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) yield* textsIn(each, `${param}.${name}`);
}

async function checkParameters(
  registry: Registry, plugin: ProviderPlugin, { aiProviderId, workspaceId }: { readonly aiProviderId: string; readonly workspaceId: string | null },
  { key, members, customHost }: { readonly key: string | null; readonly members: Members; readonly customHost: string | null }, place: string,
): Promise<void> {
  const below = (path: string): string => (path === '' ? place : `${place}.${path.replace(/\[(\d+)\]/g, '.$1')}`);
  // Defaults are filled in there; they stay the plugin's.
  const fault = registry.checkParams(plugin, structuredClone({ ...members, ...(key === null || !Object.hasOwn(plugin.params.properties, 'api_key') ? {} : { api_key: key }) }));
  if (fault !== undefined) throw fail('FIELD_INVALID', { param: below(fault.path), reason: fault.reason });
  try {
    const config: Config = { ...members, provider: aiProviderId, ...(key === null ? {} : { api_key: key }), ...(customHost === null ? {} : { custom_host: customHost }) };
    const { root } = await compileOnce(config, workspaceId ?? '', registry);
    // An address with missing parts: calls may bring these themselves, but an integration must have them.
    if (root.kind === 'target' && root.base === null) root.baseOf(null, members);
  } catch (thrown) {
    if (!isGatewayError(thrown) || thrown.status >= 500 || thrown.param === null) throw thrown;
    throw fail('FIELD_INVALID', { param: below(thrown.param), reason: `cannot be used: ${thrown.message}` });
  }
}

interface Plain {
  readonly key: string | null;
  readonly members: Members;
  readonly customHost: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

function sealed({ sealer }: ControlContext, plugin: ProviderPlugin, id: string, { key, members, customHost, headers }: Plain): CredentialMembers {
  const seal = (text: string, member: string): string => sealer.seal(text, placeOf(integrations, id, member));
  const isSecret = ([name]: readonly [string, unknown]): boolean => isSecretMember(plugin, name);
  const secrets = Object.entries(members).filter(isSecret);
  return {
    sealedKey: key === null ? null : seal(key, 'sealedKey'),
    maskedKey: key === null ? null : maskSecret(key),
    configurations: Object.fromEntries(Object.entries(members).filter((entry) => !isSecret(entry))),
    sealedConfigurations: secrets.length === 0 ? null : seal(JSON.stringify(Object.fromEntries(secrets)), 'sealedConfigurations'),
    maskedConfigurations: Object.fromEntries(secrets.map(([name, value]) => [name, maskSecret(typeof value === 'string' ? value : '')])),
    customHost,
    sealedHeaders: Object.keys(headers).length === 0 ? null : seal(JSON.stringify(headers), 'sealedHeaders'),
    headerNames: Object.keys(headers),
  };
}

/** Members of an archived integration: nothing secret is kept of it. */
export const noCredentials: CredentialMembers & Pick<IntegrationRow, 'sealedModelHeaders' | 'secretMappings'> = Object.freeze({
  secretMappings: [],
  sealedKey: null, maskedKey: null, configurations: {}, sealedConfigurations: null, maskedConfigurations: {}, customHost: null, sealedHeaders: null, headerNames: [], sealedModelHeaders: null,
});
