import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { masked, maskedHeaders, maskedQuery, withoutCredentials } from '../../../core/control-plane/audit-mask.js';
import { firstApiKey, startControl, type TestControl } from '../../support/control.js';

async function entriesOf(control: TestControl): Promise<Readonly<Record<string, unknown>>[]> {
  const entries = [];
  for await (const { record } of control.repository.audit()) entries.push(record);
  return entries;
}

const workspace = '/v1/workspaces/first-workspace';

describe('the audit log', () => {
  it('has every call that may change something, also those that were refused, with their status', async () => {
    const control = await startControl();
    await control.call('GET', workspace);
    await control.call('PUT', workspace, { name: 'Renamed' });
    await control.call('PUT', workspace, { nmae: 'Renamed' });
    await control.call('PUT', workspace, { name: 'Late' }, { ifMatch: '"0"' });
    await control.call('PUT', '/v1/workspaces/nowhere', { name: 'x' });
    await control.call('POST', '/v1/workspaces/none/none', { name: 'x' });
    await control.call('PUT', '/v1/workspaces/first-workspace', { name: 'x' }, { as: firstApiKey });
    const entries = await entriesOf(control);
    assert.deepEqual(entries.map(({ method, response_status_code, resource_type }) => [method, response_status_code, resource_type]), [
      ['PUT', 200, 'workspace'], ['PUT', 400, 'workspace'], ['PUT', 412, 'workspace'], ['PUT', 404, 'workspace'], ['POST', 404, null], ['PUT', 200, 'workspace'],
    ]);
    assert.equal(entries[0]?.request_headers, '{"user-agent":"test"}');
    assert.equal(entries[1]?.request_body, '{"nmae":"[masked]"}');
  });

  it('is not filled by calls that are refused: they are bounded, and counted', async () => {
    const control = await startControl();
    for (let count = 0; count < 300; count += 1) await control.call('DELETE', '/v1/prompts/none');
    const before = (await entriesOf(control)).length;
    assert.ok(before >= 20 && before <= 60, String(before));
    control.clock.nowMs += 20_000;
    await control.call('DELETE', '/v1/prompts/none');
    assert.deepEqual((await entriesOf(control)).at(-1)?.details, { unrecorded_before: 300 - before });
    await control.call('PUT', workspace, { name: 'Renamed' });
    assert.equal((await entriesOf(control)).at(-1)?.response_status_code, 200);
  });

  it('keeps no more of a call than its bounds', async () => {
    const control = await startControl();
    await control.call('PUT', workspace, { description: 'x'.repeat(100_000) });
    await control.call('PUT', `${workspace}?${'x'.repeat(20_000)}=1`, { name: 'x' });
    for (const entry of await entriesOf(control)) assert.ok(JSON.stringify(entry).length < 30_000);
  });
});

