import { givenKeyCharsMin, hashKey, keyCharsMax } from '../../../auth/key.js';
import { fail } from '../../../errors/gateway-error.js';
import { apiKeys, type ApiKeyRow, type KeyType } from '../../../storage/tables/api-keys.js';
import { bootstraps } from '../../../storage/tables/bootstraps.js';
import { configs } from '../../../storage/tables/configs.js';
import { object } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { timeOrNull } from '../../envelope.js';
import { amend, declareResource, DeclaredSecret, filled, membersFor, perform, type DeclaredPlace, type DeclaredReference, type Members } from '../../define-declared.js';
import { checkTakeOver, scopeOf } from './key-access.js';
import { createFields } from './key-fields.js';
import { apiKeysResource } from './resource.js';
import { secretMembers } from './rotate-key.js';

const { create, update } = apiKeysResource.operations;
const { user_id: _user, ...fields } = createFields.properties;
/** A key that somebody made up has to be as hard to guess as it looks. */
const differentCharsMin = 8;

/** Keys of services: those of people are their own affair. */
const typeOf = ({ workspace }: DeclaredPlace): KeyType => (workspace === null ? 'organisation-service' : 'workspace-service');

/** Throws FIELD_INVALID. */
async function checkKey({ repository }: ControlContext, key: string, id: string | null): Promise<void> {
  const refuse = (reason: string): never => { throw fail('FIELD_INVALID', { param: 'key', reason }); };
  if (key.length < givenKeyCharsMin || key.length > keyCharsMax || !/^[\x21-\x7e]+$/.test(key)) refuse(`must have ${givenKeyCharsMin} to ${keyCharsMax} printable ASCII characters without spaces`);
  if (new Set(key).size < differentCharsMin) refuse(`can be guessed: it has less than ${differentCharsMin} different characters`);
  const holder = (await repository.find(apiKeys, 'hash', [hashKey(key)]))?.row.id;
  if (holder !== undefined && holder !== id) refuse('is the one of another API key; give each its own');
}

function refuseRotation({ key, rotation_policy: policy }: Members): void {
  if (key !== undefined && policy !== undefined && policy !== null) throw fail('FIELD_INVALID', { param: 'rotation_policy', reason: 'cannot stand beside key: a key that the file gives is changed in the file' });
}

const allDefaults = { metadata: null, config_id: null, provider: null, allow_config_override: true };

export const apiKeysDeclared = declareResource<ApiKeyRow>({
  section: 'api_keys', resource: apiKeysResource, table: apiKeys, level: 'either', identity: 'name',
  entry: object({
    ...fields, scopes: Type.Optional(Type.Array(Type.String(), { maxItems: 500, uniqueItems: true, default: ['completions.write'] })),
    key: Type.Optional(Type.String({ minLength: 1, description: 'the key itself; without, one is made and shown once' })),
  }),
  defaults: { description: null, rate_limits: [], usage_limits: null, defaults: null, alert_emails: [], expires_at: null, rotation_policy: null },
  references: function* references({ defaults }): Generator<DeclaredReference> {
    const { config_id: config, provider }: Members = { ...Object(defaults) };
    if (typeof config === 'string') yield { section: 'configs', name: config, place: 'defaults.config_id' };
    if (typeof provider === 'string' && provider.startsWith('@')) for (const section of ['providers', 'virtual_keys']) yield { section, name: provider.slice(1), place: 'defaults.provider' };
  },
  find: async (place, name) => {
    const { context, workspace } = place;
    const named = await context.repository.list(apiKeys, { index: 'name', parts: [context.caller.organisationId, workspace?.id ?? '', name], limit: 1_000 });
    const [first, second] = named.filter(({ row }) => row.type === typeOf(place));
    if (second !== undefined) throw fail('FIELD_INVALID', { param: 'name', reason: 'is the name of more than one API key here; give the others other names first' });
    return first;
  },
  all: async function* all({ repository, caller }) {
    const first = new Set<string>();
    // They are there on every gateway, and their secrets are settings.
    for await (const { row } of repository.each(bootstraps, {})) for (const id of [row.adminKeyId, row.apiKeyId]) first.add(id);
    for await (const stored of repository.each(apiKeys, { index: 'organisation', parts: [caller.organisationId] })) if (stored.row.type !== 'workspace-user' && !first.has(stored.row.id)) yield stored;
  },
  workspaceIdOf: ({ workspaceId }) => workspaceId,
  nameOf: ({ name }) => name,
  view: async ({ repository }, { row }) => {
    const { metadata, config_id, provider, allow_config_override } = row.defaults;
    const config = config_id === null ? undefined : (await repository.get(configs, config_id))?.row.slug ?? config_id;
    const policy = row.rotationPolicy;
    const hasPeriod = (policy?.rotation_period ?? policy?.rotation_period_days ?? null) !== null;
    return {
      name: row.name, key: DeclaredSecret.ofDigest(row.keyHash, 'key'), description: row.description, scopes: row.scopes, rate_limits: row.rateLimits, usage_limits: row.usageLimits,
      defaults: filled({
        ...(filled(metadata) === undefined ? {} : { metadata }), ...(config === undefined ? {} : { config_id: config }), ...(provider === null ? {} : { provider }), ...(allow_config_override ? {} : { allow_config_override }),
      }) ?? null,
      alert_emails: row.alertEmails, expires_at: timeOrNull(row.expiresAtMs),
      rotation_policy: policy === null ? null : {
        rotation_period: policy.rotation_period ?? undefined, rotation_period_days: policy.rotation_period_days ?? undefined, key_transition_period_ms: policy.key_transition_period_ms,
        ...(hasPeriod ? {} : { next_rotation_at: policy.next_rotation_at ?? undefined }),
      },
    };
  },
  // One that is rotated has another secret soon: where the file is applied, it gets one of its own.
  exported: (_context, { row }) => (row.rotationPolicy === null ? {} : { key: undefined }),
  create: async (place, entry) => {
    const { context } = place;
    refuseRotation(entry);
    const { key, ...members } = entry;
    if (typeof key === 'string') await checkKey(context, key, null);
    const [type = '', subType = ''] = typeOf(place).split('-');
    if (create === undefined) throw new TypeError('API keys are not made');
    const reply = await perform(create, context, { params: { type, sub_type: subType }, body: membersFor(members, createFields) });
    if (typeof key !== 'string') return reply;
    await amend(context, apiKeys, undefined, (row) => ({ ...row, ...secretMembers(key) }));
    const { key: _made, ...others } = reply;
    return others;
  },
  update: async (place, stored, { key, defaults, ...changed }, entry) => {
    const { context } = place;
    refuseRotation(entry);
    if (update === undefined) throw new TypeError('API keys are not changed');
    await perform(update, context, { id: stored.row.id, body: defaults === undefined ? changed : { ...changed, defaults: { ...allDefaults, ...Object(defaults) } } });
    if (typeof key !== 'string') return;
    // Whoever gives it a secret knows it from then on.
    context.require(scopeOf(stored.row.type, 'rotate'));
    checkTakeOver(context, stored.row);
    await checkKey(context, key, stored.row.id);
    await amend(context, apiKeys, stored.row.id, (row) => ({ ...row, ...secretMembers(key), previous: null, isUnclaimed: false, lastRotatedAtMs: context.nowMs }));
  },
});
