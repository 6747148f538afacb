import { fail } from '../../../errors/gateway-error.js';
import { parseTemplate, type Template } from '../../../prompts/template.js';
import type { Stored } from '../../../storage/change.js';
import { choice, object } from '../../../storage/schema-parts.js';
import { partialVersions, promptPartials, type PartialVersionRow, type PromptPartialRow } from '../../../storage/tables/prompts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeText } from '../../envelope.js';
import { filteredPage, inReach, pageOf, pageQuery, searchField } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { collectionNamed } from '../collections/find-collection.js';
import { findRow, freeSlug } from '../common/find-row.js';
import { collectionField, descriptionField, stringField } from '../prompts/prompt-fields.js';
import { checkPartials, dropOldest, parsedTemplate, pinnedNumbers, refuseUsedPartial, usesWith, versionAt, versionsMax, versionsPage, wantedBy } from '../prompts/versions.js';

const partialsPage = 100;
const slugNameChars = 20;
const status = () => choice(['active', 'archived']);

const headMembers = {
  id: idText(), slug: Type.String(), name: Type.String(), workspace_id: idText(), collection_id: idText(), created_at: timeText(), last_updated_at: timeText(), status: status(), object: Type.Literal('partial'),
};
const versionSchema = named('PartialVersion', object({
  prompt_partial_id: idText(), prompt_partial_version_id: idText(), slug: Type.String(), version: Type.Integer({ minimum: 1 }), string: Type.String(), description: Type.String(), created_at: timeText(),
  prompt_version_status: choice(['active', 'archived'], { description: 'active: the published one' }), object: Type.Literal('partial'),
}));

const head = (row: PromptPartialRow): Reply => ({
  id: row.id, slug: row.slug, name: row.name, workspace_id: row.workspaceId, collection_id: row.collectionId, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), status: row.status,
  object: 'partial',
});
const versionView = (row: PromptPartialRow, version: PartialVersionRow): Reply => ({
  prompt_partial_id: row.id, prompt_partial_version_id: version.id, slug: row.slug, version: version.number, string: version.string, description: version.description, created_at: time(version.createdAtMs),
  prompt_version_status: version.number === row.published ? 'active' : 'archived', object: 'partial',
});

const partialAt = (context: ControlContext, idOrSlug: string): Promise<Stored<PromptPartialRow>> => findRow(context, promptPartials, 'partial', idOrSlug);

function insertVersion(context: ControlContext, row: Pick<PromptPartialRow, 'id' | 'workspaceId'>, id: string, number: number, string: string, template: Template, description: string | null | undefined): void {
  context.change.insert(partialVersions, {
    id, partialId: row.id, workspaceId: row.workspaceId, number, description: description ?? '', string, template: JSON.stringify(template), createdBy: context.actorId, createdAtMs: context.nowMs,
  });
}

