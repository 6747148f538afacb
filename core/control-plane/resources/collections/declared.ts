import { promptCollections, type PromptCollectionRow } from '../../../storage/tables/prompts.js';
import { declareSlugged } from '../../define-declared.js';
import { isDefault } from './find-collection.js';
import { collectionsResource } from './resource.js';

export const collectionsDeclared = declareSlugged<PromptCollectionRow>({
  section: 'collections', resource: collectionsResource, table: promptCollections,
  defaults: { parent_collection_id: null },
  references: ({ parent_collection_id: name }) => (typeof name === 'string' ? [{ section: 'collections', name, place: 'parent_collection_id' }] : []),
  // The default one is there without a word.
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(promptCollections, { index: 'organisation', parts: [caller.organisationId] })) if (!isDefault(stored.row)) yield stored;
  },
  view: async ({ repository }, { row }) => ({
    slug: row.slug, name: row.name,
    parent_collection_id: row.parentId === null || row.parentId === row.workspaceId ? null : (await repository.get(promptCollections, row.parentId))?.row.slug ?? row.parentId,
  }),
});
