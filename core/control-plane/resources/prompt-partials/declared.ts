import { partialVersions, promptPartials, type PromptPartialRow } from '../../../storage/tables/prompts.js';
import { declareSlugged, perform } from '../../define-declared.js';
import { defaultSlug } from '../collections/find-collection.js';
import { collectionSlug, partialReferences } from '../prompts/declared.js';
import { versionAt } from '../prompts/versions.js';
import { promptPartialsResource } from './resource.js';

const { create, update } = promptPartialsResource.operations;
const { version_description: _description, ...members }: Readonly<Record<string, unknown>> = { ...Object(create?.body?.properties) };

/** A file declares the published version, as for prompts. */
export const promptPartialsDeclared = declareSlugged<PromptPartialRow>({
  section: 'prompt_partials', resource: promptPartialsResource, table: promptPartials,
  entry: { ...create?.body, required: ['string'], properties: members },
  defaults: { collection_id: defaultSlug, status: 'active' },
  // A file cannot say that one is archived.
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(promptPartials, { index: 'organisation', parts: [caller.organisationId] })) if (stored.row.status === 'active') yield stored;
  },
  references: function* references({ collection_id: collection, string }) {
    if (typeof collection === 'string' && collection !== defaultSlug) yield { section: 'collections', name: collection, place: 'collection_id' };
    yield* partialReferences(string, 'string');
  },
  view: async (context, { row }) => ({
    slug: row.slug, name: row.name, collection_id: await collectionSlug(context, row), status: row.status,
    string: (await versionAt(context, partialVersions, row.id, row.published, `the partial ${row.slug}`)).row.string,
  }),
  update: ({ context }, stored, changed) => {
    if (update === undefined) throw new TypeError('partials are not changed');
    return perform(update, context, { id: stored.row.id, body: changed.string === undefined ? changed : { ...changed, publish: true } });
  },
});
