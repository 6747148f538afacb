import type { PluginKind } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { places } from '../../../core/registry/ids.js';
import { Registry } from '../../../core/registry/registry.js';
import { temporaryFolder, writePackage } from './plugin-package.js';

/** Of this build: where the registry looks. */
const builtRoot = fileURLToPath(new URL('../../..', import.meta.url));
const kinds = Object.keys(places) as PluginKind[];

const foldersOf = (kind: PluginKind): string[] => {
  try {
    return readdirSync(join(builtRoot, places[kind].folder), { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'common').map((entry) => entry.name).sort();
  } catch {
    return [];
  }
};

const strategy = (more = ''): string => `import { defineStrategy } from '@gateway/plugin-sdk';
export default { ...defineStrategy({ title: 'T', describe: 'D.', params: { type: 'object', properties: {} }, create: () => ({ next: () => -1 }) }), ${more} };`;

const folder = writePackage(temporaryFolder(), {
  gateway: {
    namespace: 'acme', contract: { strategy: 1, hook: 1 },
    plugins: { strategy: ['good', 'otherKind', 'contractTwo', 'contractText', 'noDefault', 'nullDefault', 'textDefault', 'throws', 'throwsText', 'unparsable', 'missingImport', 'noParams', 'noCreate', 'badSchema', 'badType', 'deepFault'], hook: ['later'] },
  },
  files: {
    'strategy/good.js': strategy(),
    'strategy/otherKind.js': strategy("kind: 'hook'"),
    'strategy/contractTwo.js': strategy('contract: 2'),
    'strategy/contractText.js': strategy("contract: '1'"),
    'strategy/noDefault.js': 'export const plugin = {};',
    'strategy/nullDefault.js': 'export default null;',
    'strategy/textDefault.js': "export default 'strategy';",
    'strategy/throws.js': "throw new Error('no licence file');",
    'strategy/throwsText.js': "throw 'just text';",
    'strategy/unparsable.js': '// A note.\n\nexport default {;',
    'strategy/missingImport.js': "\nimport 'acme-library-nobody-has'; export default {};",
    'strategy/noParams.js': strategy('params: undefined'),
    'strategy/noCreate.js': strategy('create: undefined'),
    'strategy/badSchema.js': strategy("params: {\n type: 'object',\n properties: { n: { type: 'number', minimun: 1 } } }"),
    'strategy/badType.js': strategy("params: { type: 'object', properties: { n: { type: 'numbre' } } }"),
    'strategy/deepFault.js': "import { deep } from '../lib/deep.js';\nexport default deep;",
    'lib/deep.js': "import {\n  join,\n} from 'node:path';\nexport const deep = async () => { await join(import.meta.url, '}'); } };\n",
    'hook/later.js': "export default { kind: 'hook', contract: 1, params: {} };",
  },
});

const hostIds: string[] = [];
const makeRegistry = (packages: readonly string[] = [folder]): Registry => new Registry({
  packages, fromFolder: folder, hostOf: (id) => { hostIds.push(id); return fakeHost(); },
});
const registry = makeRegistry();

async function faultOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const thrown = await work.then(() => assert.fail('it resolved'), (error: unknown) => error);
  assert.ok(isGatewayError(thrown), String(thrown));
  return { code: thrown.code, message: thrown.message };
}

it('a secret of our own plugins is not a reference to the environment', async () => {
  const webhook = await registry.find('guardrail', 'default.webhook');
  const semantic = await registry.find('cache', 'semantic');
  assert.ok(webhook !== undefined && semantic !== undefined);
  const reason = 'env:NAME is not read here; give the value itself';
  assert.deepEqual(registry.checkParams(webhook, { webhookURL: 'https://x.example', headers: { authorization: 'env:TOKEN' } }), { path: 'headers', reason });
  assert.equal(registry.checkParams(webhook, { webhookURL: 'https://x.example', headers: { authorization: 'Bearer x' } }), undefined);
  const embedding = { url: 'https://x.example', model: 'm', api_key: 'env:TOKEN' };
  assert.match(JSON.stringify(registry.checkParams(semantic, { embedding })), /api_key.*env:NAME is not read here/);
});

