// Plans made of stored rows: when they are taken again, and when made anew.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { PlanCache } from '../../../core/plan/plan-cache.js';
import type { Plan, TargetPlan } from '../../../core/plan/plan.js';
import { View } from '../../../core/snapshot/view.js';
import { Repository } from '../../../core/storage/repository.js';
import { Sealer } from '../../../core/storage/sealer.js';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { keyRow } from '../../support/rows.js';
import { StoredRows } from '../../support/stored.js';
import { exchangeOf } from '../exchange/fakes.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';
import { planServices } from './plan-services.js';

const gate: { wait: Promise<void> | null; made: number; closed: number } = { wait: null, made: 0, closed: 0 };
Object.defineProperty(globalThis, Symbol.for('test.gate'), { value: gate });
const folder = writePackage(temporaryFolder(), {
  gateway: { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['slow'] } },
  files: {
    'strategy/slow.js': `import { defineStrategy } from '@gateway/plugin-sdk';
const gate = globalThis[Symbol.for('test.gate')];
export default defineStrategy({ title: 'S', describe: 'S.', params: { type: 'object', properties: {} }, create: async () => {
  gate.made += 1;
  await gate.wait;
  return { next: () => 0, close: () => { gate.closed += 1; } };
} });`,
  },
});

const masterKey = Buffer.alloc(32, 3);
const rows = new StoredRows(new Repository(await fakeHost().store('unused')), masterKey, 'o', 'w');

interface Cached {
  readonly view: View;
  readonly cache: PlanCache;
  find(headers: Readonly<Record<string, string>>): Plan | Promise<Plan>;
}

function setUp(): Cached {
  const view = new View(new Sealer(masterKey));
  view.put('integration', rows.integrationRow('main', { key: 'sk-marked-secret', configurations: { vendor_organization: 'marked-organisation' }, headers: { 'x-secret': 'marked-header' } }));
  view.put('provider', rows.providerRow('main', 'main'));
  view.put('provider', rows.providerRow('other', 'main'));
  view.put('config', rows.configRow('pc-a', { provider: '@main', cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } }));
  const cache = new PlanCache({ ...planServices([folder]), rows: { view } });
  return {
    view, cache,
    find: (headers) => {
      const exchange = exchangeOf({ headers });
      exchange.principal = { keyId: 'k', workspaceId: 'w', organisationId: 'o' };
      return cache.find(exchange);
    },
  };
}

const stored = { 'x-gateway-config': 'pc-a' };
const targetOf = ({ root }: Plan): TargetPlan => (root.kind === 'target' ? root : assert.fail('a group'));

describe('a plan of stored rows', () => {
  it('is found again at once, also after changes of rows that it is not made of', async () => {
    const { view, find } = setUp();
    const plan = await find(stored);
    assert.equal(find(stored), plan);
    view.put('provider', rows.providerRow('other', 'main', { name: 'new name' }));
    view.put('config', rows.configRow('pc-b', { provider: '@other' }));
    view.put('api-key', keyRow('a'));
    assert.equal(find(stored), plan);
    assert.deepEqual(plan.sources?.map(({ kind, name }) => `${kind} ${name}`), ['config pc-a', 'provider main', 'integration main']);
  });

  it('is made anew when its config, its provider or its integration is another, and the one before is closed when its last call is over', async () => {
    const { view, cache, find } = setUp();
    const before = await find(stored);
    cache.acquire(before);
    for (const change of [
      () => view.put('config', rows.configRow('pc-a', { provider: '@other' }, { versionId: 'v2', version: 2 })),
      () => view.put('provider', rows.providerRow('other', 'main', { name: 'x' })),
      () => view.put('integration', rows.integrationRow('main', { key: 'sk-2' })),
    ]) {
      const last = await find(stored);
      change();
      const plan = await find(stored);
      assert.notEqual(plan, last);
      assert.equal(find(stored), plan);
    }
    assert.equal(targetOf(await find(stored)).apiKey?.reveal(), 'sk-2');
    assert.equal(targetOf(before).apiKey?.reveal(), 'sk-marked-secret');
    assert.equal(before.isRetired, true);
    cache.release(before);
  });

  it('is refused when a row is gone, every time, and made again when it is back', async () => {
    const { view, find } = setUp();
    await find(stored);
    view.remove('config', 'id-of-pc-a');
    for (let count = 0; count < 2; count += 1) await assert.rejects(async () => find(stored), { code: 'CONFIG_UNKNOWN' });
    view.put('config', rows.configRow('pc-a', { provider: '@main' }));
    assert.equal(targetOf(await find(stored)).stored?.slug, 'main');
  });

  it('is never made of two states: what changed while it was compiled is looked at again', async () => {
    const { view, find } = setUp();
    let open = (): void => {};
    gate.wait = new Promise((resolve) => { open = resolve; });
    gate.made = gate.closed = 0;
    const headers = { 'x-gateway-config': JSON.stringify({ strategy: { mode: 'acme.slow' }, targets: [{ provider: '@main' }] }) };
    const finding = find(headers);
    while (gate.made === 0) await new Promise((resolve) => { setImmediate(resolve); });
    view.put('integration', rows.integrationRow('main', { key: 'sk-new' }));
    open();
    const { root } = await finding;
    assert.ok(root.kind === 'group' && root.children[0]?.kind === 'target');
    assert.equal(root.children[0].apiKey?.reveal(), 'sk-new');
    assert.deepEqual([gate.made, gate.closed], [2, 1]);
    gate.wait = null;
  });

  it('keeps its breaker as long as its config has the same version', async () => {
    const { view, find } = setUp();
    const slot = targetOf(await find(stored)).breakerSlot;
    assert.notEqual(slot, -1);
    view.put('integration', rows.integrationRow('main', { key: 'sk-2' }));
    assert.equal(targetOf(await find(stored)).breakerSlot, slot);
    view.put('config', rows.configRow('pc-a', { provider: '@main', cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } }, { versionId: 'v2' }));
    assert.notEqual(targetOf(await find(stored)).breakerSlot, slot);
  });

  it('tells no secret when it is printed', async () => {
    const plan = await setUp().find(stored);
    const text = inspect(plan, { depth: 20, showHidden: true }) + JSON.stringify(plan);
    assert.doesNotMatch(text, /marked/);
    assert.deepEqual(targetOf(plan).stored?.headersFor('any'), ['x-secret', 'marked-header']);
  });
});

describe('a plan without stored rows', () => {
  it('is compared with none', async () => {
    const { view, find } = setUp();
    const plan = await find({ 'x-gateway-provider': 'openai' });
    assert.equal(plan.sources, null);
    view.put('provider', rows.providerRow('openai', 'main'));
    assert.equal(find({ 'x-gateway-provider': 'openai' }), plan);
  });
});
