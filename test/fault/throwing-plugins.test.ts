// Plugins whose every callback throws, rejects or gives nonsense, one at a time, in calls to a running gateway: each call gets an answer, an
// ordinary call beside it gets its own, and the process lives.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { writePackage } from '../core/registry/plugin-package.js';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { apiKey } from '../support/gateway.js';
import { answerStream, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { places, throwingPackage, ways, type Setting } from './throwing-package/package.js';

/** Nothing of this waits for anything but a check's deadline. */
const answerMsMax = 60_000;
const words = ['one ', 'two'];

const upstream = await startUpstream((received, response, request) => {
  const body: any = received.json();
  const refusal = received.headers['x-refuse'];
  if (typeof refusal === 'string') sendJson(response, 400, { error: { message: refusal } });
  else if (body?.stream === true) answerStream(words)(received, response, request);
  else sendJson(response, 200, chatCompletion);
});
const gateway = await startChildGateway({ GATEWAY_PLUGINS: writePackage(join(temporaryFolder(), 'throwing-plugins'), throwingPackage), GATEWAY_EXPORTERS: 'store,throwing.log', GATEWAY_LOG_LEVEL: 'warn' });

let exit: unknown = null;
void gateway.ended.then((ended) => { exit = ended; });

const target = { provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1` };
const hooksOf = (more: object): object => {
  const hook = { checks: [{ id: 'throwing.check', parameters: { timeout: 20 } }], ...more };
  return { before_request_hooks: [{ id: 'b', ...hook }], after_request_hooks: [{ id: 'a', ...hook }, { id: 'c', async: true, ...hook }] };
};

/** The config that meets a setting, and what else the call needs. */
function routeOf(setting: Setting, fault: string): { config: object; headers?: Record<string, string> } {
  switch (setting) {
    case 'cache': return { config: { ...target, cache: { mode: 'throwing.kept', share_in_flight: true } }, headers: fault.startsWith('cache.remove') ? { 'x-gateway-cache-force-refresh': 'true' } : {} };
    case 'strategy': return { config: { strategy: { mode: 'throwing.first' }, targets: [target, target] } };
    case 'check': return { config: { ...target, ...hooksOf({ type: 'guardrail', deny: true }) } };
    case 'hook': return { config: { ...target, ...hooksOf({ type: 'throwing.type' }) } };
    case 'refused': return { config: { ...target, provider: 'throwing.refused', forward_headers: ['x-refuse'] }, headers: { 'x-refuse': fault } };
    // A key is all that these are told of a call.
    case 'signed': case 'wired': return { config: { ...target, provider: `throwing.${setting}`, api_key: fault, request_timeout: 60 } };
    case 'shaped': return { config: { ...target, provider: 'throwing.shaped' } };
  }
}

async function call(config: object, stream: boolean, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', signal: AbortSignal.timeout(answerMsMax),
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(config), ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], stream }),
  });
  // A stream may be cut where something broke in the middle of it; it may not stay open.
  const text = await response.text().catch((thrown: unknown) => {
    assert.ok(!(thrown instanceof DOMException), 'the answer had no end');
    return '';
  });
  return { status: response.status, text };
}

for (const setting of Object.keys(places) as Setting[]) {
  describe(`plugins that misbehave: ${setting}`, () => {
    for (const place of places[setting]) {
      it(`${place}: every call is answered, and the process lives`, async () => {
        for (const way of ways) {
          const fault = `${place}:${way}`;
          const { config, headers = {} } = routeOf(setting, fault);
          const faulty = [false, true, false].map((stream) => call(config, stream, { 'x-gateway-metadata': JSON.stringify({ fault }), ...headers }));
          const [ordinary, ...answers] = await Promise.all([call(target, false), ...faulty]);
          assert.equal(ordinary.status, 200);
          for (const { status } of answers) assert.ok(status >= 200 && status < 600, fault);
          assert.equal(exit, null, `${fault}: ${gateway.stderr().slice(-500)}`);
        }
        // Once more, alone and in peace.
        assert.deepEqual(JSON.parse((await call(target, false)).text), chatCompletion);
      });
    }
  });
}

describe('afterwards', () => {
  it('a sound answer is what sound calls of the same plugins get', async () => {
    for (const setting of ['cache', 'strategy', 'check', 'hook', 'shaped'] as const) {
      const { config } = routeOf(setting, '');
      for (const stream of [false, true]) {
        const { status, text } = await call(config, stream);
        assert.equal(status, 200, `${setting}: ${text}`);
        assert.match(text, stream ? /(?:one .*two|Hello there).*\[DONE\]/s : /Hello there/, setting);
      }
    }
  });

  it('no call is open any more: the gateway stops at once', async () => {
    gateway.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, { code: 0, signal: null });
  });
});

after(() => { if (process.env.SHOW === '1') process.stderr.write(gateway.stderr()); });
