import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { openConfig, openConfigVersion, placeOf } from '../../../storage/open-rows.js';
import { absentSecret } from '../../../storage/sealer.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { apiKeys } from '../../../storage/tables/api-keys.js';
import { configVersions, type ConfigVersionRow } from '../../../storage/tables/config-versions.js';
import { configs, type ConfigRow } from '../../../storage/tables/configs.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { flag, idText, isTrue, listOf, named, nothing, time, timeText, twice, zeroOrOne } from '../../envelope.js';
import { filteredPage, inReach, isFound, pageOf, pageQuery, searchField } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { findRow, freeSlug } from '../common/find-row.js';
import { checkConfig } from './check-config.js';
import { maskedConfig } from './config-secrets.js';

/** Versions of one config that are kept. */
const versionsMax = 100;
const versionsPage = 20;
/** Users of a config that a refusal names. */
const usersShown = 5;
const slugNameChars = 6;

const configField = () => Type.Unsafe<Readonly<Record<string, unknown>> | string>({ type: ['object', 'string'] });

const configOf = (context: ControlContext, idOrSlug: string): Promise<Stored<ConfigRow>> => findRow(context, configs, 'config', idOrSlug);

/** Null: it was left out of the backup that was restored, or given up with a master key. */
const configTextOf = (context: ControlContext, row: ConfigRow): string | null => (row.sealedConfig === absentSecret ? null : openConfig(row, context.sealer));

const parse = (text: string): Readonly<Record<string, unknown>> => JSON.parse(text);

const headMembers = {
  id: idText(), name: Type.String(), slug: Type.String(), organisation_id: idText(), workspace_id: idText(), is_default: zeroOrOne(), status: choice(['active', 'archived']),
  owner_id: idText(), updated_by: idText(), created_at: timeText(), last_updated_at: timeText(), object: Type.Literal('config'),
};
const versionMembers = {
  ...headMembers, format: Type.Literal('json'), type: Type.Literal('ORG_CONFIG'), version_id: idText(), version: Type.Integer({ minimum: 1 }),
};
const headSchema = named('ConfigSummary', object(headMembers));
const configSchema = named('Config', object({ ...versionMembers, config: Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ['object', 'null'], description: 'secrets are masked; null: it was left out of a backup' }) }));
const versionSchema = named('ConfigVersion', object({ ...versionMembers, config: orNull(Type.String({ description: 'the same as JSON' })) }));
const writtenSchema = twice(object({ id: idText(), version_id: idText(), slug: Type.String(), object: Type.Literal('config') }));

const head = (row: ConfigRow): Reply => ({
  id: row.id, name: row.name, slug: row.slug, organisation_id: row.organisationId, workspace_id: row.workspaceId, is_default: row.isDefault ? 1 : 0, status: row.status,
  owner_id: row.ownerId, updated_by: row.updatedBy, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'config',
});

/** Clients read the members at the top, or below `data`. */
const both = (members: Reply): Reply => ({ success: true, data: members, ...members });

const written = (row: ConfigRow): Reply => both({ id: row.id, version_id: row.versionId, slug: row.slug, object: 'config' });

async function read(context: ControlContext, stored: Stored<ConfigRow>, version: string | undefined): Promise<Reply> {
  const { row } = stored;
  const { registry } = context.services;
  const base = { ...head(row), format: 'json', type: 'ORG_CONFIG' };
  if (version === undefined || version === row.versionId || version === String(row.version)) {
    const text = configTextOf(context, row);
    if (text === null) throw fail('ACTION_UNTIMELY', { reason: `the text of config ${row.slug} was left out of a backup or given up, since it may hold secrets; store it again with PUT` });
    return both({ ...base, config: await maskedConfig(parse(text), registry), version_id: row.versionId, version: row.version });
  }
  const byNumber = /^\d{1,9}$/.test(version);
  const earlier = byNumber ? await context.repository.find(configVersions, 'number', [row.id, String(Number(version))]) : await context.repository.get(configVersions, version);
  if (earlier === undefined || earlier.row.configId !== row.id) throw fail('ROW_UNKNOWN', { kind: 'version', id: `${version.slice(0, 64)} of this config` });
  return both({ ...base, ...await versionView(context, earlier.row) });
}

async function versionView(context: ControlContext, row: ConfigVersionRow): Promise<Reply> {
  return {
    config: row.sealedConfig === absentSecret ? null : await maskedConfig(parse(openConfigVersion(row, context.sealer)), context.services.registry),
    version_id: row.id, version: row.number, updated_by: row.createdBy, last_updated_at: time(row.createdAtMs),
  };
}

function insertVersion(context: ControlContext, config: { readonly id: string; readonly workspaceId: string }, id: string, number: number, text: string): void {
  context.change.insert(configVersions, {
    id, configId: config.id, workspaceId: config.workspaceId, number, sealedConfig: context.sealer.seal(text, placeOf(configVersions, id, 'sealedConfig')),
    createdBy: context.actorId, createdAtMs: context.nowMs,
  });
}

/** A workspace has at most one default config. */
async function clearDefault(context: ControlContext, workspaceId: string, besidesId: string): Promise<void> {
  for (const stored of await context.repository.list(configs, { index: 'default', parts: [workspaceId], limit: usersShown })) {
    if (stored.row.id !== besidesId) context.change.update(stored, { ...stored.row, isDefault: false });
  }
}

