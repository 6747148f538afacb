// Values of references with a clock and a manager of the test's own: kept, refreshed, failing, slow, in bounds.

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { describe, test } from 'node:test';
import { SecretError, type SecretDocument } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { Registry } from '../../../core/registry/registry.js';
import { SecretValues } from '../../../core/secrets/secret-values.js';
import { View } from '../../../core/snapshot/view.js';
import { placeOf } from '../../../core/storage/open-rows.js';
import { Sealer } from '../../../core/storage/sealer.js';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { secretReferences, type SecretReferenceRow } from '../../../core/storage/tables/secret-references.js';

const sealer = new Sealer(Buffer.alloc(32, 7));
const token = 'hvs.token-of-the-reference';

const rowOf = (id: string, changes: Partial<SecretReferenceRow> = {}): SecretReferenceRow => ({
  id, organisationId: 'o', slug: `slug-${id}`, name: id, description: null, managerType: 'hashicorp_vault', managerId: 'hashicorp-vault', authConfig: { vault_auth_type: 'token', vault_addr: 'http://vault.test' },
  sealedAuth: sealer.seal(JSON.stringify({ vault_token: token }), placeOf(secretReferences, id, 'sealedAuth')), maskedAuth: { vault_token: '****' }, path: `secret/${id}`, key: null, allowsAllWorkspaces: true, workspaces: [], tags: null,
  createdBy: 'k', createdAtMs: 1, updatedAtMs: 1, ...changes,
});
const mapping = (...ids: readonly string[]): never => ({
  id: 'i', organisationId: 'o', workspaceId: null, slug: 'i', name: 'i', description: null, aiProviderId: 'openai', status: 'active', isPrivate: false, sealedKey: null, maskedKey: null, configurations: {}, sealedConfigurations: null,
  maskedConfigurations: {}, customHost: null, sealedHeaders: null, headerNames: [], allowAllModels: true, models: [], sealedModelHeaders: null, globalAccess: { enabled: true, usage_limits: null, rate_limits: [] }, workspaces: {},
  secretMappings: ids.map((id, index) => ({ target_field: `f${index}`, secret_reference_id: id, secret_key: null, value_format: null })), pricingAdjustments: null, createdAtMs: 1, updatedAtMs: 1,
}) as never;

