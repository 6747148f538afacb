import { defineCompatible, defineProvider, type ProviderPlugin } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';

const common = { title: 'Acme', describe: 'Chat.', baseUrl: 'https://api.acme.example', endpoints: {} } as const;
const region = { type: 'string', description: 'Where.' } as const;
const own = { type: 'string', secret: true, description: 'A token.' } as const;
const namesOf = ({ params }: ProviderPlugin): string[] => Object.keys(params.properties);

test('a provider whose auth sends the API key takes one as a secret, without saying so', () => {
  for (const auth of [{ type: 'bearer' }, { type: 'header', name: 'x-key' }, { type: 'query', name: 'key' }] as const) {
    const { params } = defineProvider({ ...common, auth }) as ProviderPlugin;
    assert.deepEqual(params, { type: 'object', properties: { api_key: { type: 'string', secret: true, description: 'API key of the provider.' } } });
  }
  assert.deepEqual(defineCompatible(common).params, defineProvider({ ...common, auth: { type: 'bearer' } }).params);
  assert.deepEqual(defineCompatible(common).auth, { type: 'bearer' });
});

test('parameters that a provider declares stand behind it, and an api_key of its own stays as it is', () => {
  const beside = defineProvider({ ...common, auth: { type: 'bearer' }, params: { type: 'object', required: ['region'], properties: { region } } });
  assert.deepEqual(namesOf(beside), ['api_key', 'region']);
  assert.deepEqual(beside.params.required, ['region']);
  const params = { type: 'object', properties: { region, api_key: own } } as const;
  assert.equal(defineProvider({ ...common, auth: { type: 'bearer' }, params }).params, params);
  assert.equal(defineCompatible({ ...common, params }).params, params);
});

test('a provider that sends no key, or signs, takes no api_key unless it declares one', () => {
  assert.deepEqual(namesOf(defineProvider({ ...common, auth: { type: 'none' } })), []);
  assert.deepEqual(namesOf(defineProvider({ ...common, auth: { type: 'signed' }, params: { type: 'object', properties: { region } }, sign() {} })), ['region']);
});
