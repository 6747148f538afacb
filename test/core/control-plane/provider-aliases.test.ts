import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { startControl, type TestControl, type TestReply } from '../../support/control.js';
import { everyByte } from '../../support/every-byte.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['vault'] } },
  files: {
    'provider/vault.js': `import { defineCompatible } from '@gateway/plugin-sdk';
export default defineCompatible({ title: 'Vault', describe: 'V.', baseUrl: 'https://{region}.acme.example/v1', endpoints: { chatCompletions: true },
  params: { type: 'object', properties: {
    region: { type: 'string' }, pin: { type: 'string', secret: true }, mode: { type: 'string', enum: ['fast', 'cheap'] }, seats: { type: 'array', items: { type: 'string', secret: true } },
    rooms: { type: 'array', items: { type: 'object', required: ['id', 'label'], properties: { id: { type: 'string' }, label: { type: 'string' }, doors: { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } } } } },
  } },
  aliases: { region: ['acme_region', 'acmeRegion'], rooms: ['acme_rooms'], 'rooms.label': ['acme_label', 'id'], 'rooms.doors.size': ['acme_size'], custom_host: ['acme_url'] },
});`,
  },
});
const create = (control: TestControl, configurations: object, more: object = {}): Promise<TestReply> =>
  control.call('POST', '/v1/integrations', { name: 'Vault', ai_provider_id: 'acme.vault', key: 'sk-a-key-of-acme-000000001', configurations, ...more });
const configurationsOf = async (control: TestControl, { body }: TestReply): Promise<unknown> => (await control.call('GET', `/v1/integrations/${String(body.slug)}`)).body.configurations;
const errorOf = ({ status, body }: TestReply): unknown[] => [status, Object(body.error).param, String(Object(body.error).message).replace(/^configurations\S* /, '')];

describe('aliases that a provider says it has', () => {
  it('bring credentials to its own names, at every depth, and are taken again', async () => {
    const control = await startControl({ packages: [folder] });
    const made = await create(control, { acme_region: 'eu', acme_rooms: [{ id: 'a', acme_label: 'A', doors: [{ acme_size: 2 }] }, { id: 'b' }, { id: 'c', label: 'C', acme_label: 'not this' }], acme_url: 'https://eu.acme.example/v2' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const shown = { region: 'eu', rooms: [{ id: 'a', label: 'A', doors: [{ size: 2 }] }, { id: 'b', label: 'b' }, { id: 'c', label: 'C' }], custom_host: 'https://eu.acme.example/v2' };
    assert.deepEqual(await configurationsOf(control, made), shown);
    const path = `/v1/integrations/${String(made.body.slug)}`;
    assert.equal((await control.call('PUT', path, { configurations: { acmeRegion: 'us', acme_url: null } })).status, 200);
    assert.deepEqual(await configurationsOf(control, made), { region: 'us', rooms: shown.rooms });
    assert.deepEqual(control.faults, []);
  });

  it('are those of this provider alone, and two for one parameter are refused', async () => {
    const control = await startControl({ packages: [folder] });
    for (const [configurations, param, reason] of [
      [{ vertex_account: 'eu' }, 'vertex_account', 'is nothing that acme.vault takes; it takes region, pin, mode, seats, rooms, custom_host, custom_headers'],
      [{ acme_regoin: 'eu' }, 'acme_regoin', 'is nothing that acme.vault takes; did you mean acme_region?'],
      [{ region: 'eu', acme_region: 'us' }, 'acme_region', 'is region, which is given twice'],
      [{ region: 'eu', mode: 'slow' }, 'mode', 'must be fast or cheap here'],
      [{ region: 'eu', acme_rooms: 'a' }, 'acme_rooms', 'must be a list of at most 1000 items'],
      [{ region: 'eu', acme_rooms: ['a'] }, 'acme_rooms.0', 'must be an object'],
      [{ region: 'eu', acme_rooms: [{ id: 'a\nb' }] }, 'acme_rooms.0.id', 'must be text without line breaks or other control characters, not empty, and nothing beyond Latin-1'],
      [{ region: 'eu', rooms: [{ id: 'a', floor: 1 }] }, 'rooms.0', 'must NOT have additional properties (floor)'],
    ] as const) assert.deepEqual(errorOf(await create(control, configurations)), [400, `configurations.${param}`, reason]);
    assert.deepEqual(errorOf(await control.call('POST', '/v1/integrations', { name: 'x', ai_provider_id: 'openai', key: 'sk-1', configurations: { azure_foundry_url: 'https://a.example' } })).slice(0, 2), [400, 'configurations.azure_foundry_url']);
  });

  it('are the places of mapped secrets as well, and what is secret in lists is sealed', async () => {
    const control = await startControl({ packages: [folder] });
    const reference = await control.call('POST', '/v1/secret-references', { name: 'Region', slug: 'region', manager_type: 'hashicorp_vault', secret_path: 'secret/data/x', secret_key: 'region', auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.example', vault_token: 't' } });
    assert.equal(reference.status, 200, JSON.stringify(reference.body));
    const made = await create(control, { region: 'eu', seats: ['marked-secret-seat-0000000001'] }, { secret_mappings: [{ target_field: 'configurations.acme_region', secret_reference_id: 'region' }] });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const row = (await control.repository.get(integrations, String(made.body.id)))?.row;
    assert.deepEqual(row?.secretMappings.map(({ target_field: field }) => field), ['configurations.region']);
    assert.deepEqual(await configurationsOf(control, made), { region: 'eu', masked_seats: '****' });
    assert.doesNotMatch(await everyByte(control.repository), /marked-secret-seat/);
  });
});

describe('a config for such a provider', () => {
  it('has parameters by its own names, masked where the provider says secret, and a masked one goes only where it went', async () => {
    const control = await startControl({ packages: [folder] });
    const config = { provider: 'acme.vault', pin: 'marked-secret-pin-of-a-config', region: 'eu', seats: ['marked-secret-seat-of-config'] };
    const made = await control.call('POST', '/v1/configs', { name: 'Own', config, workspace_id: 'first-workspace' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const path = `/v1/configs/${String(made.body.slug)}`;
    const shown = { provider: 'acme.vault', pin: 'mar****nfig', region: 'eu', seats: ['mar****nfig'] };
    assert.deepEqual((await control.call('GET', path)).body.config, shown);
    assert.deepEqual((await control.call('PUT', path, { config: shown })).body.version_id, made.body.version_id);
    assert.deepEqual(errorOf(await control.call('PUT', path, { config: { ...shown, region: 'us' } })).slice(0, 2), [400, 'config.pin']);
    for (const [more, param] of [[{ acme_region: 'eu' }, 'config.acme_region'], [{ region: 5 }, 'config.region'], [{ mode: 'slow' }, 'config.mode']] as const) {
      assert.deepEqual(errorOf(await control.call('POST', '/v1/configs', { name: 'x', config: { ...config, ...more }, workspace_id: 'first-workspace' })).slice(0, 2), [400, param]);
    }
    assert.doesNotMatch(await everyByte(control.repository), /marked-secret/);
    assert.deepEqual(control.faults, []);
  });
});
