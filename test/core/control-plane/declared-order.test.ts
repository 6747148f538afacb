import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Declared } from '../../../core/control-plane/define-declared.js';
import type { Entry } from '../../../core/control-plane/resources/declarations/entries.js';
import { ordered, type OrderedEntry } from '../../../core/control-plane/resources/declarations/order.js';
import { configsDeclared } from '../../../core/control-plane/resources/configs/declared.js';

const configs: Declared = configsDeclared;

/** Things that name others in `needs`, and late in `later`. */
const things: Declared = {
  ...configs, section: 'things', kind: 'thing', late: ['later'],
  references: ({ needs, later }) => [needs, later].flat().flatMap((name) => (typeof name === 'string' ? [{ section: 'things', name, place: 'needs' }] : [])),
};

const thing = (name: string, needs: readonly string[] = [], later: readonly string[] = [], workspace: string | null = 'w'): OrderedEntry => {
  const entry: Entry = { declared: things, name, workspace, members: { needs, later }, place: `documents.0.things.${name}`, isImplied: false };
  return { entry, workspace };
};
const namesOf = (entries: readonly OrderedEntry[]): string[] => ordered(entries).map(({ entry }) => entry.name);

describe('the order of declared objects', () => {
  it('has what is referred to first, and is that of the file else', () => {
    assert.deepEqual(namesOf([thing('a', ['c']), thing('b'), thing('c', ['d', 'nowhere']), thing('d')]), ['d', 'c', 'a', 'b']);
  });

  it('prefers what is of the same workspace to what is the organisation\'s own', () => {
    assert.deepEqual(ordered([thing('a', ['b']), thing('b', [], [], null), thing('b')]).map(({ entry: { name }, workspace }) => `${name} ${workspace ?? ''}`), ['b w', 'a w', 'b ']);
    assert.deepEqual(ordered([thing('a', ['b']), thing('b', [], [], null), thing('b', [], [], 'v')]).map(({ entry: { name }, workspace }) => `${name} ${workspace ?? ''}`), ['b ', 'a w', 'b v']);
  });

  it('refuses a circle, and says which', () => {
    assert.throws(() => namesOf([thing('x'), thing('a', ['b']), thing('b', ['x', 'c']), thing('c', ['a'])]), { param: 'documents.0.things.c.needs', message: 'refers to itself in a circle: thing a -> thing b -> thing c -> thing a' });
    assert.throws(() => namesOf([thing('a', ['a'])]), { message: 'refers to itself in a circle: thing a -> thing a' });
  });

  it('finds none in what is set when all else is there', () => {
    assert.deepEqual(namesOf([thing('a', ['b']), thing('b', [], ['a'])]), ['b', 'a']);
  });

  it('holds for a chain as long as a file', () => {
    const chain = Array.from({ length: 5_000 }, (_, index) => thing(String(index), index === 4_999 ? [] : [String(index + 1)]));
    assert.equal(namesOf(chain)[0], '4999');
  });
});
