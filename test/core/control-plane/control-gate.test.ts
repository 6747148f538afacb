import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlGate } from '../../../core/control-plane/control-gate.js';
import { ControlPlane } from '../../../core/control-plane/dispatch.js';
import { resources } from '../../../core/control-plane/resources/index.js';
import { firstAdminKey, startControl } from '../../support/control.js';

describe('the gate of control calls', () => {
  it('bounds what one key has under way and what it begins in a second, and no other key', () => {
    let nowMs = 0;
    const gate = new ControlGate({ atOnceMax: 2, perSecondMax: 3 }, () => nowMs);
    const isIn = (key: string): boolean => { try { gate.enter(key); return true; } catch { return false; } };
    assert.deepEqual([isIn('a'), isIn('a'), isIn('a'), isIn('b')], [true, true, false, true]);
    gate.leave('a');
    assert.equal(isIn('a'), false);
    nowMs = 1000;
    assert.deepEqual([isIn('a'), isIn('a')], [true, false]);
    for (let count = 0; count < 20_000; count += 1) gate.enter(`many-${count}`);
    assert.equal(isIn('a'), false);
  });

  it('answers 429 with a time to come back', async () => {
    const control = await startControl();
    const plane = new ControlPlane(control.plane.services, resources, new ControlGate({ atOnceMax: 1, perSecondMax: 100 }));
    const caller = await control.callerOf(firstAdminKey);
    const call = { id: 'x', method: 'GET', path: '/v1/workspaces', query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], address: '', caller };
    const [first, second] = await Promise.all([plane.handle(call), plane.handle(call)]);
    assert.deepEqual([first.status, second.status, second.headers, JSON.parse(second.body).data.errorCode], [200, 429, ['retry-after', '1'], 'AB06']);
    assert.equal((await plane.handle(call)).status, 200);
  });
});
