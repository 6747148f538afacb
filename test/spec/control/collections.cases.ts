import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const makeCollection = async (stage: Stage, more: Readonly<Record<string, unknown>> = {}): Promise<StageReply> => stage.made('POST', '/v1/collections', { name: stage.unique('Collection'), workspace_id: stage.workspace.id, ...more });
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly collectionId: string } }> => ({ params: { collectionId: String((await makeCollection(stage)).body.id) } });
const filled = async (stage: Stage): Promise<Target> => {
  const made = await target(stage);
  await makeCollection(stage, { parent_collection_id: made.params.collectionId });
  return made;
};

export default resourceCases({
  resource: 'collections',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { name: 'Made by a case', workspace_id: stage.workspace.id } }),
      check: async ({ body }, stage) => assert.equal((await stage.made('GET', `/v1/collections/${String(body.id)}`)).body.is_default, false),
      bad: [{ body: { name: '' }, param: 'name' }, { body: {}, param: 'name' }],
      conflict: async (stage) => ({ body: { name: 'x', slug: (await makeCollection(stage)).body.slug, workspace_id: stage.workspace.id } }),
    },
    list: {
      target: (stage) => ({ query: `workspace_id=${stage.workspace.id}&search=default` }),
      check: ({ body }, stage) => assert.deepEqual([body.total, body.data[0].id, body.data[0].slug, body.data[0].is_default], [1, stage.workspace.id, 'default', true]),
      bad: [{ query: 'page_size=0', param: 'page_size' }, { query: '', param: 'workspace_id' }],
      conflict: { none: 'it changes nothing' },
    },
    read: {
      target: filled,
      check: ({ body }) => assert.deepEqual([body.child_collections.length, body.collection_details.child_collections_count, body.collection_details.prompts_count], [1, 1, 0]),
      bad: [],
      conflict: { none: 'it changes nothing' },
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { name: 'Renamed' } }),
      check: async (_, stage, { params }) => {
        assert.equal((await stage.made('GET', `/v1/collections/${params?.collectionId ?? ''}`)).body.name, 'Renamed');
        // The default one is in no row before, and in one from then on.
        for (const name of ['Ours', 'Default']) {
          await stage.made('PUT', `/v1/collections/${stage.workspace.id}`, { name });
          assert.deepEqual((({ body }) => [body.name, body.slug, body.is_default])(await stage.made('GET', `/v1/collections/default?workspace_id=${stage.workspace.id}`)), [name, 'default', true]);
        }
      },
      bad: [{ body: { name: 5 }, param: 'name' }],
      conflict: { none: 'names may be the same' },
    },
    delete: {
      target,
      check: async (_, stage, { params }) => {
        assert.equal((await stage.call('GET', `/v1/collections/${params?.collectionId ?? ''}`)).status, 404);
        assert.equal((await stage.call('DELETE', `/v1/collections/${stage.workspace.id}`)).status, 403);
      },
      bad: [],
      conflict: filled,
    },
  },
});
