import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';
import { providerOf } from './prompts.cases.js';

const makePartial = async (stage: Stage, string = 'Be {{mood}}.'): Promise<StageReply> => stage.made('POST', '/v1/prompts/partials', { name: stage.unique('Partial'), string, workspace_id: stage.workspace.id });
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly promptPartialId: string } }> => ({ params: { promptPartialId: String((await makePartial(stage)).body.id) } });
const read = async (stage: Stage, { params }: Target): Promise<StageReply['body']> => (await stage.made('GET', `/v1/prompt-partials/${params?.promptPartialId ?? ''}`)).body;

/** A partial that a prompt names. */
const used = async (stage: Stage): Promise<Target> => {
  const { body } = await makePartial(stage);
  await stage.made('POST', '/v1/prompts', {
    name: stage.unique('User'), string: `{{>${String(body.slug)}}}`, parameters: {}, virtual_key: await providerOf(stage), model: 'mock-model', workspace_id: stage.workspace.id,
  });
  return { params: { promptPartialId: String(body.id) } };
};

export default resourceCases({
  resource: 'prompt-partials',
  operations: {
    create: {
      as: 'workspace',
      target: (stage) => ({ body: { name: 'Made by a case', string: 'Be {{mood}}.', version_description: 'the first', workspace_id: stage.workspace.id } }),
      check: async ({ body }, stage) => {
        assert.match(String(body.slug), /^pp-made-by-a-case-[0-9a-f]{6}$/);
        const partial = await read(stage, { params: { promptPartialId: String(body.id) } });
        assert.deepEqual([partial.string, partial.version, partial.prompt_partial_version_id, partial.version_description], ['Be {{mood}}.', 1, body.version_id, 'the first']);
      },
      bad: [{ body: { name: 'x', string: '{{#a}}' }, param: 'string' }, { body: { name: 'x' }, param: 'string' }, { body: { string: 'x' }, param: 'name' }],
      conflict: async (stage, { body = {} }) => ({ body: { ...body, slug: (await makePartial(stage)).body.slug } }),
    },
    list: {
      as: 'workspace',
      target: async (stage) => ({ query: `search=${String((await makePartial(stage)).body.slug)}` }),
      check: ({ body }) => assert.deepEqual([body.total, body.data[0].object, body.data[0].status], [1, 'partial', 'active']),
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: { target, check: ({ body }) => assert.equal(body.string, 'Be {{mood}}.'), bad: [{ query: 'version=0', param: 'version' }], conflict: { none: 'it changes nothing' } },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { string: 'Be very {{mood}}.', description: 'more' } }),
      check: async ({ body }, stage, made) => {
        assert.equal((await read(stage, made)).version, 1);
        const { body: latest } = await stage.made('GET', `/v1/prompts/partials/${made.params?.promptPartialId ?? ''}?version=latest`);
        assert.deepEqual([latest.version, latest.prompt_partial_version_id, latest.version_description], [2, body.prompt_partial_version_id, 'more']);
      },
      bad: [{ body: { string: '{{/a}}' }, param: 'string' }, { body: { status: 'gone' }, param: 'status' }, { body: { description: 'of nothing' }, param: 'string' }],
      conflict: async (stage) => ({ ...await used(stage), body: { status: 'archived' } }),
    },
    delete: {
      target,
      check: async (_, stage, { params }) => assert.equal((await stage.call('GET', `/v1/prompts/partials/${params?.promptPartialId ?? ''}`)).status, 404),
      bad: [],
      conflict: used,
    },
    versions: {
      target: async (stage) => {
        const made = await target(stage);
        await stage.made('PUT', `/v1/prompts/partials/${made.params.promptPartialId}`, { string: 'x' });
        return made;
      },
      check: ({ body }) => assert.deepEqual([body.total, body.data.map((each: StageReply['body']) => [each.version, each.string, each.prompt_version_status])], [2, [[2, 'x', 'archived'], [1, 'Be {{mood}}.', 'active']]]),
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
    },
    publish: {
      target: async (stage) => {
        const made = await target(stage);
        await stage.made('PUT', `/v1/prompts/partials/${made.params.promptPartialId}`, { string: 'x' });
        return { ...made, body: { version: 2 } };
      },
      check: async (_, stage, made) => assert.equal((await read(stage, made)).string, 'x'),
      bad: [{ body: { version: 'two' }, param: 'version' }],
      conflict: { none: 'publishing again changes nothing' },
    },
  },
});
