// What a config may ask for in all: a small text can name patterns, schemas and parameters that are large once they are made.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Config } from '../../../core/config/config.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { closeAll, compilePlan } from '../../../core/plan/compile.js';
import { LoopBudget } from '../../../core/plan/loop-budget.js';
import type { TargetPlan, Plan } from '../../../core/plan/plan.js';
import { PlanCache } from '../../../core/plan/plan-cache.js';
import { exchangeOf } from '../exchange/fakes.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

/** Plans that the package's strategy was closed with. */
const witness = { closed: 0, slow: 0 };
Object.defineProperty(globalThis, Symbol.for('test.weights'), { value: witness });

const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { strategy: 1, guardrail: 1 }, plugins: { strategy: ['heavy'], guardrail: ['slow'] } },
  files: {
    'strategy/heavy.js': `import { defineStrategy } from '@gateway/plugin-sdk';
export default defineStrategy({ title: 'H', describe: 'H.', params: { type: 'object', properties: { bytes: { type: 'number' } } },
  create: ({ bytes }) => ({ weight: { bytes }, next: () => 0, close: () => { globalThis[Symbol.for('test.weights')].closed += 1; } }) });`,
    'guardrail/slow.js': `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({ title: 'S', describe: 'S.', stages: ['input'], needs: { request: 'head' }, params: { type: 'object', properties: {} },
  create: () => { globalThis[Symbol.for('test.weights')].slow += 1; for (const end = performance.now() + 10; performance.now() < end;); return { evaluate: () => ({ pass: true }) }; } });`,
  },
});

const services = planServices([folder]);
const compile = (config: Config): Promise<Plan> => compilePlan(config, { workspaceId: 'w1', provider: undefined, customHost: undefined, digest: 'd1' }, services);
const target = { provider: 'openai', api_key: 'k' };

async function faultOf(config: Config): Promise<string> {
  const thrown = await compile(config).then(() => assert.fail('it compiled'), (error: unknown) => error);
  assert.ok(isGatewayError(thrown) && thrown.code === 'CONFIG_INVALID', String(thrown));
  return `${thrown.param} ${thrown.message}`;
}

const withChecks = (checks: readonly object[]): Config => ({ ...target, before_request_hooks: [{ id: 'h', checks }] }) as Config;
const patterns = (count: number, rule: (index: number) => string): Config => withChecks(Array.from({ length: count }, (_, index) => ({ id: 'default.regexMatch', parameters: { rule: rule(index) } })));
const leavesOf = (plan: Plan): TargetPlan[] => (plan.root.kind === 'target' ? [plan.root] : plan.root.children as TargetPlan[]);

