// Prompts and their versions as replies show them.

import { universalLabels } from '../../../prompts/labels.js';
import { anyObject, choice, object, orNull } from '../../../storage/schema-parts.js';
import { promptLabels, type PromptRow, type PromptVersionRow } from '../../../storage/tables/prompts.js';
import { Type } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import type { Reply } from '../../define-resource.js';
import { idText, named, time, timeText, zeroOrOne } from '../../envelope.js';

const status = () => choice(['active', 'archived']);
const versionStatus = () => choice(['active', 'archived'], { description: 'active: the published one' });
const objects = () => Type.Array(anyObject());
const toolChoice = () => Type.Unsafe<unknown>({ type: ['object', 'string', 'null'] });

export const summarySchema = named('PromptSummary', object({
  id: idText(), slug: Type.String(), name: Type.String(), workspace_id: idText(), collection_id: idText(), model: orNull(Type.String()), status: status(), created_at: timeText(), last_updated_at: timeText(),
  object: Type.Literal('prompt'),
}));

const content = {
  string: Type.String(), parameters: anyObject(), virtual_key: orNull(Type.String()), model: orNull(Type.String()), functions: objects(), tools: objects(), tool_choice: toolChoice(),
  template_metadata: anyObject(), is_raw_template: zeroOrOne(),
};

export const promptSchema = named('Prompt', object({
  id: idText(), slug: Type.String(), name: Type.String(), organisation_id: idText(), workspace_id: idText(), collection_id: idText(), prompt_version: Type.Integer({ minimum: 1 }), prompt_version_id: idText(),
  prompt_version_status: versionStatus(), prompt_version_description: Type.String(), prompt_version_label_id: orNull(idText()), ...content, status: status(), created_at: timeText(), last_updated_at: timeText(),
  object: Type.Literal('prompt'),
}));

export const versionSchema = named('PromptVersion', object({
  id: idText(), prompt_id: idText(), prompt_template: object(content), prompt_version: Type.Integer({ minimum: 1 }), prompt_description: Type.String(), label_id: orNull(idText()), created_at: timeText(),
  status: versionStatus(), object: Type.Literal('prompt'), ...content,
}));

export const summaryView = (row: PromptRow): Reply => ({
  id: row.id, slug: row.slug, name: row.name, workspace_id: row.workspaceId, collection_id: row.collectionId, model: row.model, status: row.status, created_at: time(row.createdAtMs),
  last_updated_at: time(row.updatedAtMs), object: 'prompt',
});

// These columns hold JSON.
const contentView = (row: PromptVersionRow): Reply => ({
  string: row.string, parameters: JSON.parse(row.parameters), virtual_key: row.provider, model: row.model, functions: JSON.parse(row.functions), tools: JSON.parse(row.tools),
  tool_choice: row.toolChoice === null ? null : JSON.parse(row.toolChoice), template_metadata: JSON.parse(row.metadata), is_raw_template: row.isRaw ? 1 : 0,
});

/** One that was deleted is on no version any more. */
async function labelOf({ repository }: ControlContext, row: PromptRow, number: number): Promise<string | null> {
  const id = row.labels.find((label) => label.number === number)?.labelId;
  if (id === undefined) return null;
  return universalLabels.some((label) => label.id === id) || await repository.get(promptLabels, id) !== undefined ? id : null;
}

export const promptView = async (context: ControlContext, row: PromptRow, version: PromptVersionRow): Promise<Reply> => ({
  id: row.id, slug: row.slug, name: row.name, organisation_id: row.organisationId, workspace_id: row.workspaceId, collection_id: row.collectionId, prompt_version: version.number, prompt_version_id: version.id,
  prompt_version_status: version.number === row.published ? 'active' : 'archived', prompt_version_description: version.description, prompt_version_label_id: await labelOf(context, row, version.number),
  ...contentView(version), status: row.status, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), object: 'prompt',
});

export const versionView = async (context: ControlContext, row: PromptRow, version: PromptVersionRow): Promise<Reply> => {
  const shown = contentView(version);
  return {
    id: version.id, prompt_id: row.id, prompt_template: shown, prompt_version: version.number, prompt_description: version.description, label_id: await labelOf(context, row, version.number),
    created_at: time(version.createdAtMs), status: version.number === row.published ? 'active' : 'archived', object: 'prompt', ...shown,
  };
};
