// Secret references: secrets that stand with a manager of their own, and are mapped into integrations and virtual keys.

import { fail } from '../../../errors/gateway-error.js';
import { sourcePluginOf, type SourcePlugin } from '../../../secrets/source-plugin.js';
import type { Stored } from '../../../storage/change.js';
import { anyObject, choice, object, orNull, textMap } from '../../../storage/schema-parts.js';
import { secretReferences, type SecretReferenceRow } from '../../../storage/tables/secret-references.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeText } from '../../envelope.js';
import { filteredPage, pageQuery } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { freeSlug, idCharsShown } from '../common/find-row.js';
import { authOf, checkedAuth, checkSource, shownAuth } from './auth-config.js';
import { referenceUsers } from './reference-users.js';

const referencesMax = 2_000;
const workspacesMax = 1_000;
const pageSizeMax = 100;
const pageSize = 20;

const tagsField = () => Type.Unsafe<Readonly<Record<string, string>> | null>({ type: ['object', 'null'], maxProperties: 64, propertyNames: { type: 'string', minLength: 1, maxLength: 128 }, additionalProperties: { type: 'string', maxLength: 256 } });
const fields = {
  description: Type.Optional(orNull(Type.String({ maxLength: 1024 }))),
  secret_key: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
  allow_all_workspaces: Type.Optional(Type.Boolean({ description: 'true unless allowed_workspaces is given' })),
  allowed_workspaces: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: workspacesMax, description: 'ids or slugs' })),
  tags: Type.Optional(tagsField()),
};
const pathField = () => Type.String({ minLength: 1, maxLength: 1024, description: 'where the secret lies, as its manager has it' });

const headMembers = {
  id: idText(), name: Type.String(), slug: Type.String(), manager_type: Type.String(), status: choice(['ACTIVE']), created_at: timeText(), last_updated_at: timeText(), object: Type.Literal('secret-reference'),
};
const referenceSchema = named('SecretReference', object({
  ...headMembers, organisation_id: idText(), description: orNull(Type.String()), secret_path: Type.String(), secret_key: orNull(Type.String()), allow_all_workspaces: Type.Boolean(),
  allowed_workspaces: Type.Array(Type.String()), tags: orNull(textMap()), created_by: Type.String(), auth_config: anyObject(),
}));

const head = (row: SecretReferenceRow): Reply => ({
  id: row.id, name: row.name, slug: row.slug, manager_type: row.managerType, status: 'ACTIVE', created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'secret-reference',
});

async function referenceOf(context: ControlContext, idOrSlug: string): Promise<Stored<SecretReferenceRow>> {
  const { organisationId } = context.caller;
  const stored = await context.byIdOrSlug(secretReferences, idOrSlug, [organisationId]);
  const id = idOrSlug.slice(0, idCharsShown);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'secret reference', id });
  if (stored.row.organisationId !== organisationId) throw fail('WORKSPACE_FOREIGN', { kind: 'secret reference', id });
  context.subject = stored;
  return stored;
}

async function managerFor(context: ControlContext, managerType: string): Promise<SourcePlugin> {
  const { registry } = context.services;
  const manager = await sourcePluginOf(registry, managerType);
  if (manager === undefined) throw fail('FIELD_INVALID', { param: 'manager_type', reason: `is not an installed manager; there are ${registry.list('secrets').map((id) => id.replaceAll('-', '_')).join(', ')}, and others come with a plugin of the kind secrets` });
  return manager;
}

interface GivenAccess {
  readonly allow_all_workspaces?: boolean;
  readonly allowed_workspaces?: readonly string[];
}

async function accessOf(context: ControlContext, given: GivenAccess, before: Pick<SecretReferenceRow, 'allowsAllWorkspaces' | 'workspaces'>): Promise<Pick<SecretReferenceRow, 'allowsAllWorkspaces' | 'workspaces'>> {
  const { allow_all_workspaces: all, allowed_workspaces: listed } = given;
  if (all === true && listed !== undefined) throw fail('FIELD_INVALID', { param: 'allowed_workspaces', reason: 'cannot stand beside allow_all_workspaces: true; give one of the two' });
  if (all === true) return { allowsAllWorkspaces: true, workspaces: [] };
  if (listed === undefined) {
    if (all === false && before.workspaces.length === 0) throw fail('FIELD_INVALID', { param: 'allowed_workspaces', reason: 'is required with allow_all_workspaces: false' });
    return { allowsAllWorkspaces: before.allowsAllWorkspaces && all !== false, workspaces: before.workspaces };
  }
  const ids = new Set<string>();
  for (const [index, each] of listed.entries()) {
    ids.add((await context.namedWorkspace(each, `allowed_workspaces.${index}`)).id);
  }
  return { allowsAllWorkspaces: false, workspaces: [...ids] };
}

/** `a,b=c`: has the tag a, and b with the value c. */
function hasTags(row: SecretReferenceRow, wanted: string): boolean {
  return wanted.split(',').map((each) => each.trim()).filter((each) => each !== '').every((each) => {
    const [name = '', value] = each.split(/[=:]/, 2);
    const tag = row.tags !== null && Object.hasOwn(row.tags, name) ? row.tags[name] : undefined;
    return tag !== undefined && (value === undefined || tag === value);
  });
}

