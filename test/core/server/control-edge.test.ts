import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Authenticator } from '../../../core/auth/authenticate.js';
import { hashKey } from '../../../core/auth/key.js';
import type { Principal } from '../../../core/auth/principal.js';
import { ControlEdge } from '../../../core/server/control-edge.js';
import { headOf, RecordingResponder } from '../exchange/fakes.js';

const key = 'key-of-the-admin-0123456789';
const principal: Principal = { keyId: 'admin', organisationId: 'o', workspaceId: '', scopes: new Set(), type: 'organisation-service', expiresAtMs: Infinity, defaults: null, workspace: null, limits: null, token: null };
const body = { limitTo: () => {}, discard: () => {}, letGo: () => {}, collect: () => {} };

describe('the control edge', () => {
  it('keeps room for those who have a key, however many others wait', async () => {
    const waiting: ((reply: unknown) => void)[] = [];
    const authenticator = new Authenticator({ mayBeKey: () => true, keyBeginnings: () => [], principalByKeyHash: (hash) => (hash === hashKey(key) ? principal : undefined) });
    const edge = new ControlEdge({ authenticator, sessions: { callerOf: () => undefined } as never, link: { send: () => new Promise((resolve) => { waiting.push(resolve as never); }) } as never, downloads: { serve: () => false }, onFault: () => {} });
    const ask = (path: string, headers: Record<string, string>): RecordingResponder => {
      const responder = new RecordingResponder();
      const head = headOf(headers);
      Object.assign(head, { method: 'GET', path });
      edge.serve(head, body as never, responder, '192.0.2.1');
      return responder;
    };
    const strangers = Array.from({ length: 300 }, () => ask('/auth/login', {}));
    await new Promise((resolve) => { setImmediate(resolve); });
    const refused = strangers.filter(({ status }) => status === 429);
    assert.deepEqual([refused.length, waiting.length], [236, 64]);
    assert.match(refused[0]?.text ?? '', /64 at once without a key/);
    const admin = ask('/v1/workspaces', { 'x-gateway-api-key': key });
    await new Promise((resolve) => { setImmediate(resolve); });
    assert.deepEqual([admin.status, waiting.length], [0, 65], 'it is on its way');
    for (const resolve of waiting) resolve({ status: 200, headers: [], body: '{}' });
    await new Promise((resolve) => { setImmediate(resolve); });
    assert.equal(admin.status, 200);
    const next = ask('/auth/login', {});
    await new Promise((resolve) => { setImmediate(resolve); });
    assert.deepEqual([next.status, waiting.length], [0, 66], 'there is room again');
  });
});
