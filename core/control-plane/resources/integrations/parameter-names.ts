// Credentials by the names that clients know them by -> by those of the provider's own parameters. The provider says which aliases it has.

import { isObject, type ProviderPlugin, type Schema } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';

const listItemsMax = 1_000;
/** What the gateway itself knows of an integration, whatever the provider. */
const gatewayNames: readonly string[] = ['custom_host', 'custom_headers'];
const gatewayAliases: Readonly<Record<string, string>> = { base_url: 'custom_host' };
export const fitsHeader = /^[\u0020-\u007e\u0080-\u00ff]+$/;
/** As plugins of the operator may have it resolved; credentials are given by clients. */
export const reference = /^env:[A-Za-z_]\w*$/;

const parametersOf = ({ params }: ProviderPlugin): string[] => Object.keys(params.properties).filter((name) => name !== 'api_key');

export const ownNames = (plugin: ProviderPlugin): string[] => [...parametersOf(plugin), ...gatewayNames];

/** With aliases, for advice. */
export const writtenNames = (plugin: ProviderPlugin): string[] => [...ownNames(plugin), ...Object.entries(plugin.aliases ?? {}).flatMap(([path, aliases]) => (path.includes('.') ? [] : aliases))];

/** The name that the provider, or the gateway itself, has for a member; undefined: the member is unknown. */
export function nameOf(written: string, plugin: ProviderPlugin): string | undefined {
  if (ownNames(plugin).includes(written)) return written;
  const [own] = Object.entries(plugin.aliases ?? {}).find(([path, aliases]) => !path.includes('.') && aliases.includes(written)) ?? [];
  return own ?? (Object.hasOwn(gatewayAliases, written) ? gatewayAliases[written] : undefined);
}

/** The provider's name of a parameter, which clients may call by another one; undefined: the provider has no such parameter. */
export function parameterName(written: string, plugin: ProviderPlugin): string | undefined {
  const name = nameOf(written, plugin);
  return name === undefined || gatewayNames.includes(name) ? undefined : name;
}

/** The value of a parameter, with the members of objects in it by their own names. Throws FIELD_INVALID. */
export const ownValue = (value: unknown, plugin: ProviderPlugin, name: string, param: string): unknown => owned(value, plugin.params.properties[name], { aliases: plugin.aliases ?? {}, path: name }, param);

interface Place {
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Of the parameter, without indexes. */
  readonly path: string;
}

function owned(value: unknown, schema: Schema | undefined, place: Place, param: string): unknown {
  if (schema?.type === 'array') {
    if (!Array.isArray(value) || value.length > listItemsMax) throw fail('FIELD_INVALID', { param, reason: `must be a list of at most ${listItemsMax} items` });
    const list: readonly unknown[] = value;
    return list.map((item, index) => owned(item, schema.items, place, `${param}.${index}`));
  }
  // Documents such as key files are the provider's own, down to the last member.
  if (schema?.type === 'object' && Object.keys(schema.properties ?? {}).length > 0) return ownedMembers(value, schema.properties, place, param);
  return checkedText(value, schema, param);
}

function ownedMembers(value: unknown, properties: Readonly<Record<string, Schema>>, { aliases, path }: Place, param: string): unknown {
  if (!isObject(value)) throw fail('FIELD_INVALID', { param, reason: 'must be an object' });
  const given = Object.entries(value).filter(([, each]) => each !== null);
  const left = new Map<string, unknown>(given);
  const members: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    const below = `${path}.${name}`;
    const names = [name, ...aliases[below] ?? []];
    const [written, each] = names.map((one) => given.find(([other]) => other === one)).find((found) => found !== undefined) ?? [];
    for (const one of names) left.delete(one);
    if (written !== undefined) members[name] = owned(each, schema, { aliases, path: below }, `${param}.${written}`);
  }
  // What the provider does not know is refused by its schema, which says so.
  return { ...members, ...Object.fromEntries(left) };
}

function checkedText(value: unknown, schema: Schema | undefined, param: string): unknown {
  if (typeof value !== 'string') return value;
  const allowed = schema?.type === 'string' ? schema.enum : undefined;
  if (allowed !== undefined && !allowed.includes(value)) throw fail('FIELD_INVALID', { param, reason: `must be ${allowed.join(' or ')} here` });
  // They become parts of addresses, headers and signatures.
  if (!fitsHeader.test(value)) throw fail('FIELD_INVALID', { param, reason: 'must be text without line breaks or other control characters, not empty, and nothing beyond Latin-1' });
  if (reference.test(value)) throw fail('FIELD_INVALID', { param, reason: 'env:NAME is not read here; give the value itself' });
  return value;
}
