import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { maskedChecks, maskedConfig } from '../../../core/control-plane/resources/configs/config-secrets.js';
import { Registry } from '../../../core/registry/registry.js';
import { startControl } from '../../support/control.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';

const provider = (params: string): string => `import { defineCompatible } from '@gateway/plugin-sdk';
export default defineCompatible({ title: 'Vault', describe: 'V.', baseUrl: 'https://{region}.acme.example/v1', endpoints: { chatCompletions: true }, params: { type: 'object', properties: { ${params} } } });`;
const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1, guardrail: 1, strategy: 1 }, plugins: { provider: ['vault', 'broken'], guardrail: ['check'], strategy: ['draw'] } },
  files: {
    'provider/vault.js': provider(`
      region: { type: 'string' }, pin: { type: 'string', secret: true }, endpoint_headers: { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
      extra: { type: 'object', properties: { label: { type: 'string' } }, additionalProperties: { type: 'string', secret: true } },
      plain: { type: 'object', properties: {}, additionalProperties: { type: 'array', items: { type: 'string' } } },
      any: { type: 'object', properties: { label: { type: 'string' } }, additionalProperties: true },
      deep: { type: 'array', items: { type: 'object', properties: {}, additionalProperties: { type: 'object', properties: { code: { type: 'string', secret: true }, label: { type: 'string' } } } } },
    `),
    'provider/broken.js': 'throw new Error(\'does not load\');',
    'guardrail/check.js': `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({ title: 'Check', describe: 'C.', stages: ['input'], needs: { request: 'json' }, params: { type: 'object', properties: {
  level: { type: 'string' }, pin: { type: 'string', secret: true }, each: { type: 'object', properties: {}, additionalProperties: { type: 'string', secret: true } }, any: { type: 'object', properties: {}, additionalProperties: true },
} }, create: () => ({ evaluate: () => ({ verdict: true }) }) });`,
    'strategy/draw.js': `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({ title: 'Draw', describe: 'D.', params: { type: 'object', properties: { pin: { type: 'string', secret: true }, label: { type: 'string' } } }, create: () => ({ next: () => 0 }) });`,
  },
});
const registryOf = (packages: readonly string[]): Registry => new Registry({ packages, fromFolder: process.cwd(), hostOf: () => fakeHost() });

