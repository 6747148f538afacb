// Two threads in one process: both serve, and what must be one thing for all of them is one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startChildGateway, type ChildGateway } from '../support/child-gateway.js';
import { adminKey, apiKey, routed } from '../support/gateway.js';
import { answerChat, sendJson, startUpstream, type TestUpstream } from '../support/upstream.js';
import { openWire, type Wire } from '../support/wire.js';

/** The kernel spreads connections by their ports: that all of these come to one of two threads does not happen in the age of the universe. */
const connectionCount = 128;

const upstream = await startUpstream();
const gateway = await startChildGateway({ GATEWAY_THREADS: '2' });

const chat = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });

interface Answer {
  readonly status: number;
  readonly head: string;
}

async function call(wire: Wire, headers: Record<string, string>): Promise<Answer> {
  const at = wire.text().length;
  const lines = Object.entries({ host: 'g', 'content-type': 'application/json', 'content-length': String(chat.length), ...headers });
  wire.write(`POST /v1/chat/completions HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${chat}`);
  const text = (await wire.until((all) => isWhole(all.slice(at)))).slice(at);
  return { status: Number(text.slice(9, 12)), head: text.slice(0, text.indexOf('\r\n\r\n')) };
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  return end >= 0 && text.length >= end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Infinity);
}

/** Runs `work` with connections that are spread over the threads. */
async function spread(of: ChildGateway, work: (wires: readonly Wire[]) => Promise<void>): Promise<void> {
  const wires = await Promise.all(Array.from({ length: connectionCount }, () => openWire(of.port)));
  try {
    await work(wires);
  } finally {
    for (const wire of wires) wire.destroy();
  }
}

const failing = async (): Promise<TestUpstream> => startUpstream((_, response) => sendJson(response, 500, { error: { message: 'out of order' } }));
const target = (of: TestUpstream, members: object = {}): object => ({ provider: 'openai', api_key: 'sk', custom_host: `${of.url}/v1`, ...members });
const withConfig = (config: object): Record<string, string> => ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config) });

describe('two threads', () => {
  it('both serve, each over a connection of its own to the provider, with the same keys', async () => {
    await spread(gateway, async (wires) => {
      // One after another: a thread needs no second connection, so the provider sees as many as there are threads.
      for (const wire of wires) assert.equal((await call(wire, routed(upstream.url))).status, 200);
      assert.equal(upstream.connections, 2);
      for (const wire of wires.slice(0, 32)) {
        assert.equal((await call(wire, { ...routed(upstream.url), 'x-gateway-api-key': `${apiKey}x` })).status, 401);
        assert.equal((await call(wire, { ...routed(upstream.url), 'x-gateway-api-key': adminKey })).status, 403);
      }
      assert.equal(upstream.received.length, connectionCount);
    });
  });

  it('count the failures of a target together: exactly as many reach it as its circuit breaker allows', async () => {
    for (const threshold of [1, 5, 20]) {
      const bad = await failing();
      const breaker = { cb_config: { failure_threshold: threshold, cooldown_interval: 60_000 } };
      const config = { strategy: { mode: 'fallback' }, targets: [target(bad, breaker), target(upstream, breaker)] };
      await spread(gateway, async (wires) => {
        for (const [index, wire] of wires.entries()) {
          const { status, head } = await call(wire, withConfig(config));
          assert.equal(status, 200);
          assert.match(head, /x-gateway-last-used-option-index: config\.targets\[1\]/);
          assert.equal(bad.received.length, Math.min(index + 1, threshold));
        }
      });
    }
  });

  it('open a breaker for both at once, with calls under way on both', async () => {
    const bad = await failing();
    const threshold = 10;
    const breaker = { cb_config: { failure_threshold: threshold, cooldown_interval: 60_000 } };
    const headers = withConfig({ strategy: { mode: 'fallback' }, targets: [target(bad, breaker), target(upstream, breaker)] });
    await spread(gateway, async (wires) => {
      const waves = 4;
      const perWave = connectionCount / waves;
      for (let wave = 0; wave < waves; wave += 1) {
        const answers = await Promise.all(wires.slice(wave * perWave, (wave + 1) * perWave).map((wire) => call(wire, headers)));
        assert.ok(answers.every(({ status }) => status === 200));
        // What was under way when it opened may still fail there; later calls pass it by.
        assert.ok(bad.received.length >= threshold && bad.received.length <= perWave, `wave ${wave}: ${bad.received.length}`);
      }
    });
  });

  it('end together, and start again on the same rows', async () => {
    const first = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_API_KEY: '', GATEWAY_ADMIN_KEY: '' });
    const made = /API key +(\S+)/.exec(first.stdout())?.[1] ?? '';
    const headers = { ...routed(upstream.url), 'x-gateway-api-key': made };
    await spread(first, async (wires) => { for (const wire of wires.slice(0, 32)) assert.equal((await call(wire, headers)).status, 200); });
    first.kill('SIGTERM');
    assert.deepEqual(await first.ended, { code: 0, signal: null });
    const second = await startChildGateway({ GATEWAY_THREADS: '2', GATEWAY_API_KEY: '', GATEWAY_ADMIN_KEY: '', GATEWAY_DATA_DIR: first.dataDir });
    await spread(second, async (wires) => { for (const wire of wires.slice(0, 32)) assert.equal((await call(wire, headers)).status, 200); });
  });

  it('answer as before after all that', async () => {
    upstream.answer = answerChat;
    await spread(gateway, async (wires) => { for (const wire of wires.slice(0, 16)) assert.equal((await call(wire, routed(upstream.url))).status, 200); });
  });
});
