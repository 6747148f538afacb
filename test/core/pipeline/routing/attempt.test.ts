import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Attempt, drainMsMax, type AttemptOwner } from '../../../../core/pipeline/routing/attempt.js';
import { TimerWheel, type WheelTimeout } from '../../../../core/upstream/timer-wheel.js';
import { exchangeOf } from '../../exchange/fakes.js';
import { ScriptedOrigin, type Scripted } from '../pipeline-fakes.js';

/** Remembers what was started on it; the test says when it is due. */
class HandWheel extends TimerWheel {
  readonly started: { timeout: WheelTimeout; afterMs: number }[] = [];
  override start(timeout: WheelTimeout, dueAt: number, now: number): void {
    this.started.push({ timeout, afterMs: dueAt - now });
    super.start(timeout, dueAt, now);
  }
}

/** An attempt whose response is passed over as soon as its head is here. */
async function passedOver(answer: Scripted): Promise<{ attempt: Attempt; origin: ScriptedOrigin; timers: HandWheel }> {
  const origin = new ScriptedOrigin([answer]);
  const timers = new HandWheel();
  const owner = { exchange: exchangeOf({}), services: { timers }, onHead: (attempt: Attempt) => { attempt.passOver(true); } };
  const target = { provider: { id: 'p', transport: null, plugin: { auth: { type: 'none' } } } };
  const prepared = { parts: null, base: { origin }, request: { method: 'GET', path: '/', headers: [], body: null } };
  // The parts that an attempt reaches.
  const attempt = new Attempt(owner as unknown as AttemptOwner, target as never, prepared as never);
  attempt.begin();
  await new Promise(setImmediate);
  return { attempt, origin, timers };
}

describe('a response that was passed over', () => {
  it('is read to its end only for so long', async () => {
    const { attempt, origin, timers } = await passedOver({ status: 500, chunks: ['x'], isOpen: true });
    assert.deepEqual([timers.started.length, timers.started[0]?.afterMs, timers.running, origin.calls], [1, drainMsMax, 1, []]);
    timers.started[0]?.timeout.owner.onTimeout();
    assert.deepEqual([timers.running, origin.calls, attempt.isRevivable], [0, ['cancel'], false]);
  });

  it('leaves no time-out behind when it has ended, broken off, or is wanted after all', async () => {
    for (const answer of [{ status: 500, chunks: ['x'] }, { status: 500, error: new Error('broke') }]) {
      const { origin, timers } = await passedOver(answer);
      assert.deepEqual([timers.started.length, timers.running, origin.calls], [1, 0, []]);
    }
    const { attempt, origin, timers } = await passedOver({ status: 500, chunks: ['x'], isOpen: true });
    const told: string[] = [];
    attempt.revive({ onChunk: (chunk: Uint8Array) => told.push(Buffer.from(chunk).toString()), onEnd: () => told.push('end') } as never);
    assert.deepEqual([timers.running, told], [0, ['x']]);
    origin.listener?.onChunk(Buffer.from('y'));
    origin.listener?.onEnd();
    assert.deepEqual([told, origin.calls], [['x', 'y', 'end'], []]);
  });
});
