import { fail } from '../../../errors/gateway-error.js';
import { universalLabel, universalLabels, type UniversalLabel } from '../../../prompts/labels.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { promptLabels, type PromptLabelRow } from '../../../storage/tables/prompts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { countsRows, defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, listOf, named, nothing, time, timeText } from '../../envelope.js';
import { inReach, pageAmong, pageQuery, searchField } from '../../paging.js';
import { findRow, idCharsShown } from '../common/find-row.js';

/** Labels of one workspace. */
const labelsMax = 100;
const labelsPage = 100;

/** Names that would be read as a version (`latest`, `default`, digits) are refused. */
const nameField = () => Type.String({ pattern: '^(?!latest$)(?!default$)(?!\\d+$)[a-zA-Z0-9_-]*[^@\\s]?[a-zA-Z0-9_-]*$', minLength: 1, maxLength: 64 });
const descriptionField = () => Type.Optional(Type.String({ maxLength: 1000 }));
const colorField = () => Type.Optional(Type.String({ maxLength: 32 }));

const labelSchema = named('Label', object({
  id: idText(), name: Type.String(), description: Type.String(), color_code: Type.String(), organisation_id: idText(), workspace_id: orNull(idText('null: of every workspace')), is_universal: Type.Boolean(),
  created_at: timeText(), last_updated_at: timeText(), status: choice(['active']), object: Type.Literal('label'),
}));

const view = (row: PromptLabelRow): Reply => ({
  id: row.id, name: row.slug, description: row.description, color_code: row.colorCode, organisation_id: row.organisationId, workspace_id: row.workspaceId, is_universal: false,
  created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), status: 'active', object: 'label',
});

async function universalView({ repository, caller }: ControlContext, { id, name, description, colorCode }: UniversalLabel): Promise<Reply> {
  const since = time((await repository.get(organisations, caller.organisationId))?.row.createdAtMs ?? 0);
  return {
    id, name, description, color_code: colorCode, organisation_id: caller.organisationId, workspace_id: null, is_universal: true, created_at: since, last_updated_at: since, status: 'active', object: 'label',
  };
}

const labelAt = async (context: ControlContext, idOrName: string): ReturnType<typeof findRow<PromptLabelRow>> => {
  if (universalLabel(idOrName) !== undefined) throw fail('ACTION_FORBIDDEN', { reason: `the label ${idOrName} is there for all workspaces, and stays as it is` });
  return findRow(context, promptLabels, 'label', idOrName);
};

const refuseTaken = async (context: ControlContext, workspaceId: string, name: string): Promise<void> => {
  const isTaken = universalLabel(name) !== undefined || await context.repository.find(promptLabels, 'slug', [workspaceId, name]) !== undefined;
  if (isTaken) throw fail('ROW_EXISTS', { kind: 'label', id: name.slice(0, idCharsShown), param: 'name' });
};

export const labelsResource = defineResource({
  name: 'labels',
  kind: 'label',
  operations: {
    create: operation({
      method: 'POST', path: '/labels', scope: 'prompts.create', action: 'created', isAlone: countsRows,
      body: object({ name: nameField(), description: descriptionField(), color_code: colorField() }), reply: object({ id: idText(), object: Type.Literal('label') }),
      handle: async (context, { body }) => {
        const workspace = await context.workspace();
        await refuseTaken(context, workspace.id, body.name);
        if (await context.repository.count(promptLabels, 'workspace', [workspace.id]) >= labelsMax) throw fail('FIELD_INVALID', { param: 'name', reason: `is one too many: a workspace has at most ${labelsMax} labels` });
        const row: PromptLabelRow = {
          id: context.newId(), organisationId: workspace.organisationId, workspaceId: workspace.id, slug: body.name, description: body.description ?? '', colorCode: body.color_code ?? '',
          createdBy: context.actorId, createdAtMs: context.nowMs, updatedAtMs: context.nowMs,
        };
        context.change.insert(promptLabels, row);
        return { id: row.id, object: 'label' };
      },
    }),
    list: operation({
      method: 'GET', path: '/labels', scope: 'prompts.list', query: object({ ...pageQuery(labelsPage), search: searchField() }), reply: listOf(labelSchema),
      handle: async (context, { query }) => {
        const at = inReach(context, await context.workspaceIfNamed());
        const search = query.search?.toLowerCase() ?? '';
        async function* all(): AsyncGenerator<PromptLabelRow | UniversalLabel> {
          for await (const { row } of context.repository.each(promptLabels, { ...at, reverse: true })) yield row;
          yield* universalLabels;
        }
        return pageAmong(all(), query, (label) => ('slug' in label ? label.slug : label.name).toLowerCase().includes(search), (label) => ('slug' in label ? view(label) : universalView(context, label)));
      },
    }),
    read: operation({
      method: 'GET', path: '/labels/{labelId}', scope: 'prompts.read', reply: labelSchema,
      handle: async (context, { params }) => {
        const universal = universalLabel(params.labelId ?? '');
        return universal === undefined ? view((await labelAt(context, params.labelId ?? '')).row) : universalView(context, universal);
      },
    }),
    update: operation({
      method: 'PUT', path: '/labels/{labelId}', scope: 'prompts.update', action: 'updated',
      body: object({ name: Type.Optional(nameField()), description: descriptionField(), color_code: colorField() }), reply: nothing,
      handle: async (context, { params, body }) => {
        const stored = await labelAt(context, params.labelId ?? '');
        const { row } = stored;
        if (body.name !== undefined && body.name !== row.slug) await refuseTaken(context, row.workspaceId, body.name);
        context.change.update(stored, { ...row, slug: body.name ?? row.slug, description: body.description ?? row.description, colorCode: body.color_code ?? row.colorCode, updatedAtMs: context.nowMs });
        return {};
      },
    }),
    delete: operation({
      method: 'DELETE', path: '/labels/{labelId}', scope: 'prompts.delete', action: 'deleted', reply: nothing,
      // Versions that have it keep nothing of it: its id is found by nobody any more.
      handle: async (context, { params }) => {
        context.change.remove(await labelAt(context, params.labelId ?? ''));
        return {};
      },
    }),
  },
});
