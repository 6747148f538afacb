import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { connectionsFor, descriptorLimit, isDescriptorFree } from '../../../core/server/descriptors.js';
import { Listener } from '../../../core/server/listener.js';
import { HeldBytes } from '../../../core/body/held-bytes.js';
import { loadUws } from '../../../core/server/uws.js';

const held: number[] = [];
const hold = (count: number): void => { for (let index = 0; index < count; index += 1) held.push(openSync('/dev/null', 'r')); };
const letGo = (): void => { for (const descriptor of held.splice(0)) closeSync(descriptor); };
after(letGo);

const isAccepted = (port: number): Promise<boolean> => new Promise((resolve) => {
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => { socket.destroy(); resolve(true); });
  socket.once('error', () => resolve(false));
});

describe('file descriptors', () => {
  it('are known of this process, and leave room beside the clients', () => {
    const limit = descriptorLimit();
    assert.ok(limit === undefined || limit > 20);
    assert.deepEqual([64, 96, 1024, 1_048_576].map(connectionsFor), [16, 24, 384, 524_160]);
    for (const few of [1, 8, 20]) assert.ok(connectionsFor(few) >= 1);
  });

  it('that are not there make the edge stop listening, and listen again when they are', async () => {
    const probe = openSync('/dev/null', 'r');
    closeSync(probe);
    const descriptorsMax = probe + 100;
    const reports: boolean[] = [];
    let wake = (): void => undefined;
    const told = (count: number): Promise<void> => new Promise((resolve) => {
      wake = () => { if (reports.length >= count) resolve(); };
      wake();
    });
    const listener = new Listener(loadUws(65_536), {
      tls: undefined, limits: { bodyBytesMax: 1000, bodyTimeoutMs: 1000, bodyDeadlineMs: 1000, bodyRateMin: 0 },
      held: new HeldBytes(HeldBytes.allocate(), 16_777_216), version: '0', spinMs: 0,
      connections: { connectionsMax: 100, perAddressMax: 100, trustedProxies: [] }, descriptorsMax, corsOrigins: [],
    }, { handle: () => undefined, handlePrompt: () => undefined, onClientGone: () => undefined }, { parse: () => ({}), field: () => undefined }, { serve: () => undefined }, { serve: async () => undefined }, {
      refused: () => undefined,
      paused: (isPaused) => { reports.push(isPaused); wake(); },
    });
    // What the connection before leaves free is taken as well. (And the watch alone keeps no process alive.)
    let isFilling = false;
    const filler = setInterval(() => { while (isFilling && isDescriptorFree(descriptorsMax)) hold(1); }, 20);
    try {
      const port = await listener.listen('127.0.0.1', 0);
      assert.ok(await isAccepted(port));
      isFilling = true;
      await told(1);
      isFilling = false;
      assert.equal(await isAccepted(port), false);
      letGo();
      await told(2);
      assert.deepEqual(reports, [true, false]);
      assert.ok(await isAccepted(port));
    } finally {
      clearInterval(filler);
      letGo();
      listener.close();
    }
  });
});
