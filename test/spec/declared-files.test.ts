import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Surroundings } from '../../core/cli/app-contract.js';
import { runCommandLine } from '../../core/cli/command-line.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const folder = mkdtempSync(join(tmpdir(), 'gateway-files-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let isOpenaiDown = false;
const answered = (body: unknown): unknown => ({ ...chatCompletion, choices: [{ ...chatCompletion.choices[0], message: { role: 'assistant', content: JSON.stringify(body) } }] });
const openai = await startUpstream((received, response) => {
  if (isOpenaiDown) sendJson(response, 503, { error: { message: 'down' } });
  else sendJson(response, 200, answered({ by: 'openai', model: received.json().model, key: received.headers.authorization }));
});
const anthropic = await startUpstream((received, response) => {
  sendJson(response, 200, {
    id: 'msg_1', type: 'message', role: 'assistant', model: received.json().model, stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 },
    content: [{ type: 'text', text: JSON.stringify({ by: 'anthropic', model: received.json().model, key: received.headers['x-api-key'] }) }],
  });
});
const [first, second] = [await startTestGateway(), await startTestGateway()];

/** The file of README.md, with the providers of this test behind its integrations. */
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const shownFile = /`gateway-objects\.yaml`:\n\n```yaml\n([^`]*)```/.exec(readme)?.[1] ?? assert.fail('README.md shows no gateway-objects.yaml');
const withHost = (text: string, id: string, url: string): string => text.replace(`    ai_provider_id: ${id}\n`, `    ai_provider_id: ${id}\n    configurations: { custom_host: '${url}/v1' }\n`);
const file = withHost(withHost(shownFile, 'openai', openai.url), 'anthropic', anthropic.url);

const secrets = { OPENAI_API_KEY: 'openai-key-0123456789-marked', ANTHROPIC_API_KEY: 'anthropic-key-0123456789-marked', APP_KEY: 'app-key-0123456789-marked' };

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

async function gateway(url: string, words: readonly string[], environment: NodeJS.ProcessEnv = secrets): Promise<Ran> {
  const out: string[] = [];
  const error: string[] = [];
  const unexpected = (): never => assert.fail('not for this command');
  const around: Surroundings = {
    environment: { GATEWAY_URL: url, GATEWAY_API_KEY: adminKey, ...environment }, cwd: folder, version: '0', out: (text) => { out.push(text); }, error: (text) => { error.push(text); },
    loadApp: unexpected, onSignal: unexpected, exit: unexpected, endWithin: unexpected,
  };
  return { code: await runCommandLine(words, around), out: out.join('\n'), error: error.join('\n') };
}

const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

async function control(url: string, path: string): Promise<any> {
  const response = await fetch(`${url}${path}`, { headers: { 'x-gateway-api-key': adminKey } });
  return { status: response.status, body: await response.json() };
}

async function call(url: string, body: object, headers: Readonly<Record<string, string>> = {}, path = '/v1/chat/completions'): Promise<string> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'x-gateway-api-key': secrets.APP_KEY, ...headers } });
  const answer: any = await response.json();
  return `${response.status} ${answer.choices?.[0]?.message.content ?? answer.content?.[0]?.text ?? JSON.stringify(answer.error?.message ?? answer)}`;
}

const hello = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 };

/** Calls of all kinds that the file is about. */
async function twentyCalls(url: string): Promise<string[]> {
  const answers: string[] = [];
  for (const isDown of [false, true]) {
    isOpenaiDown = isDown;
    for (const [body, headers = {}, path] of [
      [hello], [{ ...hello, model: 'gpt-other' }], [hello, { 'x-gateway-config': 'main' }], [hello, { 'x-gateway-config': 'none' }], [{ ...hello, model: '@openai/gpt-4o' }, { 'x-gateway-api-key': apiKey }],
      [{ ...hello, model: '@anthropic/claude-x' }, { 'x-gateway-api-key': apiKey }], [{ ...hello, model: 'gpt-4o' }, { 'x-gateway-api-key': apiKey, 'x-gateway-provider': '@openai' }],
      [{ ...hello, model: 'claude-y' }, { 'x-gateway-api-key': apiKey, 'x-gateway-provider': '@anthropic' }, '/v1/messages'], [hello, {}, '/v1/messages'], [{ ...hello, model: '@none/x' }, { 'x-gateway-api-key': apiKey }],
    ] satisfies readonly (readonly [object, Record<string, string>?, string?])[] as readonly [object, Record<string, string>?, string?][]) answers.push(await call(url, body, headers, path));
  }
  isOpenaiDown = false;
  return answers;
}

describe('files of the command line', () => {
  it('are shown in README.md in at most 30 lines', () => {
    assert.ok(shownFile.trimEnd().split('\n').length <= 30);
  });

  it('make what README.md says on an empty gateway, and nothing the second time', async () => {
    written('gateway-objects.yaml', file);
    const dry = await gateway(first.url, ['apply', 'gateway-objects.yaml', '--dry-run']);
    assert.deepEqual([dry.code, dry.error, dry.out.split('\n').at(-1)], [0, '', 'would create 6; 0 unchanged']);
    assert.equal((await control(first.url, '/v1/configs/main')).status, 404);
    const made = await gateway(first.url, ['apply', 'gateway-objects.yaml']);
    assert.deepEqual([made.code, made.error, made.out.split('\n').at(-1)], [0, '', 'done: create 6; 0 unchanged']);
    assert.deepEqual(await gateway(first.url, ['apply', 'gateway-objects.yaml']), { code: 0, out: 'nothing changes; 6 objects are as the files say', error: '' });
    assert.equal((await control(first.url, '/v1/configs/main')).body.version, 1);
    assert.equal(await call(first.url, hello), `200 ${JSON.stringify({ by: 'openai', model: 'gpt-4o-mini', key: `Bearer ${secrets.OPENAI_API_KEY}` })}`);
    isOpenaiDown = true;
    assert.equal(await call(first.url, hello), `200 ${JSON.stringify({ by: 'anthropic', model: 'claude-haiku-4-5', key: secrets.ANTHROPIC_API_KEY })}`);
    isOpenaiDown = false;
  });

  it('written by an export make the same answers on another gateway', async () => {
    const exported = await gateway(first.url, ['export', '--workspace', 'first-workspace']);
    assert.deepEqual([exported.code, exported.error], [0, '']);
    assert.doesNotMatch(exported.out, /marked/);
    written('exported.yaml', exported.out);
    const names = { OPENAI_KEY: secrets.OPENAI_API_KEY, ANTHROPIC_KEY: secrets.ANTHROPIC_API_KEY, APP_KEY: secrets.APP_KEY };
    const made = await gateway(second.url, ['apply', 'exported.yaml'], names);
    assert.deepEqual([made.code, made.error], [0, '']);
    const answers = await twentyCalls(first.url);
    assert.equal(answers.length, 20);
    assert.ok(new Set(answers).size >= 8, answers.join('\n'));
    assert.deepEqual(await twentyCalls(second.url), answers);
    assert.equal((await gateway(second.url, ['export', '--workspace', 'first-workspace'])).out, exported.out);
    assert.equal((await gateway(first.url, ['apply', 'exported.yaml'], names)).out, 'nothing changes; 7 objects are as the files say');
  });

  it('change what was edited, say what, and remove with --prune what they have no more', async () => {
    written('gateway-objects.yaml', file.replace('gpt-4o-mini', 'gpt-4.1'));
    const edited = await gateway(first.url, ['apply', 'gateway-objects.yaml'], { ...secrets, ANTHROPIC_API_KEY: 'another-key-0123456789-marked' });
    assert.match(edited.out, /^~ integrations anthropic in first-workspace\n {4}key: "\(secret\)" -> "\(secret\)"\n~ configs main in first-workspace\n {4}config: .*gpt-4o-mini.* -> .*gpt-4\.1.*\ndone: update 2; 4 unchanged$/);
    assert.match(await call(first.url, hello), /"model":"gpt-4\.1"/);
    isOpenaiDown = true;
    assert.match(await call(first.url, hello), /another-key/);
    isOpenaiDown = false;
    written('gateway-objects.yaml', file.slice(0, file.indexOf('configs:')));
    const kept = await gateway(first.url, ['apply', 'gateway-objects.yaml']);
    assert.match(kept.out, /configs main in first-workspace is in the files no more and stays; --prune removes it/);
    const pruned = await gateway(first.url, ['apply', 'gateway-objects.yaml', '--prune']);
    assert.match(pruned.out, /^- api_keys app in first-workspace\n- configs main in first-workspace\ndone: remove 2; 4 unchanged$/);
    assert.match(await call(first.url, hello), /^401 /);
    assert.equal((await control(first.url, '/v1/configs/main')).status, 404);
    assert.equal((await control(first.url, '/v1/integrations/openai')).status, 200);
  });

  it('are refused with the line and column of what is wrong', async () => {
    const refused = async (text: string, message: RegExp | string, environment: NodeJS.ProcessEnv = secrets): Promise<void> => {
      const { code, out, error } = await gateway(second.url, ['apply', written('bad.yaml', text)], environment);
      assert.deepEqual([code, out], [1, ''], text);
      if (typeof message === 'string') assert.equal(error, message);
      else assert.match(error, message);
    };
    await refused('configs:\n  - slug: one\n    confg: {}\n', 'gateway: bad.yaml:3:5: config one: confg is not known here; did you mean config?');
    await refused('# twice\nconfgis:\n', 'gateway: bad.yaml:2:1: confgis is not known here; did you mean configs?');
    await refused('configs: []\n---\nconfigs:\n  - slug: one\n    config:\n      targets:\n        - provider: "@nowhere"\n      strategy: { mode: fallback }\n', /^gateway: bad\.yaml:7:11: config one: config\.targets\[0\]\.provider: there is no provider @nowhere/);
    await refused('configs:\n  - slug: one\n   config: 5\n', /^gateway: bad\.yaml:3:\d+: /);
    await refused('configs:\n  - slug: one\n    slug: two\n', /^gateway: bad\.yaml:3:5: map keys must be unique/i);
    await refused('configs:\n  - slug: one\n    config: { api_key: ${env:APP_KEY} }\n', /^gateway: bad\.yaml:3:\d+: .*has to stand in quotes/);
    await refused('api_keys:\n  - name: a\n    key: ${env:NOT_THERE}\n    description: ${env:NOR_THIS} and ${env:APP_KEY}\n', 'gateway: 2 variables of the environment are not set: NOT_THERE (bad.yaml:3:10), NOR_THIS (bad.yaml:4:18)');
    await refused('api_keys:\n  - name: a\n    key: ${env:not a name}\n', /^gateway: bad\.yaml:3:10: a variable of the environment is written \$\{env:NAME\}/);
    await refused('configs:\n  - slug: one\n    name: ${env:toString}\n', 'gateway: a variable of the environment is not set: toString (bad.yaml:3:11)');
    await refused('configs: &all [*all]\n', 'gateway: bad.yaml: an alias stands within what it is an alias of');
    await refused('- 5\n', /^gateway: bad\.yaml:1:1: documents\.0 must be an object$/);
    assert.deepEqual(await gateway(second.url, ['apply', 'not-there.yaml']), { code: 1, out: '', error: "gateway: not-there.yaml cannot be read (ENOENT: no such file or directory, open '" + join(folder, 'not-there.yaml') + "')" });
    assert.equal((await gateway(second.url, ['apply'])).code, 1);
  });
});