export const promptPartialsResource = defineResource({
  name: 'prompt-partials',
  kind: 'partial',
  operations: {
    create: operation({
      method: 'POST', path: '/prompts/partials', aliases: ['/prompt-partials'], scope: 'prompts.create', action: 'created',
      body: object({ name: nameField(), slug: Type.Optional(slugField()), collection_id: collectionField(), string: stringField(), version_description: descriptionField() }),
      reply: object({ id: idText(), slug: Type.String(), version_id: idText(), object: Type.Literal('partial') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const collection = await collectionNamed(context, workspace, body.collection_id, 'collection_id');
        const template = parsedTemplate('string', () => parseTemplate(body.string));
        await checkPartials(context, workspace.id, template.partials, body.slug ?? null);
        const slug = await freeSlug(context, promptPartials, 'partial', [workspace.id], body.slug, () => slugFrom(body.name, { prefix: 'pp', nameCharsMax: slugNameChars }));
        const [id, versionId] = [context.newId(), context.newId()];
        const row: PromptPartialRow = {
          id, organisationId: workspace.organisationId, workspaceId: workspace.id, slug, name: body.name, collectionId: collection.id, status: 'active', published: 1, publishedId: versionId, latest: 1, latestId: versionId,
          uses: usesWith({ published: 1, latest: 1, uses: [] }, 1, template.partials), createdBy: context.actorId, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        context.change.insert(promptPartials, row);
        insertVersion(context, row, versionId, 1, body.string, template, body.version_description);
        return { id, slug, version_id: versionId, object: 'partial' };
      },
    }),
    list: operation({
      method: 'GET', path: '/prompts/partials', aliases: ['/prompt-partials'], scope: 'prompts.list',
      query: object({ ...pageQuery(partialsPage), collection_id: collectionField(), search: searchField() }), reply: listOf(named('PartialSummary', object(headMembers))),
      handle: async (context, { query }) => {
        const workspace = await context.workspaceIfNamed();
        return filteredPage(context, promptPartials, inReach(context, workspace), query, await wantedBy(context, workspace, query), ({ row }) => head(row));
      },
    }),
    read: operation({
      method: 'GET', path: '/prompts/partials/{promptPartialId}', aliases: ['/prompt-partials/{promptPartialId}'], scope: 'prompts.read',
      query: object({ version: Type.Optional(Type.Unsafe<string>({ type: 'string', pattern: '^(?:latest|[1-9]\\d{0,8})$', description: 'number of a version, or latest; the published one when it is left out' })) }),
      reply: named('Partial', object({ ...headMembers, string: Type.String(), version: Type.Integer({ minimum: 1 }), version_description: Type.String(), prompt_partial_version_id: idText() })),
      handle: async (context, { params, query }) => {
        const { row } = await partialAt(context, params.promptPartialId ?? '');
        const number = query.version === undefined ? row.published : query.version === 'latest' ? row.latest : Number(query.version);
        const version = (await versionAt(context, partialVersions, row.id, number, `the partial ${row.slug}`)).row;
        return { ...head(row), string: version.string, version: version.number, version_description: version.description, prompt_partial_version_id: version.id };
      },
    }),
    update: operation({
      method: 'PUT', path: '/prompts/partials/{promptPartialId}', aliases: ['/prompt-partials/{promptPartialId}'], scope: 'prompts.update', action: 'updated',
      body: object({
        name: Type.Optional(nameField()), collection_id: collectionField(), string: Type.Optional(stringField()), description: descriptionField(), version_description: descriptionField(), status: Type.Optional(status()),
        publish: Type.Optional(Type.Boolean({ description: 'the new version is published at once; takes the scope prompts.publish as well' })),
      }),
      reply: object({ prompt_partial_version_id: idText('of the newest version') }),
      handle: async (context, { params, body }) => {
        const stored = await partialAt(context, params.promptPartialId ?? '');
        const before = stored.row;
        if (body.status === 'archived' && before.status !== 'archived') await refuseUsedPartial(context, before);
        const collectionId = body.collection_id === undefined ? before.collectionId
          : (await collectionNamed(context, await context.workspace(before.workspaceId), body.collection_id, 'collection_id')).id;
        const row = { ...before, name: body.name ?? before.name, collectionId, status: body.status ?? before.status, updatedAtMs: context.nowMs };
        if (body.string === undefined) {
          if (body.publish === true) throw fail('FIELD_INVALID', { param: 'publish', reason: 'is for a new version, and nothing here makes one; publish another one with makeDefault' });
          if (body.description !== undefined || body.version_description !== undefined) throw fail('FIELD_INVALID', { param: 'string', reason: 'is required with a description: it is that of a new version' });
          context.change.update(stored, row);
          return { prompt_partial_version_id: row.latestId };
        }
        const { string } = body;
        const template = parsedTemplate('string', () => parseTemplate(string));
        await checkPartials(context, row.workspaceId, template.partials, row.slug);
        const [id, number] = [context.newId(), row.latest + 1];
        if (body.publish === true) context.require('prompts.publish');
        const after = { ...row, latest: number, latestId: id, ...(body.publish === true ? { published: number, publishedId: id } : {}) };
        context.change.update(stored, { ...after, uses: usesWith(after, number, template.partials) });
        insertVersion(context, row, id, number, string, template, body.version_description ?? body.description);
        await dropOldest(context, partialVersions, 'partial', row.id, after, () => pinnedNumbers(context, after));
        return { prompt_partial_version_id: id };
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/prompts/partials/{promptPartialId}', aliases: ['/prompt-partials/{promptPartialId}'], scope: 'prompts.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await partialAt(context, params.promptPartialId ?? '');
        await refuseUsedPartial(context, stored.row);
        for (const version of await context.repository.list(partialVersions, { index: 'partial', parts: [stored.row.id], limit: versionsMax + 1 })) context.change.remove(version);
        context.change.remove(stored);
        return {};
      },
    }),
    versions: operation({
      method: 'GET', path: '/prompts/partials/{promptPartialId}/versions', aliases: ['/prompt-partials/{promptPartialId}/versions'], scope: 'prompts.read', query: object(pageQuery(versionsPage, versionsMax)),
      reply: listOf(versionSchema),
      handle: async (context, { params, query }) => {
        const { row } = await partialAt(context, params.promptPartialId ?? '');
        return pageOf(context, partialVersions, { index: 'partial', parts: [row.id] }, query, (version) => versionView(row, version.row));
      },
    }),
    publish: operation({
      method: 'PUT', path: '/prompts/partials/{promptPartialId}/makeDefault', aliases: ['/prompt-partials/{promptPartialId}/makeDefault'], scope: 'prompts.publish', action: 'published',
      body: object({ version: Type.Integer({ minimum: 1, maximum: 999_999_999 }) }), reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await partialAt(context, params.promptPartialId ?? '');
        const { row } = stored;
        const version = (await versionAt(context, partialVersions, row.id, body.version, `the partial ${row.slug}`)).row;
        const { partials }: Template = JSON.parse(version.template);
        await checkPartials(context, row.workspaceId, partials, row.slug);
        const after = { ...row, published: version.number, publishedId: version.id, updatedAtMs: context.nowMs };
        context.change.update(stored, { ...after, uses: usesWith(after, version.number, partials) });
        return {};
      },
    }),
  },
});
