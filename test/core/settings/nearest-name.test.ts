import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, editDistance, nearestName } from '../../../core/settings/nearest-name.js';

test('the distance counts inserted, removed, replaced and swapped letters', () => {
  assert.equal(editDistance('port', 'port'), 0);
  assert.equal(editDistance('', 'port'), 4);
  assert.equal(editDistance('prot', 'port'), 1);
  assert.equal(editDistance('pot', 'port'), 1);
  assert.equal(editDistance('ports', 'port'), 1);
  assert.equal(editDistance('kitten', 'sitting'), 3);
});

test('the nearest name wins; far ones are not suggested', () => {
  const known = ['port', 'host', 'trusted_hosts', 'log_level'];
  assert.equal(nearestName('prot', known), 'port');
  assert.equal(nearestName('trusted-host', known), 'trusted_hosts');
  assert.equal(nearestName('LOG_LEVL', known), 'log_level');
  assert.equal(nearestName('banana', known), undefined);
  assert.equal(nearestName('x'.repeat(10_000), known), undefined);
  assert.equal(didYouMean('prot', known), '; did you mean port?');
  assert.equal(didYouMean('banana', known), '');
});
