import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fail } from '../../../core/errors/gateway-error.js';
import { MetricsEdge } from '../../../core/server/metrics-edge.js';
import type { Scraped } from '../../../core/telemetry/figures.js';
import { headOf, RecordingResponder } from '../exchange/fakes.js';

const local = '127.0.0.1';
const text: Scraped = { kind: 'text', contentType: 'text/plain', bytes: Buffer.from('figures') };
const body = { discard: () => undefined };

interface Options {
  readonly scrape?: () => Promise<Scraped>;
  readonly authenticate?: () => unknown;
  readonly verify?: () => Promise<void>;
}

function setUp({ scrape = async () => text, authenticate = () => { throw fail('KEY_MISSING'); }, verify = async () => undefined }: Options = {}) {
  const faults: string[] = [];
  const edge = new MetricsEdge({ authenticator: { authenticate, verify } as never, scrape, onFault: (reason) => faults.push(reason) });
  const ask = async (headers: Record<string, string> = { host: 'localhost:8787' }, address = local, isProxy = false): Promise<RecordingResponder> => {
    const responder = new RecordingResponder();
    await edge.serve(headOf(headers), body, responder, address, isProxy);
    return responder;
  };
  return { ask, faults };
}

describe('the metrics at the edge', () => {
  it('are open to this machine by its own names and addresses alone', async () => {
    const { ask } = setUp();
    const loopback6 = '0000:0000:0000:0000:0000:0000:0000:0001';
    for (const [host, address] of [['localhost', local], ['LOCALHOST:80', local], ['127.0.0.1:8787', '127.0.0.2'], ['[::1]:8787', loopback6]] as const) assert.equal((await ask({ host }, address)).status, 200, `${host} ${address}`);
    for (const [host, address] of [
      ['localhost', '192.0.2.1'], ['localhost', '10.0.0.1'], ['localhost', '0000:0000:0000:0000:0000:0000:0000:0002'], ['localhost', ''], ['localhost', '1127.0.0.1'],
      ['gateway.example', local], ['127.0.0.1.evil.example', local], ['localhost.evil.example', local], ['', local],
    ] as const) assert.equal((await ask({ host }, address)).status, 401, `${host} ${address}`);
    assert.equal((await ask({ host: 'localhost' }, local, true)).status, 401, 'a proxy of the settings');
    assert.equal((await ask({})).status, 401, 'without a host');
  });

  it('are closed to whoever comes through a proxy, or from a page in a browser, by any sign of it', async () => {
    const { ask } = setUp();
    for (const name of ['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'cdn-loop', 'via', 'origin', 'sec-fetch-site']) {
      assert.equal((await ask({ host: 'localhost', [name]: '203.0.113.9' })).status, 401, name);
    }
  });

  it('ask for the scope, and know tokens when they were verified', async () => {
    const principal = (scopes: readonly string[]): unknown => ({ scopes: new Set(scopes) });
    assert.equal((await setUp({ authenticate: () => principal(['metrics.read']) }).ask({}, '192.0.2.1')).status, 200);
    const without = await setUp({ authenticate: () => principal(['analytics.view']) }).ask();
    assert.equal(without.status, 403, 'a key that may not is not better than none');
    assert.match(without.text, /metrics\.read/);
    let isVerified = false;
    const token = { authenticate: () => (isVerified ? principal(['metrics.read']) : null), verify: async () => { isVerified = true; } };
    assert.equal((await setUp(token).ask({}, '192.0.2.1')).status, 200);
    assert.equal((await setUp({ authenticate: () => null }).ask()).status, 503);
    assert.equal((await setUp({ authenticate: () => null, verify: async () => { throw fail('TOKEN_INVALID', { reason: 'x' }); } }).ask()).status, 401);
  });

  it('say when there are none, and why', async () => {
    const off = await setUp({ scrape: async () => ({ kind: 'off' }) }).ask();
    assert.deepEqual([off.status, off.headers[off.headers.indexOf('content-type') + 1]], [404, 'application/json']);
    const failed = await setUp({ scrape: async () => ({ kind: 'failed', reason: 'the log thread is being started again' }) }).ask();
    assert.equal(failed.status, 503);
    assert.match(failed.text, /could not be brought together: the log thread is being started again/);
    const { ask, faults } = setUp({ scrape: async () => { throw new Error('unexpected'); } });
    const thrown = await ask();
    assert.equal(thrown.status, 503);
    assert.ok(!thrown.text.includes('unexpected'));
    assert.deepEqual(faults, ['unexpected']);
    assert.equal((await ask()).status, 503, 'and the next question is asked anew');
    assert.equal(faults.length, 2);
  });

  it('are asked for once, however many wait', async () => {
    let asked = 0;
    let tell = (_: Scraped): void => undefined;
    const { ask } = setUp({ scrape: () => { asked += 1; return new Promise((resolve) => { tell = resolve; }); } });
    const waiting = Array.from({ length: 20 }, () => ask());
    await new Promise((resolve) => { setImmediate(resolve); });
    tell(text);
    assert.deepEqual((await Promise.all(waiting)).map(({ text: body_ }) => body_), Array.from({ length: 20 }, () => 'figures'));
    assert.equal(asked, 1);
  });

  it('are for nobody who has left', async () => {
    const responder = new RecordingResponder();
    const edge = new MetricsEdge({ authenticator: { authenticate: () => { throw fail('KEY_MISSING'); } } as never, scrape: async () => { responder.isOpen = false; return text; }, onFault: () => undefined });
    await edge.serve(headOf({ host: 'localhost' }), body, responder, local, false);
    assert.equal(responder.status, 0);
  });
});
