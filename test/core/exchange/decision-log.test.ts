import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decisionCharsMax, DecisionLog, decisionsMax } from '../../../core/exchange/decision-log.js';

interface Said { about: string; count?: number; why?: string }
const read = (log: DecisionLog): Said[] => JSON.parse(log.logged()) as Said[];

describe('the decisions of a call', () => {
  it('are a list in the order in which they were said', () => {
    const log = new DecisionLog();
    assert.deepEqual(read(log), []);
    log.add({ about: 'target', path: 'config.targets[0]', why: 'breaker open' });
    log.add({ about: 'limit', level: 'key', before: 3, after: 2 });
    assert.deepEqual(read(log), [{ about: 'target', path: 'config.targets[0]', why: 'breaker open' }, { about: 'limit', level: 'key', before: 3, after: 2 }]);
  });

  it('are bounded in number and length, and those without room are counted', () => {
    const many = new DecisionLog();
    for (let index = 0; index < decisionsMax + 5; index += 1) many.add({ about: 'retry', index });
    assert.equal(read(many).length, decisionsMax + 1);
    assert.deepEqual(read(many).at(-1), { about: 'more', count: 5 });
    // What the price depends on has a place all the same.
    many.add({ about: 'price', asked: 'gpt' });
    assert.deepEqual(read(many).slice(-2), [{ about: 'price', asked: 'gpt' }, { about: 'more', count: 5 }]);
    const long = new DecisionLog();
    for (let index = 0; index < decisionsMax; index += 1) long.add({ about: 'target', why: 'ü"'.repeat(100_000) });
    assert.ok(long.logged().length < decisionCharsMax + 100);
    assert.equal(read(long)[0]?.why?.length, 256);
    assert.ok((read(long).at(-1)?.count ?? 0) > 0);
    const huge = new DecisionLog();
    huge.add({ about: 'target', list: Array.from({ length: 10_000 }, () => 'x') });
    assert.deepEqual(read(huge), [{ about: 'more', count: 1 }]);
  });
});
