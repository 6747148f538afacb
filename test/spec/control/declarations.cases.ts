import assert from 'node:assert/strict';
import { resourceCases, type Stage } from './cases.js';

const document = (stage: Stage): Readonly<Record<string, unknown>> => {
  const slug = stage.unique('declared');
  return { workspace_id: stage.workspace.slug, integrations: [{ slug, ai_provider_id: 'mock' }], configs: [{ slug, config: { provider: `@${slug}` } }] };
};

export default resourceCases({
  resource: 'declarations',
  operations: {
    apply: {
      target: (stage) => ({ body: { source: stage.unique('source'), documents: [document(stage)], prune: true } }),
      check: ({ body }, _, target) => {
        const { changes, unchanged, keys, left, ...rest } = body;
        assert.deepEqual(rest, { object: 'declaration', source: target.body?.source, dry_run: false });
        assert.deepEqual(changes.map(({ action, section }: Record<string, string>) => `${action} ${section}`), ['create integrations', 'create providers', 'create configs']);
        assert.deepEqual([unchanged, keys, left], [0, [], []]);
      },
      bad: [
        { body: { documents: [{ confgis: [] }] }, param: 'documents.0.confgis' }, { body: { documents: 5 }, param: 'documents' }, { body: {}, param: 'documents' },
        { body: { documents: [], source: 'no blanks' }, param: 'source' },
      ],
      conflict: async (stage) => {
        const source = stage.unique('source');
        const made = document(stage);
        await stage.made('POST', '/v1/declarations/apply', { source, documents: [made] });
        const slug = Object(Object(made.configs)[0]).slug;
        await stage.made('POST', '/v1/api-keys/workspace/service', { name: stage.unique('Key'), scopes: [], workspace_id: stage.workspace.id, defaults: { config_id: slug } });
        return { body: { source, documents: [], prune: true } };
      },
    },
    export: {
      target: (stage) => ({ query: `workspace_id=${stage.other.slug}` }),
      check: ({ body }) => {
        assert.equal(body.object, 'declaration');
        assert.deepEqual(body.documents[0], { workspaces: [{ slug: 'other-workspace', name: 'Other workspace' }] });
        assert.ok(Array.isArray(body.variables));
      },
      bad: [{ query: 'workspace=x', param: 'workspace' }],
      conflict: { none: 'it changes nothing' },
    },
  },
});