async function refuseUsed(context: ControlContext, { row }: Stored<ConfigRow>): Promise<void> {
  const users: string[] = [];
  for (const name of [row.id, row.slug]) {
    const keys = await context.repository.list(apiKeys, { index: 'config', parts: [row.workspaceId, name], limit: usersShown });
    users.push(...keys.map((key) => `the API key ${key.row.name} (${key.row.id})`));
  }
  const workspace = await context.repository.get(workspaces, row.workspaceId);
  const ofWorkspace = workspace?.row.defaults.user_api_key_config;
  if (ofWorkspace === row.id || ofWorkspace === row.slug) users.push(`the workspace ${workspace?.row.slug ?? ''} (user_api_key_config)`);
  if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'config', id: row.slug, users: users.slice(0, usersShown).join(', '), advice: 'give them another default first' });
}

export const configsResource = defineResource({
  name: 'configs',
  kind: 'config',
  operations: {
    list: operation({
      method: 'GET', path: '/configs', scope: 'configs.list', query: object({ ...pageQuery(), search: searchField(), status: Type.Optional(choice(['active', 'archived'])) }),
      reply: listOf(headSchema, { success: Type.Literal(true) }),
      handle: async (context, { query }) => {
        const at = inReach(context, await context.workspaceIfNamed());
        const isWanted = (row: ConfigRow): boolean => row.status === (query.status ?? 'active') && isFound(row, query.search);
        return { success: true, ...await filteredPage(context, configs, at, query, isWanted, ({ row }) => head(row)) };
      },
    }),
    create: operation({
      method: 'POST', path: '/configs', scope: 'configs.create', action: 'created', isAlone: ({ body }) => isTrue(body.is_default),
      body: object({ name: Type.Optional(nameField()), slug: Type.Optional(slugField()), config: configField(), is_default: Type.Optional(flag()) }),
      reply: writtenSchema,
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const { text, providers, guardrails } = await checkConfig(context, workspace.id, body.config, null);
        const slug = await freeSlug(context, configs, 'config', [workspace.id], body.slug, () => slugFrom(body.name ?? '', { prefix: 'pc', nameCharsMax: slugNameChars }));
        const [id, versionId] = [context.newId(), context.newId()];
        const row: ConfigRow = {
          id, organisationId: workspace.organisationId, workspaceId: workspace.id, slug, name: body.name ?? slug, isDefault: isTrue(body.is_default), status: 'active', versionId, version: 1,
          sealedConfig: context.sealer.seal(text, placeOf(configs, id, 'sealedConfig')), providers, guardrails, ownerId: context.actorId, updatedBy: context.actorId,
          createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        context.change.insert(configs, row);
        insertVersion(context, row, versionId, 1, text);
        if (row.isDefault) await clearDefault(context, row.workspaceId, row.id);
        return written(row);
      },
    }),
    read: operation({
      method: 'GET', path: '/configs/{slug}', scope: 'configs.read', query: object({ version: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'number or id of an earlier version' })) }),
      reply: twice(configSchema),
      handle: async (context, { params, query }) => read(context, await configOf(context, params.slug ?? ''), query.version),
    }),
    update: operation({
      method: 'PUT', path: '/configs/{slug}', scope: 'configs.update', action: 'updated', isAlone: ({ body }) => isTrue(body.is_default),
      body: object({ name: Type.Optional(nameField()), config: Type.Optional(configField()), status: Type.Optional(choice(['active', 'archived'])), is_default: Type.Optional(flag()) }),
      reply: writtenSchema,
      handle: async (context, { params, body }) => {
        const stored = await configOf(context, params.slug ?? '');
        const before = stored.row;
        const row = {
          ...before, name: body.name ?? before.name, status: body.status ?? before.status, isDefault: body.is_default === undefined ? before.isDefault : isTrue(body.is_default),
          updatedBy: context.actorId, updatedAtMs: context.nowMs,
        };
        if (row.isDefault && !before.isDefault) await clearDefault(context, row.workspaceId, row.id);
        const textBefore = configTextOf(context, before);
        const checked = body.config === undefined ? undefined : await checkConfig(context, row.workspaceId, body.config, textBefore === null ? null : parse(textBefore));
        if (checked === undefined || checked.text === textBefore) {
          context.change.update(stored, row);
          return written(row);
        }
        const [versionId, version] = [context.newId(), before.version + 1];
        const after = { ...row, versionId, version, providers: checked.providers, guardrails: checked.guardrails, sealedConfig: context.sealer.seal(checked.text, placeOf(configs, row.id, 'sealedConfig')) };
        context.change.update(stored, after);
        insertVersion(context, row, versionId, version, checked.text);
        const tooOld = await context.repository.find(configVersions, 'number', [row.id, String(version - versionsMax)]);
        if (tooOld !== undefined) context.change.remove(tooOld);
        return written(after);
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/configs/{slug}', scope: 'configs.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await configOf(context, params.slug ?? '');
        await refuseUsed(context, stored);
        // Their secrets go with them.
        for (const version of await context.repository.list(configVersions, { index: 'config', parts: [stored.row.id], limit: versionsMax + 1 })) context.change.remove(version);
        context.change.remove(stored);
        return {};
      },
    }),
    versions: operation({
      method: 'GET', path: '/configs/{slug}/versions', scope: 'configs.read', query: object(pageQuery(versionsPage, versionsMax)),
      reply: listOf(versionSchema, { success: Type.Literal(true) }),
      handle: async (context, { params, query }) => {
        const { row } = await configOf(context, params.slug ?? '');
        const shown = async (version: Stored<ConfigVersionRow>): Promise<Reply> => {
          const { config, ...members } = await versionView(context, version.row);
          return { ...head(row), format: 'json', type: 'ORG_CONFIG', ...members, config: config === null ? null : JSON.stringify(config) };
        };
        return { success: true, ...await pageOf(context, configVersions, { index: 'config', parts: [row.id] }, query, shown) };
      },
    }),
  },
});
