import { fail } from '../../../errors/gateway-error.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { promptCollections, promptPartials, prompts, type PromptCollectionRow } from '../../../storage/tables/prompts.js';
import { Type, type Properties } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeOrNull, timeText, timeTextOrNull } from '../../envelope.js';
import { isFound, pageAmong, pageQuery, searchField } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { freeSlug } from '../common/find-row.js';
import { collectionAt, collectionNamed, defaultCollection, defaultSlug, isDefault } from './find-collection.js';

/** Of collections in collections. */
const levelsMax = 10;
const childrenShown = 1000;
const slugNameChars = 20;
const collectionsPage = 100;

const details = object({
  child_collections_count: Type.Integer({ minimum: 0 }), prompts_count: Type.Integer({ minimum: 0 }), child_collections_last_updated_at: timeTextOrNull(), prompts_last_updated_at: timeTextOrNull(),
});
const members = {
  id: idText(), name: Type.String(), slug: Type.String(), workspace_id: idText(), organisation_id: idText(), parent_collection_id: orNull(idText()), is_default: Type.Boolean(), status: choice(['active', 'archived']),
  created_at: timeText(), last_updated_at: timeText(), object: Type.Literal('collection'), collection_details: details,
} satisfies Properties;
const child = object({ id: idText(), name: Type.String(), slug: Type.String(), last_updated_at: timeText(), collection_details: details });

async function detailsOf({ repository }: ControlContext, { id }: PromptCollectionRow): Promise<Reply> {
  const [newestChild] = await repository.list(promptCollections, { index: 'parent', parts: [id], limit: 1, reverse: true });
  const [newestPrompt] = await repository.list(prompts, { index: 'collection', parts: [id], limit: 1, reverse: true });
  return {
    child_collections_count: await repository.count(promptCollections, 'parent', [id]), prompts_count: await repository.count(prompts, 'collection', [id]),
    child_collections_last_updated_at: timeOrNull(newestChild?.row.updatedAtMs ?? null), prompts_last_updated_at: timeOrNull(newestPrompt?.row.updatedAtMs ?? null),
  };
}

const view = async (context: ControlContext, row: PromptCollectionRow): Promise<Reply> => ({
  id: row.id, name: row.name, slug: row.slug, workspace_id: row.workspaceId, organisation_id: row.organisationId, parent_collection_id: row.parentId, is_default: isDefault(row), status: 'active',
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'collection', collection_details: await detailsOf(context, row),
});

async function requireRoom(context: ControlContext, parent: PromptCollectionRow): Promise<void> {
  let levels = 1;
  for (let at: PromptCollectionRow | undefined = parent; at !== undefined; levels += 1) {
    if (levels > levelsMax) throw fail('FIELD_INVALID', { param: 'parent_collection_id', reason: `would nest collections deeper than ${levelsMax} levels` });
    at = at.parentId === null ? undefined : (await context.repository.get(promptCollections, at.parentId))?.row;
  }
}

export const collectionsResource = defineResource({
  name: 'collections',
  kind: 'collection',
  operations: {
    create: operation({
      method: 'POST', path: '/collections', scope: 'prompts.create', action: 'created',
      body: object({ name: nameField(), slug: Type.Optional(slugField()), parent_collection_id: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 255 }))) }),
      reply: object({ id: idText(), slug: Type.String(), object: Type.Literal('collection') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const given = body.parent_collection_id ?? null;
        const parent = given === null ? null : await collectionNamed(context, workspace, given, 'parent_collection_id');
        if (parent !== null) await requireRoom(context, parent);
        if (body.slug === defaultSlug) throw fail('ROW_EXISTS', { kind: 'collection', id: defaultSlug, param: 'slug' });
        const slug = await freeSlug(context, promptCollections, 'collection', [workspace.id], body.slug, () => slugFrom(body.name, { prefix: 'col', nameCharsMax: slugNameChars }));
        const row: PromptCollectionRow = {
          id: context.newId(), organisationId: workspace.organisationId, workspaceId: workspace.id, slug, name: body.name, parentId: parent?.id ?? null,
          createdBy: context.actorId, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        context.change.insert(promptCollections, row);
        return { id: row.id, slug, object: 'collection' };
      },
    }),
    list: operation({
      method: 'GET', path: '/collections', scope: 'prompts.list', query: object({ ...pageQuery(collectionsPage), search: searchField() }), reply: listOf(named('Collection', object(members))),
      handle: async (context, { query }) => {
        const workspace = await context.workspace();
        async function* all(): AsyncGenerator<PromptCollectionRow> {
          for await (const { row } of context.repository.each(promptCollections, { index: 'workspace', parts: [workspace.id], reverse: true })) if (!isDefault(row)) yield row;
          // The oldest of all.
          yield (await context.repository.get(promptCollections, workspace.id))?.row ?? defaultCollection(workspace);
        }
        return pageAmong(all(), query, (row) => isFound(row, query.search), (row) => view(context, row));
      },
    }),
    read: operation({
      method: 'GET', path: '/collections/{collectionId}', scope: 'prompts.read', reply: object({ ...members, child_collections: Type.Array(child) }),
      handle: async (context, { params }) => {
        const { row } = await collectionAt(context, params.collectionId ?? '');
        const children: Reply[] = [];
        for (const { row: each } of await context.repository.list(promptCollections, { index: 'parent', parts: [row.id], limit: childrenShown, reverse: true })) {
          children.push({ id: each.id, name: each.name, slug: each.slug, last_updated_at: time(each.updatedAtMs), collection_details: await detailsOf(context, each) });
        }
        return { ...await view(context, row), child_collections: children };
      },
    }),
    update: operation({
      method: 'PUT', path: '/collections/{collectionId}', scope: 'prompts.update', action: 'updated', body: object({ name: nameField() }), reply: nothing,
      handle: async (context, { params, body }) => {
        const { row, stored } = await collectionAt(context, params.collectionId ?? '');
        const after = { ...row, name: body.name, updatedAtMs: context.nowMs };
        if (stored === null) context.change.insert(promptCollections, after);
        else context.change.update(stored, after);
        return {};
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/collections/{collectionId}', scope: 'prompts.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const { row, stored } = await collectionAt(context, params.collectionId ?? '');
        if (stored === null || isDefault(row)) throw fail('ACTION_FORBIDDEN', { reason: 'the default collection of a workspace cannot be deleted' });
        const users: string[] = [];
        for (const [table, kind, index] of [[prompts, 'prompt', 'collection'], [promptPartials, 'partial', 'collection'], [promptCollections, 'collection', 'parent']] as const) {
          const count = await context.repository.count(table, index, [row.id]);
          if (count > 0) users.push(`${count} ${kind}${count === 1 ? '' : 's'}`);
        }
        if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'collection', id: row.slug, users: users.join(', '), advice: 'move or delete what is in it first' });
        context.change.remove(stored);
        return {};
      },
    }),
  },
});