describe('the registry', () => {
  it('lists every folder of a kind, and what packages bring, by id', () => {
    const none = makeRegistry([]);
    for (const kind of kinds) {
      if (kind === 'guardrail') continue;
      assert.deepEqual(none.list(kind), foldersOf(kind), kind);
    }
    assert.ok(none.list('provider').length > 30);
    assert.deepEqual(none.list('strategy'), ['conditional', 'fallback', 'loadbalance', 'single']);
    assert.ok(none.list('storage').every((id) => id !== 'common'));
    assert.ok(registry.list('strategy').includes('acme.good'));
    assert.ok(registry.list('hook').includes('acme.later'));
    assert.ok(!registry.list('provider').some((id) => id.startsWith('acme.')));
  });

  it('finds everything it lists, of each built-in kind, once', async () => {
    const none = makeRegistry([]);
    let count = 0;
    for (const kind of kinds) {
      for (const id of none.list(kind)) {
        const plugin = await none.find(kind, id);
        assert.equal(plugin?.kind, kind, `${kind} ${id}`);
        assert.equal(await none.find(kind, id), plugin);
        count += 1;
      }
    }
    assert.ok(count > 30);
  });

  it('does not find a plugin under another kind, another spelling or a path', async () => {
    for (const id of [
      'no-such-plugin', 'Fallback', 'FALLBACK', 'acme.fallback', 'other.good', 'good', 'acme.Good', 'acme.missing', 'common', '', '.', '..', '../strategies/fallback', './fallback',
      'fallback/', 'fallback/plugin', 'a/b', 'fallback\0', '__proto__', 'constructor', 'toString', 'default.__proto__', 'hasOwnProperty',
    ]) assert.equal(await registry.find('strategy', id), undefined, JSON.stringify(id));
    assert.equal(await registry.find('provider', 'fallback'), undefined);
    assert.equal(await registry.find('strategy', 'openai'), undefined);
    assert.equal(await registry.find('storage', 'common'), undefined);
    assert.equal(await registry.find('hook', 'acme.good'), undefined);
  });

  it('finds a plugin of a package by its dotted id', async () => {
    const plugin = await registry.find('strategy', 'acme.good');
    assert.equal(plugin?.title, 'T');
    assert.equal(await registry.find('strategy', 'acme.good'), plugin);
  });

  it('says what is wrong with a plugin that cannot be used', async () => {
    const cases: readonly (readonly [id: string, reason: RegExp])[] = [
      ['otherKind', /it is of kind hook, not strategy \(.*\/strategy\/otherKind\.js:2\)$/],
      ['contractTwo', /written for contract 2 of this kind; this gateway speaks 1/],
      ['contractText', /written for contract 1 of this kind/],
      ['noDefault', /has no default export made by define\.\.\.\(\) \(.*\/strategy\/noDefault\.js:1\)$/],
      ['nullDefault', /has no default export/],
      ['textDefault', /has no default export/],
      ['throws', /could not be loaded: no licence file \(.*\/strategy\/throws\.js:1\)$/],
      ['throwsText', /could not be loaded: just text \(.*\/strategy\/throwsText\.js\)$/],
      ['unparsable', /could not be loaded: Unexpected token .*\(.*\/strategy\/unparsable\.js:3\)$/],
      ['missingImport', /could not be loaded: Cannot find package 'acme-library-nobody-has'.*\(.*\/strategy\/missingImport\.js:2\)$/],
      ['noParams', /params must be a JSON Schema of type object \(.*\/strategy\/noParams\.js:2\)$/],
      ['noCreate', /create must be a function/],
      ['badSchema', /params is not a JSON Schema: strict mode: unknown keyword: "minimun" \(.*\/strategy\/badSchema\.js:4\)$/],
      ['badType', /params is not a JSON Schema: .*type.* \(.*\/strategy\/badType\.js:\d\)$/],
      ['deepFault', /could not be loaded: Unexpected token '\}' \(.*\/lib\/deep\.js:4\)$/],
    ];
    for (const [name, reason] of cases) {
      const { code, message } = await faultOf(registry.find('strategy', `acme.${name}`));
      assert.equal(code, 'PLUGIN_INVALID', name);
      assert.match(message, new RegExp(`^plugin strategy/acme\\.${name}: `));
      assert.match(message, reason, name);
    }
  });

  it('gives the same answer for a bad plugin the second time, and the others beside it', async () => {
    const fresh = makeRegistry();
    const first = await faultOf(fresh.find('strategy', 'acme.throws'));
    assert.deepEqual(await faultOf(fresh.find('strategy', 'acme.throws')), first);
    assert.ok(await fresh.find('strategy', 'acme.good') !== undefined);
    assert.ok(await fresh.find('strategy', 'fallback') !== undefined);
  });

  it('makes one host for each plugin', () => {
    hostIds.length = 0;
    const one = registry.host('strategy/acme.good');
    assert.equal(registry.host('strategy/acme.good'), one);
    assert.notEqual(registry.host('strategy/acme.other'), one);
    assert.deepEqual(hostIds, ['strategy/acme.good', 'strategy/acme.other']);
  });
});

