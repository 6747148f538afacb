import { slugOfModel } from '../../../plan/compile.js';
import { promptCollections, prompts, promptVersions, type PromptRow } from '../../../storage/tables/prompts.js';
import { Type, type TSchema } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { declareSlugged, perform, type DeclaredReference, type Members } from '../../define-declared.js';
import { defaultSlug } from '../collections/find-collection.js';
import { isVersioned } from './prompt-fields.js';
import { promptsResource } from './resource.js';
import { versionAt } from './versions.js';

const { create, update } = promptsResource.operations;
const defaults: Members = {
  collection_id: defaultSlug, parameters: {}, functions: [], tools: [], tool_choice: null, is_raw_template: false, template_metadata: {}, model: null, virtual_key: null,
};

/** Of a template: slugs are all that a partial is named by. */
export function* partialReferences(string: unknown, place: string): Generator<DeclaredReference> {
  if (typeof string !== 'string') return;
  for (const [, name = ''] of string.matchAll(/\{\{>\s*([\w-]{1,255})/g)) yield { section: 'prompt_partials', name, place };
}

export const collectionSlug = async ({ repository }: ControlContext, { collectionId, workspaceId }: { readonly collectionId: string; readonly workspaceId: string }): Promise<string> =>
  (collectionId === workspaceId ? defaultSlug : (await repository.get(promptCollections, collectionId))?.row.slug ?? collectionId);

function* references({ virtual_key: key, model, collection_id: collection, string }: Members): Generator<DeclaredReference> {
  for (const [slug, place] of [[typeof key === 'string' ? key.replace(/^@/, '') : undefined, 'virtual_key'], [slugOfModel(model), 'model']] as const) {
    if (slug !== undefined) for (const section of ['providers', 'virtual_keys']) yield { section, name: slug, place };
  }
  if (typeof collection === 'string' && collection !== defaultSlug) yield { section: 'collections', name: collection, place: 'collection_id' };
  yield* partialReferences(string, 'string');
}

const { prompt_metadata: _metadata, version_description: _description, ...members }: Readonly<Record<string, unknown>> = { ...Object(create?.body?.properties) };
/** One way to say each thing, so that it can be told whether it is as it is stored. */
const entry: TSchema = {
  ...create?.body, required: ['string'],
  properties: { ...members, is_raw_template: Type.Boolean(), virtual_key: Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: '^[a-zA-Z0-9_-]+$', description: 'slug of a provider, without @' }) },
};

/** A file declares the published version: a change in the file makes a new version and publishes it at once. */
export const promptsDeclared = declareSlugged<PromptRow>({
  section: 'prompts', resource: promptsResource, table: prompts, defaults,
  entry, references,
  view: async (context, { row }) => {
    const version = (await versionAt(context, promptVersions, row.id, row.published, `the prompt ${row.slug}`)).row;
    return {
      slug: row.slug, name: row.name, collection_id: await collectionSlug(context, row), string: version.string, parameters: JSON.parse(version.parameters), functions: JSON.parse(version.functions),
      tools: JSON.parse(version.tools), tool_choice: version.toolChoice === null ? null : JSON.parse(version.toolChoice), is_raw_template: version.isRaw, template_metadata: JSON.parse(version.metadata),
      model: version.model, virtual_key: version.provider,
    };
  },
  create: ({ context }, given) => {
    if (create === undefined) throw new TypeError('prompts are not made');
    return perform(create, context, { body: { parameters: {}, ...given } });
  },
  update: ({ context }, stored, changed, { slug: _slug, ...given }) => {
    if (update === undefined) throw new TypeError('prompts are not changed');
    return perform(update, context, { id: stored.row.id, body: isVersioned(changed) ? { ...defaults, ...given, patch: true, publish: true } : changed });
  },
});
