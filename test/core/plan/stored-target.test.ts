import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoredTarget, type StoredModelTarget } from '../../../core/plan/stored-target.js';

test('the names of the headers that a provider adds are gathered at the first call whose bodies are kept, and never again', () => {
  let reads = 0;
  const model: StoredModelTarget = {
    base: null,
    get headers() {
      reads += 1;
      return ['x-of-model', '1', 'x-team', '2'];
    },
  };
  const integration = { allowsAllModels: true, models: new Map(), limitsIn: () => null };
  const target = new StoredTarget({ limits: null, workspaceId: 'w' } as never, integration as never, ['x-team', 'red'], new Map([['m', model]]));
  assert.equal(reads, 0);
  const names = target.headerNames();
  assert.deepEqual([...names], ['x-team', 'x-of-model']);
  assert.equal(target.headerNames(), names);
  assert.equal(reads, 1);
});
