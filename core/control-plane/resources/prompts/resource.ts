import { fail } from '../../../errors/gateway-error.js';
import { universalLabel } from '../../../prompts/labels.js';
import { isVersionNumber, promptName } from '../../../prompts/prompt-name.js';
import type { PromptTemplate } from '../../../prompts/prompt-template.js';
import type { Stored } from '../../../storage/change.js';
import { anyObject, object, orNull } from '../../../storage/schema-parts.js';
import { promptLabels, prompts, promptVersions, type PromptRow, type PromptVersionRow } from '../../../storage/tables/prompts.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation } from '../../define-resource.js';
import { idText, listOf, nothing } from '../../envelope.js';
import { filteredPage, inReach, pageOf, pageQuery, searchField } from '../../paging.js';
import { nameField, slugField, slugFrom } from '../../slugs.js';
import { collectionNamed } from '../collections/find-collection.js';
import { findRow, freeSlug, idCharsShown } from '../common/find-row.js';
import { collectionField, emptyVersion, isVersioned, stringField, versionContent, versionFields } from './prompt-fields.js';
import { promptSchema, promptView, summarySchema, summaryView, versionSchema, versionView } from './prompt-view.js';
import { checkPartials, dropOldest, usesWith, versionAt, versionsMax, versionsPage, wantedBy } from './versions.js';

const promptsPage = 100;
const slugNameChars = 20;
/** Versions of one prompt that have a label. */
const labelledMax = 50;

const versionNumber = () => Type.Integer({ minimum: 1, maximum: 999_999_999 });

const promptAt = (context: ControlContext, idOrSlug: string): Promise<Stored<PromptRow>> => findRow(context, prompts, 'prompt', idOrSlug);

async function labelIdOf(context: ControlContext, row: PromptRow, idOrName: string): Promise<string | undefined> {
  const universal = universalLabel(idOrName);
  if (universal !== undefined) return universal.id;
  const stored = await context.byIdOrSlug(promptLabels, idOrName, [row.workspaceId]);
  return stored?.row.workspaceId === row.workspaceId ? stored.row.id : undefined;
}

/** `version` as of PromptName, or the id of one. Throws ROW_UNKNOWN. */
async function versionNamed(context: ControlContext, row: PromptRow, version: string): Promise<PromptVersionRow> {
  const { repository } = context;
  const unknown = (): Error => fail('ROW_UNKNOWN', { kind: 'version', id: `${version.slice(0, idCharsShown)} of the prompt ${row.slug}` });
  if (version === '' || version === 'latest' || isVersionNumber(version)) {
    return (await versionAt(context, promptVersions, row.id, version === '' ? row.published : version === 'latest' ? row.latest : Number(version), `the prompt ${row.slug}`)).row;
  }
  const labelId = await labelIdOf(context, row, version);
  const id = labelId === undefined ? version : row.labels.find((label) => label.labelId === labelId)?.versionId;
  const stored = id === undefined ? undefined : await repository.get(promptVersions, id);
  if (stored === undefined || stored.row.promptId !== row.id) throw unknown();
  return stored.row;
}

function insertVersion(context: ControlContext, row: Pick<PromptRow, 'id' | 'workspaceId'>, id: string, number: number, content: Awaited<ReturnType<typeof versionContent>>['content']): void {
  context.change.insert(promptVersions, { id, promptId: row.id, workspaceId: row.workspaceId, number, ...content, createdBy: context.actorId, createdAtMs: context.nowMs });
}

const partialsOf = (row: PromptVersionRow): PromptTemplate['partials'] => (JSON.parse(row.template) as PromptTemplate).partials;

