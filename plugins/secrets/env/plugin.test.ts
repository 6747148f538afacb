import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformSecrets, fakeHost } from '@gateway/plugin-sdk/testing';
import environment from './plugin.js';

conformSecrets(environment, {}, {
  host: { secrets: { 'env:ACME_KEY': 'sk-of-acme', 'env:TEAM_A': 'sk-of-team-a', 'env:HOME': '/root', 'env:GATEWAY_MASTER_KEY': 'the-master-key' } },
  allowed: ['ACME_KEY', 'TEAM_*', 'GATEWAY_MASTER_KEY'],
  values: { ACME_KEY: 'sk-of-acme', TEAM_A: 'sk-of-team-a' },
  absent: 'TEAM_B',
  refused: ['HOME', 'ACME_KEY2', 'ACME', 'TEAM', 'GATEWAY_MASTER_KEY', 'gateway_api_key', '', 'A B', 'A=B', '../x'],
});

test('nothing is read without a rule, and with the rule for all still none of the gateway', async () => {
  const secrets = { 'env:ACME_KEY': 'x', 'env:GATEWAY_ADMIN_KEY': 'y' };
  const none = await environment.create({}, fakeHost({ secrets }), []);
  assert.match(none.pathFault?.('ACME_KEY') ?? '', /secret_sources needs env=NAME/);
  const all = await environment.create({}, fakeHost({ secrets }), ['*']);
  assert.equal(await all.read('ACME_KEY', new AbortController().signal), 'x');
  assert.match(all.pathFault?.('GATEWAY_ADMIN_KEY') ?? '', /setting of the gateway itself/);
});