describe('a config with parameters of packages, as replies show it', () => {
  let [there, gone] = [registryOf([]), registryOf([])];
  before(() => { there = registryOf([folder]); gone = registryOf([]); });
  const parameters = {
    region: 'eu', pin: 'p1', extra: { label: 'shown', one: 'p2', constructor: 'p3' }, plain: { one: ['shown'] }, any: { label: 'shown', one: { two: ['p4'] }, count: 5 }, deep: [{ one: { code: 'p5', label: 'shown' } }],
  };

  it('has masks where the schema says so, also for members that it does not name', async () => {
    const shown = {
      region: 'eu', pin: '****', extra: { label: 'shown', one: '****', constructor: '****' }, plain: { one: ['shown'] }, any: { label: 'shown', one: { two: ['****'] }, count: 5 }, deep: [{ one: { code: '****', label: 'shown' } }],
    };
    assert.deepEqual(await maskedConfig({ provider: 'acme.vault', ...parameters }, there), { provider: 'acme.vault', ...shown });
    assert.deepEqual(await maskedConfig({ strategy: { mode: 'single' }, targets: [{ provider: 'acme.vault', ...parameters }] }, there), { strategy: { mode: 'single' }, targets: [{ provider: 'acme.vault', ...shown }] });
  });

  it('has masks everywhere when no schema says what is what: the package is gone, does not load, or has dropped the parameter', async () => {
    const masked = {
      region: '****', pin: '****', extra: { label: '****', one: '****', constructor: '****' }, plain: { one: ['****'] }, any: { label: '****', one: { two: ['****'] }, count: 5 }, deep: [{ one: { code: '****', label: '****' } }],
    };
    const builtIn = { weight: 1, request_timeout: 5, override_params: { model: 'm', metadata: { a: 'b' } }, forward_headers: ['x-a'], retry: { attempts: 2 }, cloud1_region: 'eu', custom_host: 'https://a.example', name: 'n' };
    assert.deepEqual(await maskedConfig({ provider: 'acme.vault', ...builtIn, ...parameters }, gone), { provider: 'acme.vault', ...builtIn, ...masked });
    assert.deepEqual(await maskedConfig({ provider: 'acme.broken', ...builtIn, ...parameters }, there), { provider: 'acme.broken', ...builtIn, ...masked });
    assert.deepEqual(await maskedConfig({ provider: 'acme.vault', older: 'p', constructor: 'p', region: 'eu' }, there), { provider: 'acme.vault', older: '****', constructor: '****', region: 'eu' });
  });

  it('shows of checks, hooks, caches and strategies what it may, and of those that are gone the members of the format alone', async () => {
    const given = { level: 'high', pin: 'p', each: { one: 'p' }, any: { one: 'shown' } };
    const hook = { id: 'h', type: 'guardrail', async: false, on_fail: { feedback: { value: 1, metadata: { user: 'u' } } }, checks: [{ id: 'acme.check', name: 'c', parameters: given }, { id: 'default.jsonSchema', parameters: { schema: { type: 'object', title: 'T' } } }] };
    const config = {
      api_key: '', strategy: { mode: 'acme.draw', pin: 'p', label: 'l', default: 'd', conditions: [{ query: { 'metadata.a': { $eq: 'b' } }, then: 'd' }] }, cache: { mode: 'simple', max_age: 60 }, before_request_hooks: [hook, { id: 'o', type: 'acme.own', area: 'a' }],
      input_guardrails: [{ 'acme.check': { id: 'acme.check', ...given }, id: 'i', deny: true, on_fail: { deny: true } }],
    };
    const shown = (level: string, one: string): object => ({ level, pin: '****', each: { one: '****' }, any: { one } });
    const expected = (label: string, level: string, one: string): object => ({
      ...config, strategy: { ...config.strategy, pin: '****', label },
      before_request_hooks: [{ ...hook, checks: [{ id: 'acme.check', name: 'c', parameters: shown(level, one) }, hook.checks[1]] }, { id: 'o', type: 'acme.own', area: '****' }],
      input_guardrails: [{ 'acme.check': { id: 'acme.check', ...shown(level, one) }, id: 'i', deny: true, on_fail: { deny: true } }],
    });
    assert.deepEqual(await maskedConfig(config, there), expected('l', 'high', 'shown'));
    assert.deepEqual(await maskedConfig(config, gone), expected('****', '****', '****'));
    assert.deepEqual(await maskedChecks([{ id: 'acme.check', parameters: given }], gone), [{ id: 'acme.check', parameters: shown('****', '****') }]);
  });

  it('takes its masks again, as long as what is shown beside them stays', async () => {
    const control = await startControl({ packages: [folder] });
    const config = { provider: 'acme.vault', ...parameters, extra: { label: 'shown', one: 'p2' }, endpoint_headers: { 'x-a': 'p6' } };
    const made = await control.call('POST', '/v1/configs', { name: 'Own', config, workspace_id: 'first-workspace' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const path = `/v1/configs/${String(made.body.slug)}`;
    const shown = Object((await control.call('GET', path)).body.config);
    const again = await control.call('PUT', path, { config: shown });
    assert.deepEqual([again.status, again.body.version_id], [200, made.body.version_id], JSON.stringify(again.body));
    const moved = await control.call('PUT', path, { config: { ...shown, extra: { ...shown.extra, label: 'other' } } });
    assert.deepEqual([moved.status, Object(moved.body.error).param], [400, 'config.pin']);
    const later = await startControl({ beside: control });
    assert.deepEqual(Object((await later.call('GET', path)).body.config).region, '****');
  });
});
