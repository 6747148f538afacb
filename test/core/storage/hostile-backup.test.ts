// Backups that somebody made up, with right counts and a right hash: what cannot be restored is refused before anything is replaced.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { writeBackup } from '../../../core/storage/backup.js';
import { Change } from '../../../core/storage/change.js';
import { Repository } from '../../../core/storage/repository.js';
import { requireWhole, restoreBackup } from '../../../core/storage/restore.js';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { integrations } from '../../../core/storage/tables/integrations.js';
import { temporaryFolder } from '../../support/child-gateway.js';
import { hashOfLetter, keyRow } from '../../support/rows.js';

const tables = [apiKeys, integrations];
const folder = temporaryFolder();
let files = 0;

type Line = Record<string, unknown>;

async function filled(): Promise<Repository> {
  const repository = new Repository(await fakeHost().store('control'));
  const change = new Change();
  for (const letter of ['a', 'b']) change.insert(apiKeys, keyRow(letter));
  change.audit.push({ made: 'all' }, { made: 'more' });
  await repository.commit(change);
  return repository;
}

const honest = join(folder, 'honest.jsonl');
await writeBackup(await filled(), tables, honest, {
  withSecrets: true, version: '1.0.0', spending: { read: async function* read() { yield { spend: 'key/a/cost', counted: 'cost', period: 1, startMs: 5, told: 1, amount: 70, calls: 2, estimated: 0 } as const; } },
});
const lines: readonly Line[] = readFileSync(honest, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line) as Line);

/** With counts and a hash that fit, unless `end` says otherwise. */
function madeUp(change: (lines: Line[]) => void, end: Line = {}): string {
  const all = structuredClone(lines.slice(0, -1)) as Line[];
  change(all);
  const text = all.map((line) => `${'raw' in line ? String(line.raw) : JSON.stringify(line)}\n`).join('');
  const audits = all.filter((line) => 'audit' in line).length;
  const spends = all.filter((line) => 'spend' in line).length;
  const last = { ...lines.at(-1), rows: all.length - 1 - audits - spends, audits, spends, sha256: createHash('sha256').update(text).digest('hex'), ...end };
  const path = join(folder, `made-up-${files += 1}.jsonl`);
  writeFileSync(path, `${text}${JSON.stringify(last)}\n`);
  return path;
}

const row = (changes: object): Line => ({ table: 'api-key', id: 'x', row: { ...keyRow('c'), id: 'x', ...changes } });
const deep = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const spend = (changes: Line): Line => ({ ...lines.find((line) => 'spend' in line), ...changes });
const lastAudit = (all: Line[]): Line => all.findLast((line) => 'audit' in line) ?? {};
const integration = (configurations: string): Line => ({
  raw: `{"table":"integration","id":"i","row":${JSON.stringify({
    id: 'i', organisationId: 'o', workspaceId: null, slug: 'i', name: 'i', description: null, aiProviderId: 'openai', status: 'active', isPrivate: false, sealedKey: null, maskedKey: null, configurations: 'HERE',
    sealedConfigurations: null, maskedConfigurations: {}, customHost: null, sealedHeaders: null, headerNames: [], allowAllModels: true, models: [], sealedModelHeaders: null, secretMappings: [],
    globalAccess: { enabled: true, usage_limits: null, rate_limits: [] }, workspaces: {}, pricingAdjustments: null, createdAtMs: 1, updatedAtMs: 1,
  }).replace('"HERE"', configurations)}}`,
});