/** Timers that run when the test says so, in the order of their times. */
class Timers {
  nowMs = 0;
  #open: { readonly atMs: number; readonly work: () => void }[] = [];
  readonly after = (delayMs: number, work: () => void): (() => void) => {
    const timer = { atMs: this.nowMs + delayMs, work };
    this.#open.push(timer);
    return () => { this.#open = this.#open.filter((each) => each !== timer); };
  };

  get count(): number {
    return this.#open.length;
  }

  async pass(ms: number): Promise<void> {
    const end = this.nowMs + ms;
    for (;;) {
      const [next] = this.#open.filter(({ atMs }) => atMs <= end).sort((left, right) => left.atMs - right.atMs);
      if (next === undefined) break;
      this.nowMs = next.atMs;
      this.#open = this.#open.filter((each) => each !== next);
      next.work();
      await settled();
    }
    this.nowMs = end;
    await settled();
  }
}
const settled = async (): Promise<void> => { for (let round = 0; round < 50; round += 1) await new Promise((resolve) => { setImmediate(resolve); }); };

function stage(answer: (path: string) => SecretDocument | Promise<SecretDocument>, ids: readonly string[] = ['r']) {
  const reads: string[] = [];
  const host = fakeHost({
    fetch: async ({ url }) => {
      const path = url.replace('http://vault.test/v1/', '');
      reads.push(path);
      const given = await answer(path);
      return typeof given === 'string' ? { status: Number(given), body: '' } : { body: JSON.stringify({ data: given }) };
    },
  });
  const view = new View(sealer);
  for (const id of ids) view.put(secretReferences.name, rowOf(id));
  view.put(integrations.name, mapping(...ids));
  const timers = new Timers();
  const faults: string[] = [];
  const values = new SecretValues({ registry: new Registry({ packages: [], fromFolder: process.cwd(), hostOf: () => host }), rules: [], view: () => view, after: timers.after, count: () => undefined, onFault: (slug, reason) => faults.push(`${slug}: ${reason}`) });
  const value = async (id = 'r'): Promise<unknown> => {
    const reference = view.reference(id);
    assert.ok(reference);
    const found = await values.value(reference);
    return found.reveal() ?? found.reason;
  };
  return { values, value, view, timers, reads, faults };
}

describe('the value of a reference', () => {
  test('is read once for all who ask, and again every five minutes', async () => {
    let current = 'one';
    const { value, timers, reads, view } = stage(() => ({ key: current }));
    assert.deepEqual(await Promise.all(Array.from({ length: 100 }, () => value())), Array.from({ length: 100 }, () => ({ key: 'one' })));
    assert.equal(reads.length, 1);
    const before = view.secretValue('r');
    const { epoch } = view;
    await timers.pass(299_000);
    assert.equal(reads.length, 1);
    await timers.pass(1_000);
    assert.equal(reads.length, 2);
    assert.deepEqual([view.secretValue('r') === before, view.epoch], [true, epoch], 'the same value makes no plan anew');
    current = 'two';
    await timers.pass(300_000);
    assert.deepEqual(view.secretValue('r')?.reveal(), { key: 'two' });
    assert.notEqual(view.epoch, epoch, 'plans with the old one are made anew');
    assert.deepEqual(await value(), { key: 'two' });
    assert.equal(reads.length, 3);
  });

  test('stays while its manager is down, and is told', async () => {
    let answer: SecretDocument = { key: 'good' };
    const { value, timers, reads, view, faults } = stage(() => answer);
    assert.deepEqual(await value(), { key: 'good' });
    answer = '503';
    await timers.pass(300_000);
    assert.deepEqual(await value(), { key: 'good' });
    assert.deepEqual(faults, ['slug-r: Vault is sealed or down for maintenance (503)']);
    const before = reads.length;
    await timers.pass(600_000);
    assert.ok(reads.length - before >= 20 && reads.length - before <= 30, `${reads.length - before} further reads`);
    assert.deepEqual(view.secretValue('r')?.reveal(), { key: 'good' });
    answer = { key: 'better' };
    await timers.pass(30_000);
    assert.deepEqual(view.secretValue('r')?.reveal(), { key: 'better' });
  });

  test('that was never there is a fault with a reason, until it is there', async () => {
    let answer: SecretDocument = '403';
    const { value, timers, reads, view } = stage(() => answer);
    assert.equal(await value(), 'Vault refuses the credentials of the reference, or they may not read its path (403)');
    assert.equal(await value(), 'Vault refuses the credentials of the reference, or they may not read its path (403)');
    assert.equal(reads.length, 1, 'calls do not ask again');
    answer = { key: 'late' };
    const { epoch } = view;
    await timers.pass(1_000);
    assert.notEqual(view.epoch, epoch);
    assert.deepEqual(await value(), { key: 'late' });
  });

  test('is waited for within bounds', async () => {
    let release: ((document: SecretDocument) => void) | undefined = undefined;
    const { value, timers, faults } = stage(() => new Promise((resolve) => { release = resolve; }));
    const waiting = value();
    await settled();
    await timers.pass(5_000);
    assert.equal(await waiting, 'its manager could not be asked');
    assert.deepEqual(faults, ['slug-r: no answer within 5000 ms']);
    (release as unknown as (document: SecretDocument) => void)({ key: 'too late' });
    await settled();
    assert.equal(await value(), 'its manager could not be asked');
  });

  test('of many references is read sixteen at a time, and nobody waits for ever', async () => {
    let open = 0;
    let most = 0;
    const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
    const { value, timers } = stage(async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise(() => undefined);
      return {};
    }, ids);
    const waiting = Promise.all(ids.map((id) => value(id)));
    await settled();
    await timers.pass(4_999);
    assert.equal(most, 16);
    await timers.pass(5_001);
    const outcomes = await waiting;
    assert.ok(outcomes.every((each) => each === 'its manager could not be asked' || each === 'its manager gave no answer in time'), String(outcomes));
  });

  test('of many references is held up to 32 MiB, and there is room again when some are gone', async () => {
    const ids = Array.from({ length: 530 }, (_, index) => `r${index}`);
    const { value, view, timers } = stage(() => ({ key: 'x'.repeat(65_000) }), ids);
    const outcomes = await Promise.all(ids.map((id) => value(id)));
    const refused = outcomes.filter((each) => each === 'its manager could not be asked').length;
    assert.equal(refused, 530 - Math.floor(32 * 1024 * 1024 / JSON.stringify({ key: 'x'.repeat(65_000) }).length));
    const late = ids[outcomes.indexOf('its manager could not be asked')] ?? '';
    view.put(integrations.name, mapping(late));
    await timers.pass(331_000);
    assert.notEqual(view.secretValue(late)?.reveal(), null);
  });

  test('of another path or with other credentials is another value, and nothing is read for what nobody maps', async () => {
    const { value, view, timers, reads } = stage((path) => ({ at: path }));
    assert.deepEqual(await value(), { at: 'secret/r' });
    view.put(secretReferences.name, rowOf('r', { path: 'secret/other' }));
    assert.deepEqual(await value(), { at: 'secret/other' });
    view.put(integrations.name, mapping());
    await timers.pass(900_000);
    assert.equal(reads.length, 2);
    assert.equal(timers.count, 0);
  });

  test('a description that changes asks nobody', async () => {
    const { value, view, reads } = stage(() => ({ key: 'x' }));
    await value();
    const row = rowOf('r');
    const [before] = [view.reference('r')];
    view.put(secretReferences.name, { ...row, description: 'another' } as never);
    assert.equal(view.reference('r')?.fingerprint, before?.fingerprint);
    await value();
    assert.equal(reads.length, 1);
  });

  test('closed, nothing goes on', async () => {
    const { values, value, timers } = stage(() => ({ key: 'x' }));
    await value();
    values.close();
    values.close();
    assert.equal(timers.count, 0);
  });

  test('nor its credentials are in what is printed, or in what is told of a fault', async () => {
    const { value, view, faults } = stage(() => { throw new Error(`the server does not like ${token}`); });
    assert.equal(await value(), 'its manager could not be asked');
    assert.deepEqual(faults, ['slug-r: the server does not like [secret]']);
    const told = stage(() => { throw new SecretError(`not with ${token}`); });
    assert.equal(await told.value(), 'not with [secret]');
    const good = stage(() => ({ key: 'the-value-itself' }));
    await good.value();
    const printed = inspect([view, good.view.reference('r'), good.view.secretValue('r')], { depth: 8, showHidden: true }) + JSON.stringify([good.view.reference('r'), good.view.secretValue('r')]);
    assert.equal(printed.includes('the-value-itself') || printed.includes(token), false);
  });
});
