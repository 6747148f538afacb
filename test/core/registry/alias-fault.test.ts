import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectSchema } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { aliasFault } from '../../../core/registry/alias-fault.js';
import { Registry } from '../../../core/registry/registry.js';
import { temporaryFolder, writePackage } from './plugin-package.js';

const params: ObjectSchema = {
  type: 'object',
  properties: { api_key: { type: 'string' }, region: { type: 'string' }, zone: { type: 'string' }, rooms: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' }, label: { type: 'string' } } } } },
};

test('aliases name parameters, at any depth, and the address', () => {
  for (const aliases of [undefined, {}, { region: ['acme_region', 'acmeRegion'], custom_host: ['acme_url'] }, { rooms: ['acme_rooms'], 'rooms.label': ['acme_label', 'id'], 'rooms.id': ['acme_label'] }]) assert.equal(aliasFault(aliases, params), undefined);
});

test('aliases that nobody could use are told by name', () => {
  for (const [aliases, fault] of [
    [['region'], "aliases must be an object of lists: { region: ['acme_region'] }"], [{ region: 'acme_region' }, 'aliases.region must be a list of names'],
    [{ regoin: ['x'] }, 'aliases names regoin, which params does not have'], [{ api_key: ['x'] }, 'aliases names api_key, which params does not have'], [{ custom_headers: ['x'] }, 'aliases names custom_headers, which params does not have'],
    [{ 'rooms.floor': ['x'] }, 'aliases names rooms.floor, which params does not have'], [{ 'region.x': ['x'] }, 'aliases names region.x, which params does not have'], [{ toString: ['x'] }, 'aliases names toString, which params does not have'],
    [{ region: ['acme region'] }, 'aliases.region holds "acme region", which is not a name: letters, digits and underscores, 64 at the most'], [{ region: [5] }, 'aliases.region holds 5, which is not a name: letters, digits and underscores, 64 at the most'],
    [{ region: ['zone'] }, 'aliases.region holds zone, which is a parameter itself'], [{ region: ['custom_host'] }, "aliases.region holds custom_host, which is a name of the gateway's own"],
    [{ region: ['masked_region'] }, "aliases.region holds masked_region, which is a name of the gateway's own"], [{ region: ['place'], zone: ['place'] }, 'aliases gives place to region and to zone'],
  ] as const) assert.equal(aliasFault(aliases, params), fault);
});

test('a package whose provider has such aliases is refused with file and line', async () => {
  const folder = writePackage(temporaryFolder(), {
    gateway: { namespace: 'acme', contract: { provider: 1 }, plugins: { provider: ['misnamed'] } },
    files: { 'provider/misnamed.js': "import { defineCompatible } from '@gateway/plugin-sdk';\nexport default defineCompatible({ title: 'T', describe: 'D.', baseUrl: 'https://a.example', endpoints: {},\n  aliases: { regoin: ['acme_region'] },\n});" },
  });
  const registry = new Registry({ packages: [folder], fromFolder: folder, hostOf: () => fakeHost() });
  await assert.rejects(registry.find('provider', 'acme.misnamed'), /^GatewayError: plugin provider\/acme\.misnamed: aliases names regoin, which params does not have \(.*misnamed\.js:3\)$/);
});
