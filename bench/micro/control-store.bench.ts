// The control store on LMDB: commits through one repository, the first reading of all keys by a thread with what it holds of them, and one change taken over. KEYS=100000 for the
// size that starts are measured by.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { scopesOfType } from '../../core/auth/scopes.js';
import { RevisionSignal, Snapshot } from '../../core/snapshot/snapshot.js';
import { Change } from '../../core/storage/change.js';
import { Repository } from '../../core/storage/repository.js';
import { apiKeys, type ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';

const keys = Number(process.env.KEYS ?? 20_000);
const atOnce = 64;
const commits = 3_200;
const changesMade = 200;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const keyOf = (id: string): ApiKeyRow => ({
  id, name: id, description: null, type: 'workspace-service', organisationId: 'o', workspaceId: 'w', userId: null, scopes: scopesOfType['workspace-service'],
  keyHash: hashOf(id), keyPrefix: 'gw_abcd', keyMasked: 'gw_abcd****', previous: null, status: 'active', creationMode: 'api', createdAtMs: 1, updatedAtMs: 1, lastResetAtMs: null, expiresAtMs: null,
  defaults: { metadata: {}, config_id: null, provider: null, allow_config_override: true }, usageLimits: null, rateLimits: [], alertEmails: [], rotationPolicy: null,
});
const insert = (...ids: readonly string[]): Change => {
  const change = new Change();
  for (const id of ids) change.insert(apiKeys, keyOf(id));
  return change;
};
const told = (what: string, value: number, unit: string): void => console.log(`${what.padEnd(44)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`);

const path = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
const storage = await lmdb.create({ path }, fakeHost());
const signal = new RevisionSignal(RevisionSignal.allocate());
const repository = new Repository(await storage.open('control'), () => signal.bump());

let startedAt = performance.now();
await Promise.all(Array.from({ length: atOnce }, async (_, lane) => {
  for (let step = 0; step < commits / atOnce; step += 1) await repository.commit(insert(`commit-${lane}-${step}`));
}));
told(`commits, ${atOnce} under way at once`, commits / (performance.now() - startedAt) * 1000, '/s');

for (let from = 0; from < keys; from += 1000) await repository.commit(insert(...Array.from({ length: 1000 }, (_, index) => `key-${String(from + index).padStart(8, '0')}`)));
globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const cpuBefore = process.cpuUsage();
startedAt = performance.now();
const snapshot = new Snapshot(repository, signal);
await snapshot.refreshIfMoved();
const cpu = process.cpuUsage(cpuBefore);
told(`first reading of ${keys + commits} keys`, performance.now() - startedAt, 'ms');
told('  of that the processor', (cpu.user + cpu.system) / 1000, 'ms');
globalThis.gc?.();
told('  held for each key', (process.memoryUsage().heapUsed - heapBefore) / (keys + commits), 'bytes');

const takings: number[] = [];
for (let index = 0; index < changesMade; index += 1) {
  const stored = await repository.get(apiKeys, 'key-00000001');
  if (stored === undefined) throw new Error('the key is gone');
  const change = new Change();
  change.update(stored, { ...stored.row, name: String(index) });
  await repository.commit(change);
  startedAt = performance.now();
  await snapshot.refreshIfMoved();
  takings.push(performance.now() - startedAt);
}
takings.sort((a, b) => a - b);
told('one change taken over, median', takings[changesMade / 2] ?? 0, 'ms');
told('one change taken over, of 100 the longest', takings[Math.floor(changesMade * 0.99)] ?? 0, 'ms');

startedAt = performance.now();
await repository.count(apiKeys, 'organisation', ['o']);
told('count of an index', performance.now() - startedAt, 'ms');
await storage.close?.();
rmSync(path, { recursive: true });