export const promptsResource = defineResource({
  name: 'prompts',
  kind: 'prompt',
  operations: {
    create: operation({
      method: 'POST', path: '/prompts', scope: 'prompts.create', action: 'created',
      body: object({ ...versionFields, name: nameField(), slug: Type.Optional(slugField()), collection_id: collectionField(), string: stringField(), parameters: anyObject() }),
      reply: object({ id: idText(), slug: Type.String(), version_id: idText(), object: Type.Literal('prompt') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        const collection = await collectionNamed(context, workspace, body.collection_id, 'collection_id');
        const { content, template } = await versionContent(context, workspace.id, body, null);
        const slug = await freeSlug(context, prompts, 'prompt', [workspace.id], body.slug, () => slugFrom(body.name, { prefix: 'pp', nameCharsMax: slugNameChars }));
        const [id, versionId] = [context.newId(), context.newId()];
        const row: PromptRow = {
          id, organisationId: workspace.organisationId, workspaceId: workspace.id, slug, name: body.name, collectionId: collection.id, status: 'active', published: 1, publishedId: versionId, latest: 1, latestId: versionId,
          uses: usesWith({ published: 1, latest: 1, uses: [] }, 1, template.partials), createdBy: context.actorId, createdAtMs: context.nowMs, updatedAtMs: context.nowMs, model: content.model, labels: [],
        };
        context.change.insert(prompts, row);
        insertVersion(context, row, versionId, 1, content);
        return { id, slug, version_id: versionId, object: 'prompt' };
      },
    }),
    list: operation({
      method: 'GET', path: '/prompts', scope: 'prompts.list',
      query: object({ ...pageQuery(promptsPage), collection_id: collectionField(), search: searchField() }), reply: listOf(summarySchema),
      handle: async (context, { query }) => {
        const workspace = await context.workspaceIfNamed();
        return filteredPage(context, prompts, inReach(context, workspace), query, await wantedBy(context, workspace, query), ({ row }) => summaryView(row));
      },
    }),
    read: operation({
      method: 'GET', path: '/prompts/{promptId}', scope: 'prompts.read', reply: promptSchema,
      query: object({ version: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'number, id or label of a version, or latest; the published one when it is left out' })) }),
      handle: async (context, { params, query }) => {
        const { idOrSlug, version } = promptName(params.promptId ?? '');
        const { row } = await promptAt(context, idOrSlug);
        return promptView(context, row, await versionNamed(context, row, query.version ?? version));
      },
    }),
    update: operation({
      method: 'PUT', path: '/prompts/{promptId}', scope: 'prompts.update', action: 'updated',
      body: object({
        ...versionFields, patch: Type.Optional(Type.Boolean({ description: 'what is left out is as in the newest version' })), name: Type.Optional(nameField()), collection_id: collectionField(),
        string: Type.Optional(stringField()), parameters: Type.Optional(anyObject()),
        publish: Type.Optional(Type.Boolean({ description: 'the new version is published at once; takes the scope prompts.publish as well' })),
      }),
      reply: object({ id: Type.Optional(idText()), slug: Type.Optional(Type.String()), prompt_version_id: Type.Optional(idText('absent: no new version was made')) }),
      handle: async (context, { params, body }) => {
        const stored = await promptAt(context, params.promptId ?? '');
        const before = stored.row;
        const workspace = await context.repository.get(workspaces, before.workspaceId);
        if (workspace === undefined) throw fail('ROW_UNKNOWN', { kind: 'workspace', id: before.workspaceId });
        const collectionId = body.collection_id === undefined ? before.collectionId : (await collectionNamed(context, workspace.row, body.collection_id, 'collection_id')).id;
        const row = { ...before, name: body.name ?? before.name, collectionId, updatedAtMs: context.nowMs };
        if (!isVersioned(body)) {
          if (body.publish === true) throw fail('FIELD_INVALID', { param: 'publish', reason: 'is for a new version, and nothing here makes one; publish another one with makeDefault' });
          context.change.update(stored, row);
          return {};
        }
        const newest = (await versionAt(context, promptVersions, row.id, row.latest, `the prompt ${row.slug}`)).row;
        if (body.patch !== true) {
          for (const name of ['string', 'parameters', ...(newest.model === null ? [] : ['model' as const])] as const) {
            if (body[name] === undefined) throw fail('FIELD_INVALID', { param: name, reason: 'is required, unless patch is true' });
          }
        }
        const { content, template } = await versionContent(context, row.workspaceId, body, body.patch === true ? newest : emptyVersion(newest));
        const [id, number] = [context.newId(), row.latest + 1];
        if (body.publish === true) context.require('prompts.publish');
        const published = body.publish === true ? { published: number, publishedId: id, model: content.model } : {};
        const after = { ...row, latest: number, latestId: id, ...published };
        context.change.update(stored, { ...after, uses: usesWith(after, number, template.partials) });
        insertVersion(context, row, id, number, content);
        await dropOldest(context, promptVersions, 'prompt', row.id, after);
        return { id: row.id, slug: row.slug, prompt_version_id: id };
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/prompts/{promptId}', scope: 'prompts.delete', action: 'deleted', reply: nothing,
      handle: async (context, { params }) => {
        const stored = await promptAt(context, params.promptId ?? '');
        for (const version of await context.repository.list(promptVersions, { index: 'prompt', parts: [stored.row.id], limit: versionsMax + 1 })) context.change.remove(version);
        context.change.remove(stored);
        return {};
      },
    }),
    versions: operation({
      method: 'GET', path: '/prompts/{promptId}/versions', scope: 'prompts.read', query: object(pageQuery(versionsPage, versionsMax)), reply: listOf(versionSchema),
      handle: async (context, { params, query }) => {
        const { row } = await promptAt(context, params.promptId ?? '');
        return pageOf(context, promptVersions, { index: 'prompt', parts: [row.id] }, query, (version) => versionView(context, row, version.row));
      },
    }),
    version: operation({
      method: 'GET', path: '/prompts/{promptId}/versions/{versionId}', scope: 'prompts.read', reply: promptSchema,
      handle: async (context, { params }) => {
        const { row } = await promptAt(context, params.promptId ?? '');
        return promptView(context, row, await versionNamed(context, row, params.versionId ?? ''));
      },
    }),
    updateVersion: operation({
      method: 'PUT', path: '/prompts/{promptId}/versions/{versionId}', scope: 'prompts.update', action: 'updated',
      body: object({ label_id: orNull(Type.String({ minLength: 1, maxLength: 64, description: 'id or name; null takes the label away' })) }), reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await promptAt(context, params.promptId ?? '');
        const { row } = stored;
        const version = await versionNamed(context, row, params.versionId ?? '');
        const labelId = body.label_id === null ? null : await labelIdOf(context, row, body.label_id);
        if (labelId === undefined) throw fail('REFERENCE_UNKNOWN', { param: 'label_id', kind: 'label', id: `${String(body.label_id).slice(0, idCharsShown)} in this workspace` });
        const others = row.labels.filter((label) => label.number !== version.number && label.labelId !== labelId);
        if (labelId !== null && others.length >= labelledMax) throw fail('FIELD_INVALID', { param: 'label_id', reason: `is one too many: at most ${labelledMax} versions of a prompt have a label` });
        const after = { ...row, labels: labelId === null ? others : [...others, { labelId, number: version.number, versionId: version.id }], updatedAtMs: context.nowMs };
        context.change.update(stored, { ...after, uses: usesWith(after, version.number, partialsOf(version)) });
        return {};
      },
    }),
    publish: operation({
      method: 'PUT', path: '/prompts/{promptId}/makeDefault', scope: 'prompts.publish', action: 'published', body: object({ version: versionNumber() }), reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await promptAt(context, params.promptId ?? '');
        const version = (await versionAt(context, promptVersions, stored.row.id, body.version, `the prompt ${stored.row.slug}`)).row;
        await checkPartials(context, stored.row.workspaceId, partialsOf(version), null);
        const after = { ...stored.row, published: version.number, publishedId: version.id, model: version.model, updatedAtMs: context.nowMs };
        context.change.update(stored, { ...after, uses: usesWith(after, version.number, partialsOf(version)) });
        return {};
      },
    }),
  },
});
