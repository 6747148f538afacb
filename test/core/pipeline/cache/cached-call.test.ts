import type { CacheHit } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Config } from '../../../../core/config/config.js';
import { isGatewayError } from '../../../../core/errors/gateway-error.js';
import type { Exchange } from '../../../../core/exchange/exchange.js';
import { BuiltBodies } from '../../../../core/pipeline/cache/built-bodies.js';
import { CachedCall, type CacheOutcome } from '../../../../core/pipeline/cache/cached-call.js';
import { Refreshed } from '../../../../core/pipeline/cache/refreshed.js';
import { prepare, type PreparedRequest } from '../../../../core/pipeline/request/prepare.js';
import type { PipelineServices } from '../../../../core/pipeline/services.js';
import { compilePlan } from '../../../../core/plan/compile.js';
import type { CachePlan, TargetPlan } from '../../../../core/plan/plan.js';
import { exchangeOf, RecordingResponder } from '../../exchange/fakes.js';
import { planServices } from '../../plan/plan-services.js';
import { pipelineServices } from '../pipeline-fakes.js';

const compileServices = planServices();
const answer = Buffer.from('{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}');
const bodyOf = (more: object = {}): string => JSON.stringify({ model: 'm', max_tokens: 5, seed: 7, messages: [{ role: 'user', content: 'Hello' }], ...more });

/** What a call of a target with a cache comes to; `known`: what the cache has, whatever it is asked. */
async function cachedTarget(provider: string, known: () => CacheHit | undefined): Promise<{ readonly ask: (body: string, headers?: Record<string, string>) => Asked }> {
  const { root } = await compilePlan({ provider, api_key: 'k' } as Config, { workspaceId: 'w', provider: undefined, customHost: undefined, digest: 'd' }, compileServices);
  assert.ok(root.kind === 'target');
  const cache = { lookup: known, store() {}, remove() {} };
  const plan: CachePlan = { mode: 'simple', cache, params: {}, compares: 'exact' as never, ageMsMax: 60_000, sharesInFlight: false };
  const target: TargetPlan = { ...root, cache: plan };
  const services: PipelineServices = { ...pipelineServices(), builtBodies: new BuiltBodies(), refreshed: new Refreshed() };
  return {
    ask(body, headers = {}) {
      const responder = new RecordingResponder();
      const exchange = exchangeOf({ body, responder, headers: { 'content-type': 'application/json', ...headers } });
      const prepared = prepare(exchange, target, null);
      const call = new CachedCall({ exchange, services, onJoinedEnd() {}, onAbandoned() {} });
      const outcome = call.ask(target, plan, prepared);
      assert.ok(typeof outcome === 'string');
      return { exchange, prepared, outcome, responder, isBuilt: prepared.putOff === null };
    },
  };
}

interface Asked {
  readonly exchange: Exchange;
  readonly prepared: PreparedRequest;
  readonly outcome: CacheOutcome;
  readonly responder: RecordingResponder;
  readonly isBuilt: boolean;
}

const hit = (): CacheHit => ({ status: 200, contentType: 'application/json', body: answer, storedAtMs: Date.now(), endsAtMs: Date.now() + 60_000, match: 'exact' }) as CacheHit;
const unsupported = ({ responder: { headers } }: Asked): string | undefined => headers[headers.indexOf('x-gateway-unsupported-params') + 1];

describe('a cached call of a provider that makes its own body', () => {
  it('is answered without the body when the same was made before, and tells all the same what it leaves out', async () => {
    const { ask } = await cachedTarget('anthropic', hit);
    const first = ask(bodyOf());
    const again = ask(bodyOf());
    assert.deepEqual([first.outcome, first.isBuilt, again.outcome, again.isBuilt], ['hit', true, 'hit', false]);
    assert.equal(unsupported(first), 'seed');
    assert.equal(unsupported(again), 'seed');
    assert.equal(ask(bodyOf({ max_tokens: 6 })).isBuilt, true);
  });

  it('has its body when the cache knows nothing, the same as without a cache', async () => {
    const { ask } = await cachedTarget('anthropic', () => undefined);
    for (const { outcome, isBuilt, prepared, exchange } of [ask(bodyOf()), ask(bodyOf()), ask(bodyOf(), { 'x-gateway-cache-force-refresh': 'true' }), ask(bodyOf(), { 'x-gateway-debug': 'false' })]) {
      assert.deepEqual([outcome, isBuilt, exchange.unsupported], ['miss', true, ['seed']]);
      assert.ok(prepared.request.body instanceof Uint8Array);
      assert.deepEqual(JSON.parse(Buffer.from(prepared.request.body).toString()).messages[0].content, [{ type: 'text', text: 'Hello' }]);
      assert.ok(prepared.request.headers.includes('content-type'));
    }
  });

  it('that the provider cannot take is refused though the cache has an answer', async () => {
    const { ask } = await cachedTarget('anthropic', hit);
    assert.equal(ask(bodyOf()).outcome, 'hit');
    for (let count = 0; count < 2; count += 1) {
      assert.throws(() => ask(bodyOf(), { 'x-gateway-unsupported-params': 'refuse' }), (thrown) => isGatewayError(thrown) && thrown.code === 'BODY_INVALID' && thrown.param === 'seed');
    }
  });

  it('of a provider that takes the bytes has nothing to put off', async () => {
    const { ask } = await cachedTarget('openai', hit);
    assert.deepEqual([ask(bodyOf()).outcome, ask(bodyOf()).isBuilt], ['hit', true]);
  });
});

describe('bodies that were made', () => {
  it('are forgotten, the oldest first, beyond a limit', () => {
    const bodies = new BuiltBodies();
    for (let count = 0; count <= 4096; count += 1) bodies.add(`key ${count}`, []);
    assert.equal(bodies.find('key 0'), undefined);
    assert.deepEqual([bodies.find('key 1'), bodies.find('key 4096')], [[], []]);
  });
});
