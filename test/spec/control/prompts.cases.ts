import assert from 'node:assert/strict';
import { resourceCases, type Stage, type StageReply, type Target } from './cases.js';

const string = JSON.stringify([{ role: 'system', content: 'You know {{topic}}.' }, { role: 'user', content: '{{question}}' }]);

/** The slug of a provider of the workspace, made once. */
const providers = new WeakMap<Stage, Promise<string>>();
export function providerOf(stage: Stage): Promise<string> {
  let slug = providers.get(stage);
  if (slug === undefined) {
    slug = stage.made('POST', '/v1/virtual-keys', { name: stage.unique('Prompts'), provider: 'mock', key: 'key-of-the-mock-provider-0002', workspace_id: stage.workspace.id }).then(({ body }) => String(body.data?.slug ?? body.slug));
    providers.set(stage, slug);
  }
  return slug;
}

const fields = async (stage: Stage): Promise<Record<string, unknown>> => ({
  name: stage.unique('Prompt'), collection_id: stage.workspace.id, string, parameters: { temperature: 0.5 }, virtual_key: await providerOf(stage), model: 'mock-model', workspace_id: stage.workspace.id,
});
const makePrompt = async (stage: Stage): Promise<StageReply> => stage.made('POST', '/v1/prompts', await fields(stage));
const target = async (stage: Stage): Promise<Target & { readonly params: { readonly promptId: string } }> => ({ params: { promptId: String((await makePrompt(stage)).body.id) } });
const read = async (stage: Stage, id: string): Promise<StageReply['body']> => (await stage.made('GET', `/v1/prompts/${id}`)).body;
const idOf = ({ params }: Target): string => params?.promptId ?? assert.fail('no prompt');

const badContents = [
  { member: { string: '{{a' }, param: 'string' }, { member: { string: '[{"role": "user", {{a}}}]' }, param: 'string' }, { member: { string: 5 }, param: 'string' },
  { member: { parameters: [] }, param: 'parameters' }, { member: { tools: [5] }, param: 'tools.0' }, { member: { is_raw_template: 2 }, param: 'is_raw_template' }, { member: { virtual_key: null, model: 'gpt' }, param: 'virtual_key' },
];

