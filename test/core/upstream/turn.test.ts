import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atTurnEnd, beginTurn, endTurn } from '../../../core/upstream/turn.js';

const tick = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('the end of a turn', () => {
  it('comes with the end of the outermost read, in the order of asking', () => {
    const done: string[] = [];
    const work = (name: string): { onTurnEnd(): void } => ({ onTurnEnd: () => { done.push(name); } });
    beginTurn();
    atTurnEnd(work('a'));
    beginTurn();
    atTurnEnd(work('b'));
    endTurn();
    assert.deepEqual(done, []);
    endTurn();
    assert.deepEqual(done, ['a', 'b']);
  });

  it('comes with the end of the running task outside of reads, once', async () => {
    let count = 0;
    const work = { onTurnEnd: () => { count += 1; } };
    atTurnEnd(work);
    assert.equal(count, 0);
    await Promise.resolve();
    await tick();
    assert.equal(count, 1);
    atTurnEnd(work);
    await tick();
    assert.equal(count, 2);
  });

  it('runs what was asked for before the read, and during the end itself', async () => {
    const done: string[] = [];
    atTurnEnd({ onTurnEnd: () => { done.push('before'); } });
    beginTurn();
    atTurnEnd({ onTurnEnd: () => {
      done.push('during');
      atTurnEnd({ onTurnEnd: () => { done.push('added'); } });
    } });
    endTurn();
    assert.deepEqual(done, ['before', 'during', 'added']);
    await tick();
    assert.deepEqual(done, ['before', 'during', 'added']);
  });

  it('keeps nothing from the others when one throws, and raises that afterwards', async (context) => {
    const done: string[] = [];
    const raised: unknown[] = [];
    const nextTick = context.mock.method(process, 'nextTick', (_: unknown, thrown: unknown) => { raised.push(thrown); });
    beginTurn();
    atTurnEnd({ onTurnEnd: () => { throw new Error('of one'); } });
    atTurnEnd({ onTurnEnd: () => { done.push('other'); } });
    endTurn();
    nextTick.mock.restore();
    assert.deepEqual(done, ['other']);
    assert.deepEqual(raised.map(String), ['Error: of one']);
    atTurnEnd({ onTurnEnd: () => { done.push('later'); } });
    await tick();
    assert.deepEqual(done, ['other', 'later']);
  });
});