export const secretReferencesResource = defineResource({
  name: 'secret-references',
  kind: 'secret reference',
  operations: {
    list: operation({
      method: 'GET', path: '/secret-references', scope: 'secret_references.list',
      query: object({
        ...pageQuery(pageSize, pageSizeMax), manager_type: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })), tags: Type.Optional(Type.String({ maxLength: 1024, description: 'name, or name=value; several with commas' })),
        search: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'part of the name or the slug' })),
      }),
      reply: listOf(named('SecretReferenceSummary', object(headMembers))),
      handle: (context, { query: { manager_type: type, tags = '', search = '', ...page } }) => {
        const [wantedType, wantedText] = [type?.replaceAll('-', '_').toLowerCase(), search.toLowerCase()];
        const isWanted = (row: SecretReferenceRow): boolean =>
          (wantedType === undefined || row.managerType.replaceAll('-', '_').toLowerCase() === wantedType) && (row.name.toLowerCase().includes(wantedText) || row.slug.toLowerCase().includes(wantedText)) && hasTags(row, tags);
        return filteredPage(context, secretReferences, { index: 'organisation', parts: [context.caller.organisationId] }, { page_size: pageSize, ...page }, isWanted, ({ row }) => head(row));
      },
    }),
    create: operation({
      method: 'POST', path: '/secret-references', scope: 'secret_references.create', action: 'created', isAlone: countsRows,
      body: object({ ...fields, name: nameField(), slug: Type.Optional(slugField()), manager_type: Type.String({ minLength: 1, maxLength: 64, description: 'id of a plugin for secrets, or what it calls itself besides' }), auth_config: Type.Optional(anyObject()), secret_path: pathField() }),
      reply: object({ id: idText(), slug: Type.String(), object: Type.Literal('secret-reference') }),
      handle: async (context, { body }) => {
        const { organisationId, keyId } = context.caller;
        const manager = await managerFor(context, body.manager_type);
        const id = context.newId();
        const { row: auth, members } = await checkedAuth(context, manager, id, body.auth_config ?? {}, null);
        await checkSource(context, manager, members, body.secret_path);
        if (await context.repository.count(secretReferences, 'organisation', [organisationId]) >= referencesMax) throw fail('FIELD_INVALID', { param: 'name', reason: `would be the name of more than ${referencesMax} references; remove some` });
        const slug = await freeSlug(context, secretReferences, 'secret reference', [organisationId], body.slug, () => slugFrom(body.name));
        context.change.insert(secretReferences, {
          id, organisationId, slug, name: body.name, description: body.description ?? null, managerType: body.manager_type, managerId: manager.id, ...auth, path: body.secret_path, key: body.secret_key || null,
          ...await accessOf(context, body, { allowsAllWorkspaces: true, workspaces: [] }), tags: body.tags ?? null, createdBy: keyId, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        });
        return { id, slug, object: 'secret-reference' };
      },
    }),
    read: operation({
      method: 'GET', path: '/secret-references/{secretReferenceId}', scope: 'secret_references.read', reply: referenceSchema,
      handle: async (context, { params }) => {
        const { row } = await referenceOf(context, params.secretReferenceId ?? '');
        return {
          ...head(row), organisation_id: row.organisationId, description: row.description, secret_path: row.path, secret_key: row.key, allow_all_workspaces: row.allowsAllWorkspaces, allowed_workspaces: row.workspaces,
          tags: row.tags, created_by: row.createdBy, auth_config: shownAuth(row),
        };
      },
    }),
    update: operation({
      method: 'PUT', path: '/secret-references/{secretReferenceId}', scope: 'secret_references.update', action: 'updated', reply: nothing,
      body: object({ ...fields, name: Type.Optional(nameField()), auth_config: Type.Optional(anyObject()), secret_path: Type.Optional(pathField()), manager_type: Type.Optional(Type.String()), slug: Type.Optional(Type.String()) }),
      handle: async (context, { params, body }) => {
        const stored = await referenceOf(context, params.secretReferenceId ?? '');
        const { row } = stored;
        const manager = await managerFor(context, row.managerId);
        if (body.manager_type !== undefined && (await sourcePluginOf(context.services.registry, body.manager_type))?.id !== row.managerId) throw fail('FIELD_INVALID', { param: 'manager_type', reason: 'cannot be changed; make another reference' });
        if (body.slug !== undefined && body.slug !== row.slug) throw fail('FIELD_INVALID', { param: 'slug', reason: 'cannot be changed; make another reference' });
        const auth = body.auth_config === undefined ? null : await checkedAuth(context, manager, row.id, body.auth_config, row);
        const path = body.secret_path ?? row.path;
        if (auth !== null || path !== row.path) await checkSource(context, manager, auth?.members ?? authOf(context, row), path);
        context.change.update(stored, {
          ...row, ...auth?.row, path, name: body.name ?? row.name, description: body.description === undefined ? row.description : body.description,
          key: body.secret_key === undefined ? row.key : body.secret_key || null, ...await accessOf(context, body, row), tags: body.tags === undefined ? row.tags : body.tags, updatedAtMs: context.nowMs,
        });
        return {};
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/secret-references/{secretReferenceId}', scope: 'secret_references.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await referenceOf(context, params.secretReferenceId ?? '');
        const users = await referenceUsers(context, stored.row.id);
        if (users.length > 0) throw fail('SECRET_REFERENCE_USED', { slug: stored.row.slug, users: users.join(', ') });
        context.change.remove(stored);
        return {};
      },
    }),
  },
});
