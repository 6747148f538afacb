import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nobody } from '../../../core/control-plane/context.js';
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

  it('counts who has no key by address, and addresses of one network as one', async () => {
    const control = await startControl();
    const plane = new ControlPlane(control.plane.services, resources, new ControlGate({ atOnceMax: 1, perSecondMax: 100 }));
    const call = { id: 'x', method: 'GET', path: '/openapi.json', query: '', body: new Uint8Array(0), ifMatch: undefined, idempotencyKey: undefined, headers: [], caller: nobody };
    const from = async (...addresses: readonly string[]): Promise<number[]> => (await Promise.all(addresses.map((address) => plane.handle({ ...call, address })))).map(({ status }) => status);
    assert.deepEqual(await from('192.0.2.1', '192.0.2.2'), [200, 200]);
    assert.deepEqual(await from('2001:0db8:0000:0001:0000:0000:0000:0001', '2001:0db8:0000:0001:ffff:0000:0000:0002', '2001:0db8:0000:0002:0000:0000:0000:0001'), [200, 429, 200]);
  });
});
