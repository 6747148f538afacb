import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const metadataKeys = ['team', 'user'];

conformGuardrail(plugin, {
  passes: [
    { params: { metadataKeys }, metadata: { team: 'a', user: 'b', more: 1 } },
    { params: { metadataKeys }, metadata: { team: '', user: false } },
    { params: { metadataKeys, operator: 'any' }, metadata: { user: 0 } },
    { params: { metadataKeys, operator: 'none' }, metadata: { other: 1 } },
    { params: { metadataKeys, operator: 'none' } },
    { params: { metadataKeys, operator: 'none' }, metadata: { team: null } },
  ],
  fails: [
    { params: { metadataKeys } },
    { params: { metadataKeys }, metadata: { team: 'a' } },
    { params: { metadataKeys }, metadata: { team: 'a', user: null } },
    { params: { metadataKeys }, metadata: { Team: 'a', USER: 'b' } },
    { params: { metadataKeys, operator: 'any' }, metadata: { other: 1 } },
    { params: { metadataKeys, operator: 'none' }, metadata: { team: 'x' } },
    { params: { metadataKeys: ['constructor', 'toString'], operator: 'any' } },
  ],
  refuses: [{ metadataKeys: [] }, { metadataKeys: ['', ' '] }],
});

test('the verdict lists what is there and what is not', async () => {
  const check = await plugin.create({ metadataKeys, operator: 'all' }, fakeHost());
  assert.deepEqual(await check.evaluate(fakeCheckInput({ metadata: { user: 1 } })), {
    pass: false,
    why: 'the metadata lacks team',
    data: { explanation: 'the metadata lacks team', missing_metadata_keys: ['team'], found_metadata_keys: ['user'], operator: 'all' },
  });
});