describe('a backup that was made up', () => {
  const cases: Record<string, string> = {
    'an audit entry without its bytes': madeUp((all) => { delete lastAudit(all).packed; }),
    'an audit entry whose bytes are a number': madeUp((all) => { lastAudit(all).packed = 5; }),
    'an audit entry without a place': madeUp((all) => { lastAudit(all).audit = null; }),
    'an audit entry at no number': madeUp((all) => { lastAudit(all).audit = ['1', {}]; }),
    'an audit entry far away': madeUp((all) => { lastAudit(all).audit = [1e300, -1]; }),
    'an audit entry twice': madeUp((all) => { all.push({ ...lastAudit(all) }); }),
    'an audit entry without a hash': madeUp((all) => { lastAudit(all).hash = null; }),
    'an end without a sequence': madeUp(() => {}, { sequence: null }),
    'an end with a text as sequence': madeUp(() => {}, { sequence: '1' }),
    'an end with a huge sequence': madeUp(() => {}, { sequence: 2 ** 53 }),
    'an end with a negative sequence': madeUp(() => {}, { sequence: -1 }),
    'an end without a hash of the audit log': madeUp(() => {}, { auditHash: null }),
    'two rows with the same hash': madeUp((all) => { all.push(row({ keyHash: hashOfLetter('a') })); }),
    'a row whose id is not a key': madeUp((all) => { all.push({ ...row({ id: 'x'.repeat(5000) }), id: 'x'.repeat(5000) }); }),
    'a row whose id is half a character': madeUp((all) => { all.push({ ...row({ id: '\ud800' }), id: '\ud800' }); }),
    'a row that is removed and was never a key': madeUp((all) => { all.push({ table: 'api-key', id: 'x'.repeat(5000), row: null }); }),
    'a row that is too deep': madeUp((all) => { all.push(integration(deep(100_000))); }),
    'a row of format 0': madeUp((all) => { all[0] = { ...all[0], tables: { 'api-key': 0, integration: 1 } }; }),
    'a row of format 1.5': madeUp((all) => { all[0] = { ...all[0], tables: { 'api-key': 1.5, integration: 1 } }; }),
    'a row of a format in words': madeUp((all) => { all[0] = { ...all[0], tables: { 'api-key': 'new', integration: 1 } }; }),
    'a list as row': madeUp((all) => { all.push({ table: 'api-key', id: 'x', row: [] }); }),
    'secrets that are neither there nor left out': madeUp((all) => { all[0] = { ...all[0], secrets: 'maybe' }; }),
    'a counter without a name': madeUp((all) => { all.push(spend({ spend: '' })); }),
    'a counter whose name is half a character': madeUp((all) => { all.push(spend({ spend: '\ud800' })); }),
    'a counter whose name is no key': madeUp((all) => { all.push(spend({ spend: 'x'.repeat(5000) })); }),
    'a counter of something else': madeUp((all) => { all.push(spend({ counted: 'hours' })); }),
    'a counter in half a period': madeUp((all) => { all.push(spend({ period: 0.5 })); }),
    'a counter that holds less than nothing': madeUp((all) => { all.push(spend({ amount: -1 })); }),
    'a counter that holds a text': madeUp((all) => { all.push(spend({ amount: '70' })); }),
    'a counter that was told something else': madeUp((all) => { all.push(spend({ told: 4 })); }),
    'another number of counters than its end says': madeUp(() => {}, { spends: 2 }),
    'counters of which its end says nothing': madeUp(() => {}, { spends: undefined }),
    'counters in format 1': madeUp((all) => { all[0] = { ...all[0], backup: 1 }; }),
    'a header of format 0.5': madeUp((all) => { all[0] = { ...all[0], backup: 0.5 }; }),
  };
  for (const [name, path] of Object.entries(cases)) {
    it(`with ${name} is refused, and what is stored stays`, async () => {
      const repository = await filled();
      const spending = { clear: () => assert.fail('cleared'), put: () => assert.fail('put') };
      await assert.rejects(restoreBackup(repository, tables, path, { isForced: true, keyId: undefined, spending }), (thrown: Error) => {
        assert.equal((thrown as { code?: unknown }).code, 'SETTINGS_INVALID', thrown.stack);
        assert.doesNotMatch(thrown.message, /something else writes/);
        return true;
      });
      await requireWhole(repository.store);
      assert.equal((await repository.get(apiKeys, 'a'))?.row.id, 'a');
    });
  }

  it('that is honest is restored', async () => {
    const repository = await filled();
    const { rows, auditFault } = await restoreBackup(repository, tables, madeUp((all) => { all.push(row({}), integration(deep(20))); }), { isForced: true, keyId: undefined });
    assert.deepEqual([rows, auditFault], [4, undefined]);
  });

  it('of format 1 is restored, and what is counted here stays', async () => {
    const path = madeUp((all) => {
      all[0] = { ...all[0], backup: 1 };
      all.splice(all.findIndex((line) => 'spend' in line), 1);
    }, { spends: undefined });
    const spending = { clear: () => assert.fail('cleared'), put: async (counters: readonly unknown[]) => assert.equal(counters.length, 0) };
    assert.equal((await restoreBackup(await filled(), tables, path, { isForced: true, keyId: undefined, spending })).rows, 2);
  });
});