describe('what the audit log keeps', () => {
  const secret = 'marked-Secret-0123456789';

  it('says which workspace a call named when there is one, and nothing that stands in its place', async () => {
    const control = await startControl();
    const { body: { id } } = await control.call('GET', workspace);
    await control.call('POST', '/v1/configs?workspace_id=first-workspace', { config: {} });
    await control.call('POST', '/v1/configs', { config: { provider: 'mock' }, workspace_id: 'first-workspace' });
    await control.call('POST', '/v1/configs', { config: {}, workspace_id: secret });
    await control.call('POST', `/v1/configs?workspace_id=${secret}`, { config: {} });
    await control.call('POST', '/v1/configs', { config: {}, workspace_id: 'x'.repeat(500_000) });
    const entries = await entriesOf(control);
    assert.deepEqual(entries.map(({ workspace_id }) => workspace_id), [id, id, null, null, null]);
    assert.equal(JSON.stringify(entries).includes(secret), false);
    assert.ok(JSON.stringify(entries).length < 20_000);
  });

  it('holds no text of a query that was refused', async () => {
    const control = await startControl();
    await control.call('DELETE', `/v1/configs/none?api_kye=${secret}&workspace=${secret}`);
    assert.equal((await entriesOf(control))[0]?.query_params, '{"api_kye":"[masked]","workspace":"[masked]"}');
  });

  it('holds no secret from any member that may have one', () => {
    const bodies: readonly unknown[] = [
      { key: secret }, { api_key: secret }, { apiKey: secret }, { configurations: { aws_access_key_id: secret, anything: secret, custom_headers: { 'x-own': secret }, list: [{ deep: secret }], custom_host: `https://u:${secret}@h.example/p?t=${secret}` } },
      { config: { provider: 'openai', api_key: secret, targets: [{ api_key: secret, custom_headers: { a: secret } }], whatever: secret, cache: { mode: 'simple', name: secret } } },
      { config: { input_guardrails: [{ webhook: { webhookURL: `https://h.example/${secret}`, headers: { authorization: secret } } }], before_request_hooks: [{ checks: [{ id: 'x', parameters: { url: secret, anything: [secret] } }] }] } },
      { config: JSON.stringify({ api_key: secret, provider: 'openai' }) }, { vertex_service_account_json: { private: secret } }, { token: secret, password: secret, client_secret: secret },
      { secret_mappings: [{ target_field: 'key', secret_key: secret }] }, { note: `see https://h.example/hook?token=${secret}` }, { name: `Bearer ${secret}` }, { url: `https://${secret}@h.example` }, { custom_host: secret },
      { models: [{ slug: 'm', configurations: { custom_host: `https://h.example/${secret}`, custom_headers: { 'x-own': secret } } }] }, { description: `sk-${secret}` }, { model_config: { x: secret } },
      { headers: { a: secret } }, { forward_headers: [secret] }, { config: { strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.x': { $eq: secret } }, then: 'a' }] } } },
    ];
    for (const body of bodies) assert.equal(JSON.stringify(masked(body)).includes(secret), false, JSON.stringify(masked(body)));
    assert.equal(maskedHeaders(['authorization', `Bearer ${secret}`, 'cookie', secret, 'x-own', secret, 'user-agent', 'curl', 'x-gateway-config', secret]).includes(secret), false);
    assert.equal(maskedQuery(`key=${secret}&token=${secret}&api-key=${secret}`).includes(secret), false);
  });

  it('finds credentials by their shape behind the escapes of JSON, too', () => {
    for (const secret of ['sk-abcdefghijklmnop', 'Bearer abcdefghijklmnop', 'gsk_abcdefghijklmnop', 'sk_live_abcdefghijklmnop', 'github_pat_abcdefgh', 'xai-abcdefghijklmnop']) {
      for (const before of ['', ' ', '\n', '\t', '\u001b', '"']) {
        assert.equal(withoutCredentials(JSON.stringify({ text: `key:${before}${secret}` })), JSON.stringify({ text: `key:${before}[masked]` }));
      }
    }
    assert.equal(withoutCredentials('a task-management-board and a desk-organiser-shelf'), 'a task-management-board and a desk-organiser-shelf');
  });

  it('of a call that was refused holds what is known by name alone', async () => {
    const control = await startControl();
    await control.call('PUT', `${workspace}?tokne=${secret}&workspace_id=first-workspace`, { name: 'x', kye: secret });
    const [entry] = await entriesOf(control);
    assert.equal(JSON.stringify(entry).includes(secret), false);
    assert.equal(entry?.query_params, '{"tokne":"[masked]","workspace_id":"[masked]"}');
  });

  it('says what was done nevertheless', () => {
    assert.deepEqual(masked({ name: 'n', description: null, scopes: ['a.b'], rate_limits: [{ type: 'tokens', unit: 'rpm', value: 5 }], key: 'x', rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 1_800_000 } }), {
      name: 'n', description: null, scopes: ['a.b'], rate_limits: [{ type: 'tokens', unit: 'rpm', value: 5 }], key: '[masked]', rotation_policy: { rotation_period: 'weekly', key_transition_period_ms: 1_800_000 },
    });
    assert.deepEqual(masked({ config: { provider: 'openai', api_key: 'x', retry: { attempts: 3 }, strategy: { mode: 'fallback' }, custom_host: 'https://h.example/v1' } }), {
      config: { provider: 'openai', api_key: '[masked]', retry: { attempts: 3 }, strategy: { mode: 'fallback' }, custom_host: 'https://h.example/[masked]' },
    });
    // Whoever the provider is.
    assert.deepEqual(masked({ configurations: { acme_region: 'eu', region: 'us', acme_auth_type: 'pair', acme_account: 'x' } }), { configurations: { acme_region: 'eu', region: 'us', acme_auth_type: 'pair', acme_account: '[masked]' } });
    assert.equal(maskedQuery('page_size=5&slugs=a'), '{"page_size":"5","slugs":"a"}');
  });
});
