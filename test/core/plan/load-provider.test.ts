import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closeProviders, loadProvider } from '../../../core/plan/load-provider.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

const provider = (transport: string): string => `import { defineProvider } from '@gateway/plugin-sdk';
export default defineProvider({ title: 'T', describe: 'T.', baseUrl: '', auth: { type: 'none' }, params: { type: 'object', properties: { cloud2_service_account_json: { type: 'object', properties: {} }, api_key: { type: 'string' } } },
  endpoints: { chatCompletions: '/c', messages: () => undefined }, ${transport} });`;

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['inside', 'plain'] } },
  files: {
    'provider/inside.js': provider("transport: () => ({ send() { throw new Error('not sent'); }, close() { globalThis.acmeClosed = (globalThis.acmeClosed ?? 0) + 1; } })"),
    'provider/plain.js': provider(''),
  },
});

describe('a loaded provider', () => {
  it('is one for each thread, with its endpoints and credentials spelled out', async () => {
    const { registry } = planServices([folder]);
    const loaded = await loadProvider(registry, 'acme.plain');
    assert.equal(await loadProvider(registry, 'acme.plain'), loaded);
    assert.deepEqual(loaded.endpoints.get('chatCompletions'), { path: '/c' });
    assert.equal(typeof loaded.endpoints.get('messages'), 'function');
    assert.deepEqual([loaded.credentialNames, [...loaded.structuredNames]], [['cloud2_service_account_json'], ['cloud2_service_account_json']]);
    assert.equal(loaded.transport, null);
  });

  it('has its transport closed once, with the thread', async () => {
    const { registry } = planServices([folder]);
    await loadProvider(registry, 'acme.inside');
    await loadProvider(registry, 'acme.plain');
    await assert.rejects(loadProvider(registry, 'acme.none'));
    await closeProviders(registry);
    await closeProviders(registry);
    assert.equal(Reflect.get(globalThis, 'acmeClosed'), 1);
  });
});
