import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LabelSets, type PairLabels } from './label-sets.js';

const hourMs = 3_600_000;
const never = (): number => 0;

describe('the sets of labels', () => {
  it('keep room for what answers well', () => {
    const sets = new LabelSets(8, never);
    for (let index = 0; index < 100; index += 1) sets.labelsOf('p', `bad-${index}`, false);
    assert.deepEqual(sets.labelsOf('p', 'good', true), { provider: 'p', model: 'good' });
    assert.equal(sets.overflowed, 99);
  });

  it('move what failed at first and answers now, so that its place is free again', () => {
    const sets = new LabelSets(8, never);
    assert.equal(sets.labelsOf('p', 'one', false).model, 'one');
    assert.equal(sets.labelsOf('p', 'two', false).model, 'other');
    assert.equal(sets.labelsOf('p', 'one', true).model, 'one');
    assert.equal(sets.labelsOf('p', 'two', false).model, 'two');
  });

  it('take no name that is too long', () => {
    assert.deepEqual(new LabelSets(8, never).labelsOf('p', 'm'.repeat(1000), true), { provider: 'other', model: 'other' });
  });

  it('give the place of a pair that nobody called for an hour to another, and say whose series end', () => {
    let nowMs = 0;
    const idle: PairLabels[] = [];
    const sets = new LabelSets(8, () => nowMs, (labels) => idle.push(labels) > 0);
    for (let index = 0; index < 8; index += 1) sets.labelsOf('p', `made-up-${index}`, true);
    sets.labelsOf('p', 'made-up-bad', false);
    nowMs += hourMs / 2;
    assert.equal(sets.labelsOf('p', 'made-up-7', true).model, 'made-up-7');
    assert.equal(sets.labelsOf('p', 'real', true).model, 'other');
    nowMs += hourMs / 2;
    assert.equal(sets.labelsOf('p', 'real', true).model, 'real');
    assert.deepEqual(idle.map(({ model }) => model), [...Array.from({ length: 7 }, (_, index) => `made-up-${index}`), 'made-up-bad']);
    assert.deepEqual(['made-up-7', 'made-up-0'].map((model) => sets.labelsOf('p', model, true).model), ['made-up-7', 'made-up-0']);
    // Nothing is idle: all are not looked at with each record.
    for (let index = 0; index < 8; index += 1) sets.labelsOf('p', `next-${index}`, true);
    nowMs = -hourMs;
    assert.equal(sets.labelsOf('p', 'another', true).model, 'other');
    nowMs = 2 * hourMs;
    assert.equal(sets.labelsOf('p', 'another', true).model, 'another');
  });

  it('leave a pair its place as long as its series may not end', () => {
    let nowMs = 0;
    let mayEnd = false;
    const sets = new LabelSets(1, () => nowMs, () => mayEnd);
    sets.labelsOf('p', 'first', true);
    nowMs += hourMs;
    assert.equal(sets.labelsOf('p', 'second', true).model, 'other');
    mayEnd = true;
    nowMs += hourMs;
    assert.equal(sets.labelsOf('p', 'second', true).model, 'second');
  });
});