describe('parameters of a plugin', () => {
  const params = {
    type: 'object', required: ['words'],
    properties: {
      words: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', minLength: 1 } },
      mode: { type: 'string', enum: ['any', 'all'], default: 'any' },
      limit: { type: 'integer', minimum: 1, maximum: 10 },
      isStrict: { type: 'boolean', default: false },
      api_key: { type: 'string', secret: true },
      rules: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string', pattern: '^[a-z]+$' }, weights: { type: 'object', properties: {}, additionalProperties: { type: 'number' } } } } },
    },
  } as const;
  const plugin = { params };
  const check = (values: Record<string, unknown>) => registry.checkParams(plugin, values);

  it('that fit get their defaults', () => {
    const values: Record<string, unknown> = { words: ['a'] };
    assert.equal(check(values), undefined);
    assert.deepEqual(values, { words: ['a'], mode: 'any', isStrict: false });
    const given: Record<string, unknown> = { words: ['a'], mode: 'all', isStrict: true, api_key: 'x', rules: [{ name: 'a', weights: { anything: 1 } }] };
    assert.equal(check(given), undefined);
    assert.equal(given.mode, 'all');
  });

  it('that do not fit are named with their place and what would be right', () => {
    const cases: readonly (readonly [values: Record<string, unknown>, path: string, reason: RegExp])[] = [
      [{}, '', /^must have required property 'words'$/],
      [{ words: 'a' }, 'words', /^must be array$/],
      [{ words: [] }, 'words', /^must NOT have fewer than 1 items$/],
      [{ words: ['a', 'b', 'c', 'd'] }, 'words', /^must NOT have more than 3 items$/],
      [{ words: ['a', ''] }, 'words[1]', /^must NOT have fewer than 1 characters$/],
      [{ words: ['a', 1] }, 'words[1]', /^must be string$/],
      [{ words: ['a'], mode: 'some' }, 'mode', /^must be equal to one of the allowed values \(any, all\)$/],
      [{ words: ['a'], limit: 11 }, 'limit', /^must be <= 10$/],
      [{ words: ['a'], limit: 1.5 }, 'limit', /^must be integer$/],
      [{ words: ['a'], isStrict: 'yes' }, 'isStrict', /^must be boolean$/],
      [{ words: ['a'], wrods: ['a'] }, '', /^must NOT have additional properties \(wrods\); did you mean words\?$/],
      [{ words: ['a'], rules: [{ name: 'a' }, {}] }, 'rules[1]', /^must have required property 'name'$/],
      [{ words: ['a'], rules: [{ name: 'A' }] }, 'rules[0].name', /^must match pattern/],
      [{ words: ['a'], rules: [{ name: 'a', extra: 1 }] }, 'rules[0]', /^must NOT have additional properties \(extra\)$/],
      [{ words: ['a'], rules: [{ name: 'a', weights: { b: 'x' } }] }, 'rules[0].weights.b', /^must be number$/],
    ];
    for (const [values, path, reason] of cases) {
      const fault = check(values);
      assert.equal(fault?.path, path, JSON.stringify(values));
      assert.match(fault.reason, reason);
    }
  });

  it('of a schema that opens itself may have other members', () => {
    assert.equal(registry.checkParams({ params: { type: 'object', properties: {}, additionalProperties: true } }, { anything: 1 }), undefined);
    assert.equal(registry.checkParams({ params: { type: 'object', properties: {} } }, { anything: 1 })?.path, '');
  });

  it('leave the schema of the plugin as it is', () => {
    const schema = { type: 'object', properties: { inner: { type: 'object', properties: {} } } } as const;
    const before = JSON.stringify(schema);
    registry.checkParams({ params: schema }, { inner: {} });
    assert.equal(JSON.stringify(schema), before);
  });
});