export default resourceCases({
  resource: 'prompts',
  operations: {
    create: {
      as: 'workspace',
      target: async (stage) => ({ body: { ...await fields(stage), tools: [{ type: 'function', function: { name: 'look' } }], tool_choice: 'auto', version_description: 'the first', template_metadata: { a: 1 } } }),
      check: async ({ body }, stage) => {
        assert.match(String(body.slug), /^pp-prompt-\d+-[0-9a-f]{6}$/);
        const prompt = await read(stage, String(body.slug));
        assert.deepEqual(
          [prompt.id, prompt.prompt_version, prompt.prompt_version_id, prompt.prompt_version_status, prompt.prompt_version_description, prompt.string, prompt.parameters, prompt.tool_choice, prompt.is_raw_template, prompt.collection_id],
          [body.id, 1, body.version_id, 'active', 'the first', string, { temperature: 0.5 }, 'auto', 0, stage.workspace.id],
        );
      },
      bad: [...badContents.map(({ member, param }) => ({ body: { name: 'Bad', string, parameters: {}, virtual_key: 'x', ...member }, param })), { body: { string, parameters: {} }, param: 'name' }, { body: { name: 'x', string }, param: 'parameters' }],
      conflict: async (stage) => {
        const { body } = await makePrompt(stage);
        return { body: { ...await fields(stage), slug: body.slug } };
      },
    },
    list: {
      as: 'workspace',
      target: async (stage) => ({ query: `search=${String((await makePrompt(stage)).body.slug)}&collection_id=default` }),
      check: ({ body }) => assert.deepEqual([body.total, body.data[0].model, body.data[0].object, body.data[0].string], [1, 'mock-model', 'prompt', undefined]),
      bad: [{ query: 'page_size=1001', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
      foreign: (stage) => ({ query: `workspace_id=${stage.workspace.id}` }),
    },
    read: {
      target: async (stage) => {
        const made = await target(stage);
        return { params: { promptId: `${idOf(made)}@latest` } };
      },
      check: ({ body }) => assert.deepEqual([body.prompt_version, body.object, body.prompt_version_label_id], [1, 'prompt', null]),
      bad: [{ query: 'version=', param: 'version' }],
      conflict: { none: 'it changes nothing' },
    },
    update: {
      target: async (stage) => ({ ...await target(stage), body: { patch: true, version_description: 'warmer', parameters: { temperature: 1 } } }),
      check: async ({ body }, stage, made) => {
        const [published, latest] = [await read(stage, idOf(made)), await read(stage, `${idOf(made)}@latest`)];
        assert.deepEqual([published.prompt_version, latest.prompt_version, latest.prompt_version_id, latest.prompt_version_status, latest.string, latest.parameters], [1, 2, body.prompt_version_id, 'archived', string, { temperature: 1 }]);
      },
      bad: [...badContents.map(({ member, param }) => ({ body: { patch: true, ...member }, param })), { body: { string }, param: 'parameters' }, { body: { string, parameters: {} }, param: 'model' }, { body: { name: '' }, param: 'name' }],
      conflict: { none: 'names may be the same' },
    },
    delete: {
      target,
      check: async (_, stage, made) => assert.equal((await stage.call('GET', `/v1/prompts/${idOf(made)}`)).status, 404),
      bad: [],
      conflict: { none: 'nothing is made of prompts' },
    },
    versions: {
      target: async (stage) => {
        const made = await target(stage);
        await stage.made('PUT', `/v1/prompts/${idOf(made)}`, { patch: true, model: 'other-model' });
        return made;
      },
      check: ({ body }) => assert.deepEqual(
        [body.object, body.total, body.data.map((each: StageReply['body']) => [each.prompt_version, each.model, each.status, each.prompt_template.model])],
        ['list', 2, [[2, 'other-model', 'archived', 'other-model'], [1, 'mock-model', 'active', 'mock-model']]],
      ),
      bad: [{ query: 'page_size=0', param: 'page_size' }],
      conflict: { none: 'it changes nothing' },
    },
    version: {
      target: async (stage) => {
        const { body } = await makePrompt(stage);
        return { params: { promptId: String(body.slug), versionId: String(body.version_id) }, query: `workspace_id=${stage.workspace.id}` };
      },
      check: ({ body }) => assert.deepEqual([body.prompt_version, body.string], [1, string]),
      bad: [],
      conflict: { none: 'it changes nothing' },
    },
    updateVersion: {
      target: async (stage) => {
        const { body } = await makePrompt(stage);
        return { params: { promptId: String(body.id), versionId: String(body.version_id) }, body: { label_id: 'staging' } };
      },
      check: async (_, stage, made) => {
        const labelled = await read(stage, `${idOf(made)}@staging`);
        assert.equal(labelled.prompt_version_id, made.params?.versionId);
        assert.equal((await stage.made('GET', `/v1/labels/${String(labelled.prompt_version_label_id)}`)).body.name, 'staging');
        await stage.made('PUT', `/v1/prompts/${idOf(made)}/versions/1`, { label_id: null });
        assert.equal((await stage.call('GET', `/v1/prompts/${idOf(made)}@staging`)).status, 404);
      },
      bad: [{ body: {}, param: 'label_id' }, { body: { label_id: 5 }, param: 'label_id' }],
      conflict: { none: 'a label moves' },
    },
    publish: {
      target: async (stage) => {
        const made = await target(stage);
        await stage.made('PUT', `/v1/prompts/${idOf(made)}`, { patch: true, model: 'other-model' });
        return { ...made, body: { version: 2 } };
      },
      check: async (_, stage, made) => assert.equal((await read(stage, idOf(made))).model, 'other-model'),
      bad: [{ body: { version: 0 }, param: 'version' }, { body: {}, param: 'version' }],
      conflict: { none: 'publishing again changes nothing' },
    },
  },
});
