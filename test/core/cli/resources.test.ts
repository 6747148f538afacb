import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { runCommandLine } from '../../../core/cli/command-line.js';
import type { Surroundings } from '../../../core/cli/app-contract.js';
import { fieldsOf } from '../../../core/cli/resource-fields.js';
import { tableOf } from '../../../core/cli/resource-table.js';
import { resourceCommands } from '../../../core/cli/resources.js';
import { firstAdminKey, startControl } from '../../support/control.js';

const control = await startControl();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    control.callerOf(String(request.headers['x-gateway-api-key'])).then((caller) => control.plane.handle({
      id: 'id', method: request.method ?? '', path, query, body: Buffer.concat(chunks), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '127.0.0.1', caller,
    })).then((reply) => { response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body); }, () => { response.writeHead(500).end('<p>not a gateway</p>'); });
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => { server.close(); server.closeAllConnections(); });

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function gateway(words: readonly string[], environment: NodeJS.ProcessEnv = { GATEWAY_URL: url, GATEWAY_API_KEY: firstAdminKey }): Promise<Ran> {
  const out: string[] = [];
  const error: string[] = [];
  const unexpected = (): never => assert.fail('not for this command');
  const around: Surroundings = {
    environment, cwd: process.cwd(), version: '0', out: (text) => { out.push(text); }, error: (text) => { error.push(text); },
    loadApp: unexpected, onSignal: unexpected, exit: unexpected, endWithin: unexpected,
  };
  return { code: await runCommandLine(words, around), out: out.join('\n'), error: error.join('\n') };
}

