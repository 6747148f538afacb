import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Turns } from '../../../core/control-plane/turns.js';
import { startControl } from '../../support/control.js';

const soon = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

describe('turns', () => {
  it('let one run alone, after those before it and before those behind it', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const begun = async (name: string, isAlone: boolean): Promise<() => void> => {
      const end = await turns.take(isAlone);
      order.push(name);
      return end;
    };
    const [first, second] = await Promise.all([begun('first', false), begun('second', false)]);
    const alone = begun('alone', true);
    const behind = [begun('behind', false), begun('behind too', false)];
    const last = begun('last', true);
    await soon();
    assert.deepEqual(order, ['first', 'second']);
    first();
    await soon();
    assert.equal(order.length, 2);
    second();
    const endAlone = await alone;
    await soon();
    assert.deepEqual(order.slice(2), ['alone']);
    endAlone();
    for (const end of await Promise.all(behind)) {
      assert.equal(order.length, 5);
      end();
    }
    (await last)();
    assert.deepEqual(order, ['first', 'second', 'alone', 'behind', 'behind too', 'last']);
  });

  it('wait for nothing that never ends', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const turns = new Turns();
    await turns.take(false);
    const alone = turns.take(true);
    const behind = turns.take(false);
    context.mock.timers.tick(5_000);
    const end = await alone;
    context.mock.timers.tick(5_000);
    await behind;
    end();
    (await turns.take(false))();
  });
});

describe('rows that are removed', () => {
  it('are named by nothing that was made at the same time', async () => {
    const control = await startControl();
    const made = async (): Promise<string> => String((await control.call('POST', '/configs', { name: 'Config', config: { provider: 'mock' }, workspace_id: 'first-workspace' })).body.slug);
    for (let round = 0; round < 20; round += 1) {
      const slug = await made();
      const key = { name: 'Key', workspace_id: 'first-workspace', scopes: [], defaults: { config_id: slug } };
      const create = () => control.call('POST', '/api-keys/workspace/service', key);
      const remove = () => control.call('DELETE', `/configs/${slug}`);
      const statuses = (await Promise.all(round % 2 === 0 ? [create(), remove()] : [remove(), create()])).map(({ status }) => status);
      assert.deepEqual(statuses, round % 2 === 0 ? [200, 409] : [200, 404]);
    }
  });

  it('and defaults of a workspace: there is one', async () => {
    const control = await startControl();
    const create = (name: string) => control.call('POST', '/configs', { name, config: { provider: 'mock' }, is_default: true, workspace_id: 'first-workspace' });
    await Promise.all(['a', 'b', 'c'].map(create));
    const { body } = await control.call('GET', '/configs?workspace_id=first-workspace');
    const data: readonly { readonly is_default: number }[] = Array.isArray(body.data) ? body.data : [];
    assert.deepEqual(data.map(({ is_default: isDefault }) => isDefault).sort(), [0, 0, 1]);
  });
});
