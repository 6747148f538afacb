import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { verifyAuditLog } from '../../../core/app.js';
import { runCommandLine } from '../../../core/cli/command-line.js';
import type { GatewayApp } from '../../../core/cli/app-contract.js';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import lmdb from '../../../plugins/storage/lmdb/plugin.js';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-audit-'));
after(() => rmSync(dataDir, { recursive: true }));

async function run(...argv: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  let [out, error] = ['', ''];
  const code = await runCommandLine(argv, {
    environment: { GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'error' }, cwd: dataDir, version: '0', out: (text) => { out += `${text}\n`; }, error: (text) => { error += `${text}\n`; },
    loadApp: async () => ({ verifyAuditLog }) as unknown as GatewayApp, onSignal: () => undefined, exit: () => undefined, endWithin: () => undefined,
  });
  return { code, out, error };
}

async function withStore(work: (repository: Repository) => Promise<void>): Promise<void> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  await work(new Repository(await storage.open('control')));
  await storage.close?.();
}

describe('gateway audit verify', () => {
  it('says that the log is whole, and where it is not', async () => {
    assert.deepEqual(await run('audit', 'verify'), { code: 0, out: 'ok     0 entries\n', error: '' });
    let changed: { readonly key: string; readonly value: Uint8Array } | undefined = undefined;
    await withStore(async (repository) => {
      for (const name of ['a', 'b', 'c']) {
        const change = new Change();
        change.audit.push({ name });
        await repository.commit(change);
      }
    });
    const whole = await run('audit', 'verify');
    assert.deepEqual([whole.code, whole.error], [0, '']);
    assert.match(whole.out, /^ok {5}3 entries; the hash of the last is [0-9a-f]{64}\n$/);
    assert.equal(JSON.parse((await run('audit', 'verify', '--json')).out).entries, 3);
    await withStore(async ({ store }) => {
      for await (const { key, value } of store.range({ from: 'audit/', to: 'audit0', limit: 2 })) changed = { key, value };
      assert.ok(changed);
      await store.write([{ op: 'put', key: changed.key, value: Buffer.from(Buffer.from(changed.value).toString('latin1').replace('b', 'x'), 'latin1') }]);
    });
    const broken = await run('audit', 'verify');
    assert.equal(broken.code, 1);
    assert.match(broken.out, /^FAULT {2}at entry 2\.0, behind 1 good ones: /);
    assert.match(broken.error, /^gateway: the audit log is not as it was written \(entry 2\.0: /);
    assert.equal(JSON.parse((await run('audit', 'verify', '--json')).out).fault.sequence, 2);
  });

  it('wants to know what to do', async () => {
    assert.deepEqual(await run('audit'), { code: 1, out: '', error: 'gateway: audit needs to know what to do; use gateway audit verify\n' });
    assert.match((await run('audit', 'print')).error, /audit does not know print; use gateway audit verify/);
  });
});
