import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { checkGateway, startGateway } from '../../core/app.js';
import { inspectSettings, readSettings, type Settings } from '../../core/settings/read.js';
import { startChildGateway } from '../support/child-gateway.js';
import { adminKey, apiKey, startTestGateway } from '../support/gateway.js';

const folder = mkdtempSync(join(tmpdir(), 'gateway-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const written = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

written('keys.yaml', 'api_keys:\n  - name: app\n    key: ${env:APP_KEY}\n    defaults: { config_id: main }\n');
const settingsFile = written('gateway.yaml', `
log_level: error
resources:
  - ./keys.yaml
  - configs:
      - slug: main
        config: { provider: '@mock' }
    integrations:
      - slug: mock
        ai_provider_id: mock
        key: "\${env:MOCK_KEY}"
`);
const secrets = { APP_KEY: 'app-key-0123456789-marked', MOCK_KEY: 'mock-key-0123456789-marked' };
const environmentOf = (dataDir: string): Record<string, string> => ({
  GATEWAY_SETTINGS: settingsFile, GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_DATA_DIR: dataDir, GATEWAY_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey, ...secrets,
});
const settingsOf = (environment: NodeJS.ProcessEnv): Settings => readSettings(environment, folder);

async function chat(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST', headers: { 'x-gateway-api-key': secrets.APP_KEY, 'content-type': 'application/json' }, body: JSON.stringify({ model: 'mock', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function admin(url: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST', headers: { 'x-gateway-api-key': adminKey, 'content-type': 'application/json' }, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a check of the settings beside a gateway that runs', () => {
  it('takes its port for free, and that of another program for what it is', async () => {
    const environment = { GATEWAY_SETTINGS: written('plain.yaml', 'log_level: error\n'), GATEWAY_HOST: '127.0.0.1', GATEWAY_PORT: '0', GATEWAY_THREADS: '1', GATEWAY_DATA_DIR: mkdtempSync(join(folder, 'data-')), GATEWAY_API_KEY: apiKey, GATEWAY_ADMIN_KEY: adminKey };
    const running = await startGateway(settingsOf(environment), { hasLogThread: false, hasControlThread: false });
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const faultOf = async (port: number | string): Promise<string | undefined> => {
      const found = (await checkGateway(settingsOf({ ...environment, GATEWAY_PORT: String(port) }))).find(({ subject }) => subject === `address 127.0.0.1:${port}`);
      assert.ok(found !== undefined);
      return found.fault;
    };
    assert.equal(await faultOf(new URL(running.url).port), undefined);
    assert.match(await faultOf((other.address() as AddressInfo).port) ?? '', /the port is in use/);
    other.close();
    await running.stop(0);
  });
});

describe('resources in the settings', () => {
  it('are obeyed from the first call on, and change nothing at the next start', async () => {
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const first = await startGateway(settingsOf({ ...environmentOf(dataDir), GATEWAY_THREADS: '2' }));
    for (let calls = 0; calls < 4; calls += 1) assert.equal(await chat(first.url), 200);
    const before = (await admin(first.url, '/v1/configs/main')).body;
    assert.deepEqual([before.version, before.config], [1, { provider: '@mock' }]);
    await first.stop(0);
    const again = await startGateway(settingsOf(environmentOf(dataDir)), { hasLogThread: false, hasControlThread: false });
    assert.deepEqual((await admin(again.url, '/v1/configs/main')).body, before);
    await again.stop(0);
    // One that is there no more is removed where the settings want it.
    const keys = { GATEWAY_SETTINGS: undefined, GATEWAY_RESOURCES: written('fewer.yaml', 'integrations:\n  - slug: mock\n    ai_provider_id: mock\n    key: ${env:MOCK_KEY}\n') };
    for (const [prune, status] of [['off', 200], ['on', 404]] as const) {
      const fewer = await startGateway(settingsOf({ ...environmentOf(dataDir), ...keys, GATEWAY_LOG_LEVEL: 'error', GATEWAY_RESOURCES_PRUNE: prune }), { hasLogThread: false, hasControlThread: false });
      assert.equal((await admin(fewer.url, '/v1/configs/main')).status, status);
      await fewer.stop(0);
    }
  });

  it('that are not right refuse the start, with file and line, and leave what is stored as it is', async () => {
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const environment = environmentOf(dataDir);
    const missing = inspectSettings({ ...environment, APP_KEY: '', MOCK_KEY: undefined }, folder);
    assert.equal(missing.faults.length, 1);
    assert.match(missing.faults[0] ?? '', /^resources: 2 variables of the environment are not set: APP_KEY \(\.\/keys\.yaml:3:10\), MOCK_KEY \(.*gateway\.yaml:11:14\)$/);
    const faultOf = async (text: string): Promise<string> => startGateway(settingsOf({ ...environment, GATEWAY_SETTINGS: written('bad.yaml', text), GATEWAY_LOG_LEVEL: 'error' })).then(() => 'it started', (thrown: Error) => thrown.message);
    assert.match(await faultOf('resources:\n  configs:\n    - slug: one\n      config: { provider: "@nowhere" }\n'), /^resources: .*bad\.yaml:4:17: config one: config\.provider: there is no provider @nowhere/);
    assert.match(await faultOf('resources:\n  - api_keys:\n      - name: made\n'), /^resources: the API key made needs a key, such as \$\{env:NAME\}/);
    assert.match(await faultOf('resources: ./not-there.yaml\n').catch((thrown: Error) => thrown.message), /^resources: \.\/not-there\.yaml cannot be read/);
    assert.match(await faultOf('resources: 5\n').catch((thrown: Error) => thrown.message), /^resources in .*bad\.yaml must be a list of paths of files/);
    const checked = await checkGateway(settingsOf({ ...environment, GATEWAY_SETTINGS: written('bad.yaml', 'resources:\n  configs:\n    - slug: one\n      config: {}\n'), GATEWAY_LOG_LEVEL: 'error' }));
    assert.match(checked.find(({ subject }) => subject === 'resources')?.fault ?? '', /^resources: .*bad\.yaml:4:7: config one: /);
    assert.deepEqual((await checkGateway(settingsOf(environment))).filter(({ subject }) => subject === 'resources'), [{ subject: 'resources' }]);
    const plain = await startTestGateway({ GATEWAY_DATA_DIR: dataDir });
    assert.deepEqual((await admin(plain.url, '/v1/configs')).body.total, 0);
  });

  it('are applied once by processes that start at the same time', async () => {
    const { GATEWAY_SETTINGS, ...environment } = environmentOf(mkdtempSync(join(folder, 'data-')));
    const both = await Promise.all([1, 2].map(() => startChildGateway({ ...environment, GATEWAY_RESOURCES: [join(folder, 'keys.yaml'), written('main.yaml', 'configs:\n  - slug: main\n    config: { provider: mock }\n')].join(',') })));
    const seen = await Promise.all(both.map(async ({ url }) => [await chat(url), (await admin(url, '/v1/api-keys')).body.data.map(({ name }: { name: string }) => name).sort()]));
    assert.deepEqual(seen, [1, 2].map(() => [200, ['First API key', 'First admin key', 'app']]));
  });
});

describe('an apply that is killed', () => {
  it('has done all of its work or none, and a second one finishes', async () => {
    const dataDir = mkdtempSync(join(folder, 'data-'));
    const documents = [{
      integrations: Array.from({ length: 20 }, (_, index) => ({ slug: `i${index}`, ai_provider_id: 'mock' })), configs: Array.from({ length: 20 }, (_, index) => ({ slug: `c${index}`, config: { provider: `@i${index}` } })),
    }];
    for (const part of [0.6, 1]) {
      const child = await startChildGateway({ GATEWAY_DATA_DIR: dataDir });
      const startedAt = performance.now();
      const dry = await admin(child.url, '/v1/declarations/apply', { documents, dry_run: true });
      assert.ok([0, 60].includes(dry.body.changes.length), `after a kill ${dry.body.changes.length} of 60 are missing`);
      const tookMs = performance.now() - startedAt;
      const applying = admin(child.url, '/v1/declarations/apply', { documents }).catch((thrown: unknown) => thrown);
      await new Promise((resolve) => { setTimeout(resolve, tookMs * part); });
      child.kill('SIGKILL');
      await Promise.all([applying, child.ended]);
    }
    const last = await startChildGateway({ GATEWAY_DATA_DIR: dataDir });
    assert.equal((await admin(last.url, '/v1/declarations/apply', { documents })).status, 200);
    const settled = await admin(last.url, '/v1/declarations/apply', { documents });
    assert.deepEqual([settled.body.changes, settled.body.unchanged], [[], 60]);
    assert.equal((await admin(last.url, '/v1/configs?page_size=1')).body.total, 20);
  });
});
