import { conformHook, fakeHost } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

conformHook(plugin, [
  { results: ['pass', 'error'], pass: true, deny: false },
  { results: ['pass', 'fail'], pass: false, deny: false },
  { params: { deny: true }, results: ['fail'], pass: false, deny: true },
]);

test('runs its checks in turn, each on what the one before it made', async () => {
  assert.equal((await plugin.create({ deny: false }, fakeHost())).order, 'inTurn');
});
