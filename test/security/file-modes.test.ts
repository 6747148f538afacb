// What the gateway writes belongs to its owner alone, file by file: a data directory may be copied, and then its folders no longer guard them.

import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { answerChat, startUpstream } from '../support/upstream.js';

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    yield path;
  }
}

it('gives no file and no folder of the data directory to anybody but the owner', async () => {
  const upstream = await startUpstream(answerChat);
  const dataDir = join(temporaryFolder(), 'data');
  const settingsFile = join(temporaryFolder(), 'gateway.json');
  writeFileSync(settingsFile, JSON.stringify({ exporters: [{ id: 'store' }, { id: 'jsonl', params: { path: join(dataDir, 'logs', 'log.jsonl') } }] }));
  const gateway = await startChildGateway({ GATEWAY_DATA_DIR: dataDir, GATEWAY_SETTINGS: settingsFile });
  const post = async (path: string, config: object, body: object): Promise<void> => {
    const response = await fetch(gateway.url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, { ...config }) }, body: JSON.stringify({ model: 'gpt-test', ...body }) });
    assert.equal(response.status, 200, await response.text());
  };
  const messages = [{ role: 'user', content: 'x' }];
  for (const mode of ['simple', 'semantic']) await post('/v1/chat/completions', { cache: { mode } }, { messages });
  await post('/v1/responses', { provider: 'mistral-ai' }, { input: 'x', store: true });
  const paths = [...filesBelow(dataDir)];
  for (const name of ['master.key', 'control/data.mdb', 'control/lock.mdb', 'responses/data.mdb', 'exporter-store-logs/data.mdb', 'logs/log.jsonl']) assert.ok(paths.includes(join(dataDir, name)), `${name} is not in ${paths.join(', ')}`);
  assert.ok(paths.some((path) => /cache-simple.*data\.mdb$/.test(path)) && paths.some((path) => /cache-semantic.*data\.mdb$/.test(path)), paths.join(', '));
  assert.deepEqual(paths.filter((path) => (statSync(path).mode & 0o077) !== 0).map((path) => `${path} ${(statSync(path).mode & 0o777).toString(8)}`), []);
});