describe('the command line against a running gateway', () => {
  it('shows names of others without what steers a terminal, also in refusals', async () => {
    const name = '\u001b]0;x\u0007\u009b31m\u202eevil\u2066';
    const made = await control.call('POST', '/v1/configs', { name: 'c', config: { provider: 'mock' }, workspace_id: 'first-workspace' });
    const config = String(made.body.slug);
    const key = await control.call('POST', '/v1/api-keys/workspace/service', { name, scopes: [], workspace_id: 'first-workspace', defaults: { config_id: config } });
    const shown = [await gateway(['configs', 'remove', config]), await gateway(['keys', 'list']), await gateway(['keys', 'get', String(key.body.id)]), await gateway(['keys', 'list', '--json']), await gateway(['configs', 'get', name])];
    for (const { out, error } of shown) {
      assert.ok(/evil/.test(out + error));
      assert.equal(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(out + error), false, JSON.stringify(out + error));
    }
    assert.equal(JSON.parse(shown[3]?.out ?? '').data[0].name, name);
    await control.call('DELETE', `/v1/api-keys/${String(key.body.id)}`);
    await control.call('DELETE', `/v1/configs/${config}`);
  });

  it('exports names of others as they are, and without what steers a terminal', async () => {
    const name = '\u001b]0;x\u0007\u009b31m\u202eevil\u2066\napi_keys: []\t\u2028';
    const key = await control.call('POST', '/v1/api-keys/workspace/service', { name, description: 'two\nlines', scopes: [], workspace_id: 'first-workspace', defaults: { metadata: { [name.slice(0, 20)]: 'odd' } } });
    assert.equal(key.status, 200, JSON.stringify(key.body));
    const { out } = await gateway(['export']);
    assert.equal(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(out), false, JSON.stringify(out));
    const { api_keys: keys } = parseAllDocuments(out).map((document): Record<string, any> => document.toJS()).find((document) => document.api_keys !== undefined) ?? assert.fail(out);
    assert.deepEqual([keys.length, keys[0].name, keys[0].description, keys[0].defaults.metadata], [1, name, 'two\nlines', { [name.slice(0, 20)]: 'odd' }]);
    assert.match(out, /description: \|/, 'plain lines stay readable');
    await control.call('DELETE', `/v1/api-keys/${String(key.body.id)}`);
  });

  it('takes nothing for an id that leads to another path, and no name of every object for an option', async () => {
    for (const id of ['', '.', '..']) {
      for (const verb of ['get', 'remove', 'rotate']) assert.match((await gateway(['keys', verb, id])).error, /needs an id or slug, not/, `${verb} ${id}`);
    }
    for (const option of ['--__proto__.x', '--toString', '--constructor']) assert.match((await gateway(['workspaces', 'create', '--name', 'x', option, '1'])).error, new RegExp(`unknown option ${option}`));
  });

  it('tells no secret of its environment when it cannot be used', async () => {
    for (const environment of [{ GATEWAY_URL: url, GATEWAY_API_KEY: 'marked-secret\n0123' }, { GATEWAY_URL: url, GATEWAY_API_KEY: 'marked-secret\u20ac' }, { GATEWAY_URL: url.replace('//', '//user:marked-secret@'), GATEWAY_API_KEY: firstAdminKey }]) {
      const { code, out, error } = await gateway(['keys', 'list'], environment);
      assert.deepEqual([code, out, error.includes('marked')], [1, '', false], error);
      assert.match(error, /GATEWAY_(?:API_KEY holds|URL must not hold)/);
    }
  });

  it('lists, shows and changes rows', async () => {
    const list = await gateway(['workspaces', 'list']);
    assert.deepEqual([list.code, list.error], [0, '']);
    assert.match(list.out, /^id +slug +name +created_at\n[0-9a-f-]{36} +first-workspace +First workspace +\d{4}-/);
    const update = await gateway(['workspaces', 'update', 'first-workspace', '--name=Second name']);
    assert.deepEqual([update.code, update.out], [0, 'changed']);
    const get = await gateway(['workspaces', 'get', 'first-workspace']);
    assert.match(get.out, /^name +Second name$/m);
    const json = await gateway(['workspaces', 'get', 'first-workspace', '--json']);
    assert.equal(JSON.parse(json.out).name, 'Second name');
    assert.equal(JSON.parse((await gateway(['workspaces', 'list', '--page-size', '1', '--json'])).out).total, 1);
  });

  it('says what the gateway says when it refuses, with exit code 1', async () => {
    const refused = await gateway(['workspaces', 'get', 'nowhere']);
    assert.deepEqual([refused.code, refused.out, refused.error], [1, '', 'gateway: there is no workspace nowhere']);
    assert.equal(JSON.parse((await gateway(['workspaces', 'get', 'nowhere', '--json'])).error).data.errorCode, 'AB08');
  });

  it('says how to go on when the words are not right', async () => {
    const cases: readonly [readonly string[], RegExp][] = [
      [['workspaces', 'lst'], /does not know lst; did you mean list\?/],
      [['workspaces', 'get'], /workspaces get needs an id or slug/],
      [['workspaces', 'get', 'a', 'b'], /unexpected argument b/],
      [['workspaces', 'update', 'a', '--nmae', 'x'], /unknown option --nmae; did you mean --name\?/],
      [['workspaces', 'update', 'a', '--name'], /option --name needs a value/],
      [['workspaces', 'update', 'a', '--name', 'x', '--name', 'y'], /option --name is given twice/],
      [['workspaces', 'list', '--page-size', 'many'], /--page-size must be a whole number/],
      [['workspaces', 'list', '-x'], /unknown option -x/],
    ];
    for (const [words, message] of cases) {
      const { code, error } = await gateway(words);
      assert.equal(code, 1);
      assert.match(error, message);
    }
  });

  it('says how to reach a gateway when it cannot', async () => {
    const key = { GATEWAY_API_KEY: firstAdminKey };
    assert.match((await gateway(['workspaces', 'list'], { GATEWAY_URL: url })).error, /set GATEWAY_API_KEY/);
    assert.match((await gateway(['workspaces', 'list'], { ...key, GATEWAY_URL: 'ftp://x' })).error, /GATEWAY_URL must be the address/);
    assert.match((await gateway(['workspaces', 'list'], { ...key, GATEWAY_URL: 'http://127.0.0.1:1' })).error, /cannot be reached \(.*\); start it, or set GATEWAY_URL/);
    assert.match((await gateway(['workspaces', 'list'], { GATEWAY_URL: url, GATEWAY_API_KEY: 'unknown' })).error, /did not answer as a gateway does \(status 500, not JSON\)/);
    assert.equal((await gateway(['workspaces', 'list'], { ...key, GATEWAY_URL: `${url}/v1/` })).code, 0);
  });

  it('says so when what answers is not a gateway, whatever its JSON is', async () => {
    let [status, text] = [200, 'null'];
    const stranger = createServer((request, response) => { request.resume().on('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end(text)); });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const address = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, 'version: 1\n');
    const typed = [['apply', file], ['export'], ['export', '--json'], ['why', 'id']];
    const others = [['logs'], ['keys', 'list'], ['keys', 'get', 'id'], ['keys', 'create', '--name', 'n', '--json'], ['configs', 'remove', 'id']];
    const cases = [['null', 200], ['[]', 200], ['5', 200], ['"text"', 200], ['null', 502], ['{}', 200], ['{"changes":null,"documents":1,"object":"list","data":5}', 200]] as const;
    try {
      for (const each of cases) {
        [text, status] = each;
        for (const words of text.startsWith('{') ? [...typed, ['logs'], ['keys', 'list']] : [...typed, ...others]) {
          const { code, out, error } = await gateway(words, { GATEWAY_URL: address, GATEWAY_API_KEY: firstAdminKey });
          assert.deepEqual([code, out, error], [1, '', `gateway: ${address} did not answer as a gateway does (status ${status}, other JSON); is GATEWAY_URL right?`], `${words.join(' ')} ${text}`);
        }
      }
    } finally {
      stranger.close();
      stranger.closeAllConnections();
      rmSync(folder, { recursive: true });
    }
  });

  it('has a list of each resource, and a way to make, change and remove one', async () => {
    for (const name of Object.keys(resourceCommands)) {
      const { code, error } = await gateway([name, 'list', '--workspace-id', 'first-workspace']);
      assert.deepEqual([code, error], [0, ''], name);
      const { out } = await gateway([name, '--help']);
      for (const verb of ['get', ...(name === 'users' ? [] : ['create']), ...(name === 'invites' ? [] : ['update']), 'remove']) assert.match(out, new RegExp(`gateway ${name} ${verb} `), name);
    }
    const made = await gateway(['labels', 'create', '--name', 'shown-here', '--workspace-id', 'first-workspace', '--json']);
    const { id } = JSON.parse(made.out);
    assert.match((await gateway(['labels', 'list', '--workspace-id', 'first-workspace'])).out, /shown-here/);
    assert.deepEqual([(await gateway(['labels', 'update', id, '--description', 'x'])).code, (await gateway(['labels', 'remove', id])).code], [0, 0]);
  });

  it('does what README.md shows of it', async () => {
    const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
    const shown = [...readme.matchAll(/^npm run gateway -- ((?:keys|users|invites|prompts|partials|usage-limits|rate-limits|labels|collections|guardrails|secrets|integrations|providers|configs) [^#\n]+?) *(?:#.*)?$/gm)].map(([, words = '']) => words);
    assert.equal(shown.length, 13);
    const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'fast.json'), '{"provider":"mock"}');
    const environment = { GATEWAY_URL: url, GATEWAY_API_KEY: firstAdminKey, OPENAI_API_KEY: 'sk-an-openai-key-of-the-test-0001' };
    for (const words of shown) {
      const { code, error } = await gateway([...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => (quoted ?? plain ?? '').replace(/^file:(?!\/)/, `file:${folder}/`)), environment);
      assert.deepEqual([code, error], [0, ''], words);
    }
  });

  it('makes its help of the definitions of the operations', async () => {
    const { code, out } = await gateway(['workspaces', '--help']);
    assert.equal(code, 0);
    assert.match(out, /gateway workspaces update <id or slug> \[options\]/);
    assert.match((await gateway(['workspaces', 'update', '--help'])).out, /--name <string>/);
    assert.match((await gateway(['help'])).out, /^ +workspaces +workspaces$/m);
  });
});

it('shows sums without the digits that only the machine made', () => {
  assert.equal(tableOf([{ cost: 0.1 + 0.2, calls: 12_345_678_901 }], ['cost', 'calls']), 'cost  calls\n0.3   12345678901');
});

describe('options as members of a body', () => {
  const schema = {
    properties: {
      name: { type: 'string' }, key: { type: 'string' }, virtual_key: { type: 'string' }, secret_key: { type: 'string' }, auth_config: { type: 'object' }, scopes: { type: 'array', items: { type: 'string' } }, expires_at: { type: ['string', 'null'] },
      defaults: { type: 'object', properties: { metadata: { type: 'object' }, provider: { type: 'string' } } }, limits: { type: 'array', items: { type: 'object' } }, configurations: { type: 'object' }, count: { type: 'integer' },
    },
  };
  const fields = (options: Readonly<Record<string, string>>, environment = {}, stdin = ''): Record<string, unknown> =>
    fieldsOf(Object.entries(options).map(([name, value]) => ({ name, value })), schema, environment, () => stdin);

  it('have the types of the schema', () => {
    assert.deepEqual(
      fields({ '--name': '5', '--scopes': 'a, b', '--expires-at': 'null', '--defaults.provider': '@openai', '--defaults.metadata': '{"a":"b"}', '--limits': '[{"value":1}]', '--count': '3', '--workspace-id': 'w' }),
      { name: '5', scopes: ['a', 'b'], expires_at: null, defaults: { provider: '@openai', metadata: { a: 'b' } }, limits: [{ value: 1 }], count: 3, workspace_id: 'w' },
    );
    assert.throws(() => fields({ '--count': 'x' }), /--count must be a whole number/);
    assert.throws(() => fields({ '--defaults.__proto__': '1' }), /names no member/);
  });

  it('come from files, variables and standard input, and secrets only from there', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
    const file = join(folder, 'key');
    writeFileSync(file, 'sk-from-file\n');
    try {
      assert.deepEqual(fields({ '--key': `file:${file}` }), { key: 'sk-from-file' });
      assert.deepEqual(fields({ '--key': 'env:PROVIDER_KEY' }, { PROVIDER_KEY: 'sk-from-variable' }), { key: 'sk-from-variable' });
      assert.deepEqual(fields({ '--key': '-' }, {}, 'sk-from-input\n'), { key: 'sk-from-input' });
      assert.throws(() => fields({ '--key': 'sk-written-out' }), (thrown: Error) => /holds a secret/.test(thrown.message) && !thrown.message.includes('sk-written-out'));
      for (const name of ['--configurations.aws-secret-access-key', '--configurations.client_secret', '--auth-config.vault-secret-id']) assert.throws(() => fields({ [name]: 'written-out' }), /holds a secret/);
      // What says where one is, is none.
      for (const name of ['virtual_key', 'secret_key']) assert.deepEqual(fields({ [`--${name.replace('_', '-')}`]: 'main' }), { [name]: 'main' });
      assert.throws(() => fields({ '--key': 'env:MISSING' }), /there is no variable MISSING/);
      assert.throws(() => fields({ '--key': `file:${file}.not` }), /cannot be read/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