describe('the weight of a config', () => {
  it('is refused at the pattern that goes too far, and no later one is made', async () => {
    for (const rule of [(index: number) => `a{900}${index}`, (index: number) => `(?:b|c){150}${index}`, (index: number) => `word${index}`]) {
      const fault = await faultOf(patterns(250, rule));
      const [, at] = /^config\.before_request_hooks\[0\]\.checks\[(\d+)\] .*too large together/.exec(fault) ?? assert.fail(fault);
      assert.ok(Number(at) < 150, fault);
    }
  });

  it('is refused at the entry of a list that goes too far, and no later one is made', async () => {
    const entries = Array.from({ length: 300 }, (_, index) => ({ regexMatch: { rule: `a{900}${index}` } }));
    const [, at] = /^config\.input_guardrails\[(\d+)\]\.regexMatch .*too large together/.exec(await faultOf({ ...target, input_guardrails: entries } as Config)) ?? assert.fail('another fault');
    assert.ok(Number(at) < 150, at);
  });

  it('is no hindrance for a config of ordinary patterns', async () => {
    closeAll((await compile(patterns(60, (index) => `\\b(?:secret|confidential)-${index}\\w+`))).instances);
  });

  it('counts the checks of all lists together', async () => {
    const hooks = Array.from({ length: 300 }, (_, index) => ({ id: `h${index}`, checks: [{ id: 'default.wordCount', parameters: { minWords: 1 } }] }));
    assert.match(await faultOf({ ...target, before_request_hooks: hooks.slice(0, 150), after_request_hooks: hooks.slice(150) }), /^config\.after_request_hooks\[106\]\.checks\[0\] .*at most 256 checks/);
  });

  it('is what a plugin says, and only a number counts', async () => {
    const heavy = (bytes: number): Config => ({ strategy: { mode: 'acme.heavy', bytes }, targets: [target] }) as Config;
    assert.match(await faultOf(heavy(17 * 1024 * 1024)), /^config\.strategy .*too large together/);
    assert.ok((await compile(heavy(5_000_000))).weightBytes > 5_000_000);
    assert.ok((await compile(heavy(-5_000_000))).weightBytes > 0);
  });

  for (const [form, config] of [
    ['checks of one hook', withChecks(Array.from({ length: 6 }, () => ({ id: 'acme.slow', parameters: {} })))],
    ['hooks', { ...target, before_request_hooks: Array.from({ length: 6 }, (_, index) => ({ id: `h${index}`, checks: [{ id: 'acme.slow', parameters: {} }] })) }],
    ['guardrails', { ...target, input_guardrails: Array.from({ length: 6 }, () => ({ 'acme.slow': {} })) }],
  ] as const) it(`lets other work have its turn while a config of many ${form} is compiled`, async () => {
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    try {
      await compile(config as Config);
    } finally {
      isDone = true;
    }
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('holds the loop for one check at a time, also where many hooks and configs are compiled at once', async () => {
    const hooks = (length: number): Config => ({ ...target, before_request_hooks: Array.from({ length }, (_, index) => ({ id: `h${index}`, checks: [{ id: 'acme.slow', parameters: {} }] })) }) as Config;
    await compile(hooks(1));
    let most = 0;
    let before = witness.slow;
    let isDone = false;
    const turn = (): void => {
      most = Math.max(most, witness.slow - before);
      before = witness.slow;
      if (!isDone) setImmediate(turn);
    };
    turn();
    try {
      await Promise.all([compile(hooks(5)), compile(hooks(5)), compile(hooks(5))]);
    } finally {
      isDone = true;
    }
    // Each config may begin at once; from then on they take turns.
    assert.ok(most <= 3, `${most} checks in one turn`);
  });

  it('stops at a hook that is refused: none behind it is made', async () => {
    const before = witness.slow;
    const slow = { id: 'h', checks: [{ id: 'acme.slow', parameters: {} }] };
    await faultOf({ ...target, before_request_hooks: [{ id: 'h', checks: [{ id: 'default.wordCount', parameters: { nonsense: 1 } }] }, slow, slow, slow] } as Config);
    await new Promise((resolve) => { setImmediate(resolve); });
    assert.equal(witness.slow, before);
  });

  it('is that of parameters once, however many targets inherit them', async () => {
    const override_params = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, index]));
    const default_params = { other: 'x' };
    const drop_params = ['a', 'b[*].c'];
    const after_request_hooks = [{ id: 'h', checks: [{ id: 'default.wordCount', parameters: { minWords: 1 } }] }];
    const targets = Array.from({ length: 90 }, () => target);
    const plan = await compile({ strategy: { mode: 'fallback' }, targets, override_params, default_params, drop_params, after_request_hooks });
    const [first, ...others] = leavesOf(plan);
    assert.equal(first?.edits.length, 1001);
    for (const target of others) {
      assert.ok(target.edits === first?.edits && target.fills === first.fills && target.fieldEdits === first.fieldEdits && target.dropPaths === first.dropPaths);
      assert.ok(target.afterDigest === first.afterDigest && target.afterDigest.length < 200);
    }
    const own = targets.map((one, index) => ({ ...one, override_params: { own: index } }));
    assert.match(await faultOf({ strategy: { mode: 'fallback' }, targets: own, override_params }), /^config\.targets\[\d+\](?:\.override_params)? .*too large together/);
  });

  it('is bounded for paths that every member of a body is held against', async () => {
    const paths = (from: number): string[] => Array.from({ length: 60 }, (_, index) => `p${from + index}`);
    assert.match(await faultOf({ ...target, drop_params: [...paths(0), ...paths(60)] }), /^config\.drop_params .*more than 100 paths/);
    assert.match(await faultOf({ strategy: { mode: 'single' }, targets: [{ ...target, drop_params: paths(60) }], drop_params: paths(0) }), /^config\.targets\[0\]\.drop_params .*more than 100 paths/);
  });
});

describe('the plan cache', () => {
  it('keeps what fits into its memory, not a number of plans', async () => {
    const cache = new PlanCache(services);
    witness.closed = 0;
    for (let index = 0; index < 40; index += 1) {
      const config = { strategy: { mode: 'acme.heavy', bytes: 10 * 1024 * 1024 }, targets: [{ ...target, name: `t${index}` }] };
      const exchange = exchangeOf({ headers: { 'x-gateway-config': JSON.stringify(config) } });
      exchange.principal = { keyId: 'k', workspaceId: 'w', organisationId: 'o' };
      await cache.find(exchange);
    }
    assert.ok(witness.closed >= 28 && witness.closed < 40, `${witness.closed} closed`);
    cache.clear();
    assert.equal(witness.closed, 40);
  });
});

describe('a text that a pattern might take long for', () => {
  it('goes to the pool at once, whatever harmless ones have cost', async () => {
    const plan = await compile(patterns(2, (index) => `[a-z]{500}${index}`));
    const budget = leavesOf(plan)[0]?.before?.[0]?.checks[0]?.budget;
    assert.ok(budget instanceof LoopBudget);
    for (let count = 0; count < 100; count += 1) budget.note(100_000, 0.01);
    assert.ok(budget.isBeyond(100_000));
    assert.ok(!budget.isBeyond(1_000));
    closeAll(plan.instances);
  });
});
