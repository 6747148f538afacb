import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyBuffer, plainBytes } from '../../../core/body/body-buffer.js';
import { HeldBytes } from '../../../core/body/held-bytes.js';
import fc from '../../support/fast-check.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const heldOf = (bytesMax: number): HeldBytes => new HeldBytes(HeldBytes.allocate(), bytesMax);
const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, index) => index * 7 % 251));

describe('a body that comes in pieces', () => {
  it('is whole in the end however it was cut, announced or not, and counts what its memory takes', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 200 * KiB }), { minLength: 1, maxLength: 12 });
    fc.assert(fc.property(cuts, fc.boolean(), fc.boolean(), (lengths, isAnnounced, isBusy) => {
      const held = heldOf(64 * MiB);
      // Beyond 4 MiB bodies get pages of their own.
      const others = isBusy ? 20 * MiB : 0;
      assert.ok(held.take(others, false));
      const length = lengths.reduce((sum, each) => sum + each, 0);
      const whole = bytesOf(length);
      const body = new BodyBuffer(held, isAnnounced ? length : -1);
      let at = 0;
      lengths.forEach((each, index) => {
        assert.ok(body.append(whole.subarray(at, at + each), index === lengths.length - 1));
        at += each;
        const counted = held.bytes - others;
        assert.ok(counted >= at && counted <= (isAnnounced ? Math.min(length, Math.max(64 * KiB, at * 4)) : Math.max(KiB, at * 2)), `${counted} bytes are counted for ${at}`);
      });
      const counted = held.bytes;
      assert.ok(body.take().equals(whole));
      assert.equal(held.bytes, counted);
      body.release();
      body.release();
      assert.equal(held.bytes, others);
    }), { numRuns: 60 });
  });

  it('is believed what it announces up to 64 KiB, and up to four times what has come', () => {
    const held = heldOf(1024 * MiB);
    const body = new BodyBuffer(held, 100 * MiB);
    assert.ok(body.append(bytesOf(1), false));
    assert.equal(held.bytes, 64 * KiB);
    assert.ok(body.append(bytesOf(100 * KiB), false));
    assert.equal(held.bytes, 4 * (100 * KiB + 1));
    body.release();
    assert.equal(held.bytes, 0);
  });

  it('takes the room there is when twice as much cannot be had, and nothing when there is none', () => {
    const held = heldOf(8 * MiB);
    const body = new BodyBuffer(held, -1);
    assert.ok(body.append(Buffer.alloc(3 * MiB, 1), false));
    assert.ok(body.append(Buffer.alloc(3 * MiB, 2), false));
    assert.ok(body.append(Buffer.alloc(MiB, 3), false));
    assert.equal(held.bytes, 7 * MiB);
    assert.ok(!body.append(Buffer.alloc(1, 4), true));
    assert.equal(held.bytes, 7 * MiB);
    assert.equal(body.length, 7 * MiB);
    const whole = body.take();
    assert.deepEqual([whole.length, whole[0], whole[4 * MiB], whole.at(-1)], [7 * MiB, 1, 2, 3]);
  });

  it('that is short stays where short things are, and a long one has pages of its own when many are held', () => {
    const held = heldOf(64 * MiB);
    const bodyOf = (length: number): Buffer => {
      const body = new BodyBuffer(held, length);
      assert.ok(body.append(Buffer.alloc(length, 'x'), true));
      return body.take();
    };
    const isPaged = ({ buffer }: Buffer): boolean => buffer instanceof ArrayBuffer && buffer.resizable;
    assert.ok(!isPaged(bodyOf(150 * KiB)));
    assert.ok(isPaged(bodyOf(300 * KiB)));
    assert.ok(held.take(4 * MiB, false));
    assert.ok(isPaged(bodyOf(150 * KiB)));
    assert.ok(!isPaged(bodyOf(10 * KiB)));
  });

  it('is shown to plugins in a buffer that everything takes', async () => {
    const body = new BodyBuffer(heldOf(64 * MiB), 300 * KiB);
    assert.ok(body.append(Buffer.alloc(300 * KiB, 'x'), true));
    const bytes = body.take();
    assert.throws(() => new Response(bytes));
    const shown = plainBytes(bytes);
    assert.equal((await new Response(shown).text()).length, 300 * KiB);
    assert.equal(plainBytes(shown), shown);
  });
});
