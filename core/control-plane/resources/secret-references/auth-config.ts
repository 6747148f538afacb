// The credentials of a secret reference, as clients write them -> as the row keeps them. The plugin's parameters say which members there are, and which of
// them are secrets.

import { ParameterError, type SecretsPlugin } from '@gateway/plugin-sdk';
import { fail, reasonOf } from '../../../errors/gateway-error.js';
import type { SourcePlugin } from '../../../secrets/source-plugin.js';
import { placeOf } from '../../../storage/open-rows.js';
import { secretReferences, type SecretReferenceRow } from '../../../storage/tables/secret-references.js';
import type { ControlContext } from '../../context.js';
import { isMasked, isSecretName, maskSecret, refuseGatewayKeys } from '../common/secret-text.js';

type Members = Readonly<Record<string, unknown>>;
type AuthMembers = Pick<SecretReferenceRow, 'authConfig' | 'sealedAuth' | 'maskedAuth'>;

const bytesMax = 65_536;

const isSecretMember = (plugin: SecretsPlugin, name: string): boolean => Object(plugin.params.properties[name]).secret === true || isSecretName(name);

/** The whole of the credentials, opened. */
export function authOf({ sealer }: ControlContext, row: SecretReferenceRow): Members {
  return { ...row.authConfig, ...(row.sealedAuth === null ? {} : JSON.parse(sealer.open(row.sealedAuth, placeOf(secretReferences, row.id, 'sealedAuth'))) as Members) };
}

/** The credentials as replies show them, with masks for secrets. No masks if a backup without secrets has left none sealed. */
export const shownAuth = (row: SecretReferenceRow): Members => ({
  ...row.authConfig, ...(row.sealedAuth === null ? {} : Object.fromEntries(Object.entries(row.maskedAuth).map(([name, mask]) => [`masked_${name}`, mask]))),
});

/** The credentials `given`, checked. A masked member means the stored one, as long as no other member changes. Throws FIELD_INVALID. */
export async function checkedAuth(context: ControlContext, { plugin }: SourcePlugin, id: string, given: Members, before: SecretReferenceRow | null): Promise<{ readonly row: AuthMembers; readonly members: Members }> {
  if (JSON.stringify(given).length > bytesMax) throw fail('FIELD_INVALID', { param: 'auth_config', reason: `is larger than ${bytesMax} bytes` });
  const stored = before === null ? {} : authOf(context, before);
  const members: Record<string, unknown> = {};
  const kept: string[] = [];
  for (const [written, value] of Object.entries(given)) {
    const param = `auth_config.${written.slice(0, 64)}`;
    const name = written.replace(/^masked_/, '');
    if (Object.hasOwn(members, name)) throw fail('FIELD_INVALID', { param, reason: 'is given twice' });
    const isMask = name !== written || (typeof value === 'string' && isMasked(value));
    if (isMask && (before === null || !Object.hasOwn(before.maskedAuth, name) || value !== before.maskedAuth[name])) throw fail('FIELD_INVALID', { param, reason: 'is masked, and no stored value looks like it; give the value itself' });
    if (isMask) kept.push(name);
    const next = isMask ? stored[name] : value;
    if (next !== null && next !== undefined) members[name] = next;
  }
  const plainOf = (all: Members): string => JSON.stringify(Object.entries(all).filter(([name]) => !isSecretMember(plugin, name)).sort());
  if (kept.length > 0 && plainOf(members) !== plainOf(stored)) throw fail('FIELD_INVALID', { param: `auth_config.${kept[0]}`, reason: 'must be given again: what is stored is sent to no other place than it was stored for' });
  const checked = structuredClone(members);
  const fault = context.services.registry.checkParams(plugin, checked);
  if (fault !== undefined) throw fail('FIELD_INVALID', { param: fault.path === '' ? 'auth_config' : `auth_config.${fault.path}`, reason: fault.reason });
  await refuseGatewayKeys(context, Object.entries(members).flatMap(([name, value]) => (typeof value === 'string' ? [[`auth_config.${name}`, value] as const] : [])));
  const secrets = Object.entries(members).filter(([name]) => isSecretMember(plugin, name));
  return {
    members: checked,
    row: {
      authConfig: Object.fromEntries(Object.entries(members).filter(([name]) => !isSecretMember(plugin, name))),
      sealedAuth: secrets.length === 0 ? null : context.sealer.seal(JSON.stringify(Object.fromEntries(secrets)), placeOf(secretReferences, id, 'sealedAuth')),
      maskedAuth: Object.fromEntries(secrets.map(([name, value]) => [name, maskSecret(typeof value === 'string' ? value : '')])),
    },
  };
}

/** Makes the source and asks it about the path; reads nothing. Throws FIELD_INVALID. */
export async function checkSource(context: ControlContext, { id, plugin }: SourcePlugin, members: Members, path: string): Promise<void> {
  const { registry, secretSources = [] } = context.services;
  const allowed = secretSources.filter((source) => source.id === id).map(({ rule }) => rule);
  try {
    const source = await plugin.create(structuredClone(members), registry.host(`secrets/${id}`), allowed);
    const fault = source.pathFault?.(path);
    await source.close?.();
    if (fault !== undefined) throw fail('FIELD_INVALID', { param: 'secret_path', reason: fault });
  } catch (thrown) {
    // Another copy of the SDK has a class of its own.
    if (!(thrown instanceof ParameterError) && !(thrown instanceof Error && thrown.name === 'ParameterError')) throw thrown;
    const place = 'path' in thrown && typeof thrown.path === 'string' ? thrown.path : '';
    throw fail('FIELD_INVALID', { param: place === '' ? 'auth_config' : `auth_config.${place}`, reason: reasonOf(thrown) });
  }
}
