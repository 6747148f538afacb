// The credentials of an integration, with the values of secret references filled in. Runs while a plan is compiled, which may wait; calls find
// the values in the plan. A value that is missing or does not fit disables its target, not the plan: other targets may take the call.

import { isObject, type ProviderPlugin, type Schema, type SecretDocument } from '@gateway/plugin-sdk';
import type { Registry } from '../registry/registry.js';
import type { StoredIntegration } from '../snapshot/stored-provider.js';
import type { SecretValue, StoredReference } from '../snapshot/stored-reference.js';
import { Secret } from '../storage/sealer.js';
import type { SecretMapping } from '../storage/tables/integrations.js';
import type { PlanSources } from './plan-sources.js';

export interface SecretReader {
  /** The last value from the manager. If the reference was never read, waits for it, up to a limit. Never rejects. */
  value(reference: StoredReference): Promise<SecretValue>;
}

/** Why a target cannot be used. Contains no part of a value. */
export interface SecretFault {
  readonly slug: string;
  readonly reason: string;
}

export interface Credentials {
  readonly key: Secret | null;
  readonly configurations: Readonly<Record<string, unknown>>;
  readonly fault: SecretFault | null;
}

interface Services {
  readonly registry: Registry;
  readonly secrets?: SecretReader;
}

const keyField = 'key';
const below = 'configurations.';
const charsMax = 16_384;
const madeUpText = 'mapped';
const madeUp = new Secret(madeUpText);
/** Same rule as for stored keys: the value becomes part of headers, addresses and signatures. */
const fitsHeader = /^[\u0020-\u007e\u0080-\u00ff]+$/;

export async function mappedCredentials(integration: StoredIntegration, plugin: ProviderPlugin, workspaceId: string, sources: PlanSources, { registry, secrets }: Services): Promise<Credentials> {
  const { open, mappings } = integration;
  if (secrets === undefined) return { ...withPlaceholders(open.key, open.configurations, plugin, mappings), fault: null };
  let { key } = open;
  const configurations: Record<string, unknown> = { ...open.configurations };
  const asked = await Promise.all(mappings.map(async (mapping) => {
    const reference = sources.reference(mapping.secret_reference_id);
    if (reference === undefined || !integration.isOf(reference.organisationId)) return { mapping, slug: mapping.secret_reference_id, value: 'it was removed' };
    if (!reference.isOpenTo(workspaceId)) return { mapping, slug: reference.slug, value: 'it is not open to this workspace' };
    const value = await secrets.value(reference);
    sources.holdValue(reference.id, value);
    return { mapping, slug: reference.slug, value, member: mapping.secret_key ?? reference.key };
  }));
  let fault: SecretFault | null = null;
  for (const { mapping, slug, value, member = null } of asked) {
    const found = typeof value === 'string' ? { reason: value } : valueOf(value, member, mapping);
    if ('reason' in found) {
      fault ??= { slug, reason: found.reason };
      // A stored value of this member must not be used in its place. A target with a fault sends nothing, so a placeholder does.
      if (mapping.target_field === keyField) key = madeUp;
      else configurations[mapping.target_field.slice(below.length)] = placeholder(plugin.params.properties[mapping.target_field.slice(below.length)]);
    } else if (mapping.target_field === keyField) key = new Secret(String(found.value));
    else configurations[mapping.target_field.slice(below.length)] = found.value;
  }
  fault ??= misfit(registry, plugin, key, configurations, asked);
  return { key, configurations: Object.freeze(configurations), fault };
}

function misfit(registry: Registry, plugin: ProviderPlugin, key: Secret | null, configurations: Readonly<Record<string, unknown>>, asked: readonly { readonly mapping: SecretMapping; readonly slug: string }[]): SecretFault | null {
  const takesKey = key !== null && Object.hasOwn(plugin.params.properties, 'api_key');
  const known = Object.entries(configurations).filter(([name]) => Object.hasOwn(plugin.params.properties, name));
  const fault = registry.checkParams(plugin, structuredClone({ ...Object.fromEntries(known), ...(takesKey ? { api_key: key.reveal() } : {}) }));
  if (fault === undefined) return null;
  const field = fault.path === 'api_key' ? keyField : below + (/^\w+/.exec(fault.path)?.[0] ?? '');
  const { slug } = asked.find(({ mapping }) => mapping.target_field === field) ?? { slug: '' };
  return slug === '' ? null : { slug, reason: `its value does not fit ${field}` };
}

function valueOf(value: SecretValue, member: string | null, { target_field: field, value_format: format }: SecretMapping): { readonly value: unknown } | { readonly reason: string } {
  const document = value.reveal();
  if (document === null) return { reason: value.reason };
  const found = memberOf(document, member);
  if ('reason' in found) return found;
  let { value: taken } = found;
  if (format === 'json' && typeof taken === 'string') {
    taken = parsed(taken);
    if (taken === undefined) return { reason: `its value is not JSON, as ${field} needs it` };
  }
  if (format !== 'json') {
    if (typeof taken === 'object') return { reason: `its value is an object, and ${field} takes a text; name a member of it as secret_key, or give value_format json` };
    taken = String(taken);
  }
  if (field === keyField && typeof taken !== 'string') return { reason: 'its value is not a text, as a key is' };
  if (typeof taken === 'string' && (taken.length > charsMax || !fitsHeader.test(taken) || taken.trim() !== taken)) return { reason: `its value cannot be ${field}: it is empty, too long, has blanks around it, or characters that no header takes` };
  return { value: taken };
}

function memberOf(document: SecretDocument, member: string | null): { readonly value: unknown } | { readonly reason: string } {
  if (member === null) {
    if (typeof document === 'string') return { value: document };
    const members = Object.values(document);
    return members.length === 1 ? { value: members[0] } : { value: document };
  }
  const members = typeof document === 'string' ? parsed(document) : document;
  if (!isObject(members)) return { reason: 'what stands there has no members, and secret_key names one' };
  return Object.hasOwn(members, member) ? { value: members[member] } : { reason: `what stands there has no member ${member.slice(0, 64)}` };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Fills in made-up values, so that settings which depend on them can be checked before the secrets are read. */
export function withPlaceholders(key: Secret | null, configurations: Readonly<Record<string, unknown>>, plugin: ProviderPlugin, mappings: readonly SecretMapping[]): Omit<Credentials, 'fault'> {
  const filled: Record<string, unknown> = { ...configurations };
  let filledKey = key;
  for (const { target_field: field } of mappings) {
    if (field === keyField) filledKey = madeUp;
    else filled[field.slice(below.length)] = placeholder(plugin.params.properties[field.slice(below.length)]);
  }
  return { key: filledKey, configurations: Object.freeze(filled) };
}

function placeholder(schema: Schema | undefined): unknown {
  switch (schema?.type) {
    case 'object': return {};
    case 'array': return [];
    case 'boolean': return true;
    case 'number': case 'integer': return schema.minimum ?? 1;
    default: return schema?.enum?.[0] ?? madeUpText;
  }
}
