// Puts what a backup holds into a store that nobody else uses. The file is read twice: whole, to check every line of it, and that all can be stored
// together, before anything is written; then row by row. While the store is neither what it was nor what it becomes it says so, and no gateway starts on it: the same restore, begun again,
// makes it whole.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { isObject, type Store, type Write } from '@gateway/plugin-sdk';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { backupFormat, type BackupAudit, type BackupEnd, type BackupHeader, type BackupSpend, type BackupSummary, type SpendingTarget } from './backup-format.js';
import type { Row, Table } from './define-table.js';
import { prepareStore } from './prepare-store.js';
import { auditDigits, auditEntryOf, auditWrite, emptyAuditHash, headWrite, indexRowKey, keyBytesMax, Repository, rowUpgrade, rowWrite } from './repository.js';
import { absentSecret } from './sealer.js';
import { secretsOf } from './stored-secrets.js';
import { verifyStore } from './verify-store.js';

const markKey = 'restoring';
const rowsOfBatch = 1_000;
/** A line is one row. */
const lineBytesMax = 64 * 1024 * 1024;
/** Leaves room for more commits than there will be. */
const sequenceMax = 2 ** 52;
/** A row holds what one call brought, a few levels down. */
const rowLevelsMax = 256;
/** Periods begin by the day at most, or when somebody asks. */
const periodMax = 2 ** 32;
const toldMax = 3;
const hash256 = /^[0-9a-f]{64}$/;

/** Throws SETTINGS_INVALID when a restore into this store was broken off. */
export async function requireWhole(store: Store): Promise<void> {
  if (await store.get(markKey) === undefined) return;
  throw fail('SETTINGS_INVALID', { reason: 'a restore into this data directory was broken off; run gateway restore again, with the same file' });
}

export interface RestoreOptions {
  /** The stored rows are replaced. */
  readonly isForced: boolean;
  /** Of the master key at hand; undefined: there is none yet. */
  readonly keyId: string | undefined;
  /** Undefined: what was spent is left out. */
  readonly spending?: SpendingTarget;
}

export async function restoreBackup(repository: Repository, tables: readonly Table[], path: string, { isForced, keyId, spending }: RestoreOptions): Promise<BackupSummary> {
  const { store } = repository;
  const checked = await checkBackup(tables, path);
  const other = checked.keyIds.find((each) => each !== keyId);
  if (other !== undefined) {
    throw fail('SETTINGS_INVALID', {
      reason: `secrets in ${path} are stored under the master key ${other}, and ${keyId === undefined ? 'there is no master key here yet' : `the one here is ${keyId}`}; `
        + 'put that one in its place first, as GATEWAY_MASTER_KEY or as master.key in the data directory',
    });
  }
  if (!isForced && await store.get(markKey) === undefined && await holdsRows(store, tables)) {
    throw fail('SETTINGS_INVALID', { reason: 'rows are stored here already; restore into an empty data directory, or replace them with --force (gateway backup keeps them before)' });
  }
  await write(store, [{ op: 'put', key: markKey, value: Buffer.from(path.slice(-500)) }]);
  await clear(store);
  // A backup that says nothing of it takes nothing from what is counted here.
  if (checked.end.spends !== undefined) await spending?.clear();
  await putLines(store, tables, path, spending);
  await prepareStore(repository, tables);
  await write(store, [headWrite(checked.end)]);
  const { faults, auditFault, rows, auditEntries } = await verifyStore(new Repository(store), tables);
  if (faults.length > 0) throw fail('SETTINGS_INVALID', { reason: `what was restored from ${path} is not whole (${faults[0] ?? ''}); take another backup` });
  await write(store, [{ op: 'remove', key: markKey }]);
  return { rows, auditEntries, withoutSecrets: [...checked.withoutSecrets], auditFault };
}

interface CheckedBackup {
  readonly end: BackupEnd;
  /** Of the master keys that its secrets are under. */
  readonly keyIds: readonly string[];
  readonly withoutSecrets: ReadonlySet<string>;
}

async function checkBackup(tables: readonly Table[], path: string): Promise<CheckedBackup> {
  const keyIds = new Set<string>();
  const withoutSecrets = new Set<string>();
  let header: BackupHeader | undefined = undefined;
  let end: BackupEnd | undefined = undefined;
  let [rows, audits, spends] = [0, 0, 0];
  let last: BackupAudit['audit'] = [0, -1];
  const unique = new UniqueKeys();
  for await (const { line, number, sha256 } of linesOf(path)) {
    const wrong = (reason: string): Error => fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: line ${number} ${reason}` });
    if (end !== undefined) throw wrong('is behind its end');
    const value = objectOf(line, wrong);
    if (header === undefined) {
      header = headerOf(value, path);
    } else if ('end' in value) {
      end = value as unknown as BackupEnd;
      if (end.sha256 !== sha256()) throw wrong('is not the end of what is before it: the file was changed or damaged');
      if (end.rows !== rows || end.audits !== audits || (end.spends ?? 0) !== spends || (end.spends === undefined) !== (header.backup < 2)) throw wrong('counts other lines than there are');
      if (!isCount(end.sequence, sequenceMax) || last[0] > end.sequence) throw wrong('has no sequence, or one before that of its audit entries');
      if (end.auditHash !== emptyAuditHash && !hash256.test(String(end.auditHash))) throw wrong('has no hash of the audit log');
      const twice = unique.twice();
      if (twice !== undefined) throw wrong(`is the end of rows that cannot be stored together: ${twice}`);
    } else if ('audit' in value) {
      audits += 1;
      last = auditOf(value, last, wrong).audit;
    } else if ('spend' in value && header.backup >= 2) {
      spends += 1;
      spendOf(value, wrong);
    } else {
      rows += 1;
      const { table, id, row } = rowOf(tables, header, value, wrong);
      const name = `${table.name} ${id}`;
      withoutSecrets.delete(name);
      const fault = row === null ? faultOfKey(`${table.name}/${id}`) : faultOfWrites(table, row);
      if (fault !== undefined) throw wrong(fault);
      unique.put(table, id, row);
      if (row === null) continue;
      const secrets = secretsOf(table, row);
      for (const { keyId } of secrets) if (keyId !== undefined) keyIds.add(keyId);
      if (table.secrets.length > 0 && header.secrets === 'absent' && isEmptied(secrets.map(({ sealed }) => sealed))) withoutSecrets.add(name);
    }
  }
  if (header === undefined || end === undefined) throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: it has no end; it was cut off, or is not a backup` });
  return { end, keyIds: [...keyIds], withoutSecrets };
}

/** One whose secrets were left out; a row that never had one looks the same, unless it has to have one. */
const isEmptied = (sealed: readonly string[]): boolean => sealed.length === 0 || sealed.includes(absentSecret);

function headerOf(value: Readonly<Record<string, unknown>>, path: string): BackupHeader {
  const { backup, gateway, tables, secrets } = value;
  if (typeof backup !== 'number' || typeof tables !== 'object' || tables === null || (secrets !== 'sealed' && secrets !== 'absent')) throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: it does not begin as a backup does` });
  if (backup > backupFormat) {
    throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: it has format ${backup}, newer than the ${backupFormat} that this version reads; take version ${String(gateway)} of the gateway` });
  }
  if (!isCount(backup, backupFormat) || backup < 1 || Object.values(tables).some((format) => !isCount(format, Number.MAX_SAFE_INTEGER) || format < 1)) {
    throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: it has formats that are not whole numbers from 1` });
  }
  return value as unknown as BackupHeader;
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)));

const isCount = (value: unknown, maximum: number): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maximum;

/** Entries are in their order, and each has its own place. */
function auditOf(value: Readonly<Record<string, unknown>>, last: BackupAudit['audit'], wrong: (reason: string) => Error): BackupAudit {
  const { audit, packed, hash } = value;
  const place: readonly unknown[] = Array.isArray(audit) ? audit : [];
  const [sequence, number] = place;
  if (place.length !== 2 || !isCount(sequence, sequenceMax) || !isCount(number, 10 ** auditDigits - 1) || typeof packed !== 'string' || typeof hash !== 'string' || !hash256.test(hash)) throw wrong('is not an audit entry');
  if (sequence < last[0] || (sequence === last[0] && number <= last[1])) throw wrong('is an audit entry that is not behind the one before it');
  const write = auditWrite(sequence, number, Buffer.from(packed, 'base64'), hash);
  try {
    auditEntryOf(write.key, write.value ?? new Uint8Array(0));
  } catch (thrown) {
    throw wrong(`cannot be read: ${reasonOf(thrown)}`);
  }
  return { audit: [sequence, number], packed, hash };
}

const spendUnits: ReadonlySet<unknown> = new Set<BackupSpend['counted']>(['cost', 'tokens', 'requests']);
/** Beside its name a key of the store has a word and a number. */
const spendKeyBytesMax = keyBytesMax - 32;

function spendOf(value: Readonly<Record<string, unknown>>, wrong: (reason: string) => Error): BackupSpend {
  const { spend, counted, period, startMs, told, amount, calls, estimated } = value;
  const isName = typeof spend === 'string' && spend !== '' && Buffer.byteLength(spend) <= spendKeyBytesMax && !/\p{Surrogate}/u.test(spend);
  const isSafe = [startMs, amount, calls, estimated].every((each) => isCount(each, Number.MAX_SAFE_INTEGER));
  if (!isName || !isSafe || !spendUnits.has(counted) || !isCount(period, periodMax) || !isCount(told, toldMax)) throw wrong('is not a counter of a budget');
  return value as unknown as BackupSpend;
}

function faultOfWrites(table: Table, row: Row): string | undefined {
  for (const [name, index] of Object.entries(table.indexes)) {
    const parts = index.of(row);
    const fault = parts === null ? undefined : faultOfKey(indexRowKey(table, name, parts, row.id));
    if (fault !== undefined) return fault;
  }
  return faultOfKey(`${table.name}/${row.id}`);
}

const faultOfKey = (key: string): string | undefined =>
  (Buffer.byteLength(key) > keyBytesMax || /\p{Surrogate}/u.test(key) ? `has an id that is not a key: longer than ${keyBytesMax} bytes, or not Unicode` : undefined);

/** The unique indexes as they will be, by row: a later line takes the place of an earlier one. */
class UniqueKeys {
  readonly #rows = new Map<string, readonly string[]>();

  put(table: Table, id: string, row: Row | null): void {
    const name = `${table.name} ${id}`;
    this.#rows.delete(name);
    if (row === null) return;
    const keys: string[] = [];
    for (const [index, { isUnique, of }] of Object.entries(table.indexes)) {
      const parts = isUnique === true ? of(row) : null;
      if (parts !== null) keys.push(indexRowKey(table, index, parts, id));
    }
    if (keys.length > 0) this.#rows.set(name, keys);
  }

  /** The first two rows that cannot both be there, in words. */
  twice(): string | undefined {
    const holders = new Map<string, string>();
    for (const [name, keys] of this.#rows) {
      for (const key of keys) {
        const holder = holders.get(key);
        if (holder !== undefined) return `${name.slice(0, 128)} has the same ${key.split('/')[2] ?? ''} as ${holder.slice(0, 128)}`;
        holders.set(key, name);
      }
    }
    return undefined;
  }
}

function rowOf(tables: readonly Table[], header: BackupHeader, value: Readonly<Record<string, unknown>>, wrong: (reason: string) => Error): { readonly table: Table; readonly id: string; readonly row: Row | null } {
  const table = tables.find(({ name }) => name === value.table);
  if (table === undefined) throw wrong(`is of a table ${String(value.table).slice(0, 64)}, which this version does not have; take version ${header.gateway} of the gateway`);
  const { id, row } = value;
  const format = header.tables[table.name];
  if (typeof id !== 'string' || typeof row !== 'object' || format === undefined) throw wrong('is not a row');
  if (row === null) return { table, id, row: null };
  if (isDeeper(row, rowLevelsMax)) throw wrong(`nests objects and lists deeper than ${rowLevelsMax} levels`);
  try {
    const current = rowUpgrade(table, { ...row }, format, `the ${table.name} ${id}`);
    if (current.id !== id) throw wrong(`is of ${id} and says that it is ${current.id}`);
    return { table, id, row: current };
  } catch (thrown) {
    throw isGatewayError(thrown) ? wrong(`cannot be read: ${thrown.message}`) : thrown;
  }
}

function objectOf(line: string, wrong: (reason: string) => Error): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return value;
  } catch {
    // Told below, without the line: it may hold anything.
  }
  throw wrong('is not what a backup has');
}

/** Of a file that was checked. */
async function putLines(store: Store, tables: readonly Table[], path: string, spending: SpendingTarget | undefined): Promise<void> {
  let header: BackupHeader | undefined = undefined;
  let batch: Write[] = [];
  let counters: BackupSpend[] = [];
  const wrong = (reason: string): Error => fail('SETTINGS_INVALID', { reason: `${path} was changed while it was restored (a line ${reason}); restore it again` });
  for await (const { line } of linesOf(path)) {
    const value = objectOf(line, wrong);
    if (header === undefined) {
      header = headerOf(value, path);
    } else if ('audit' in value) {
      const { audit: [sequence, number], packed, hash } = value as unknown as BackupAudit;
      batch.push(auditWrite(sequence, number, Buffer.from(packed, 'base64'), hash));
    } else if ('spend' in value && header.backup >= 2) {
      counters.push(spendOf(value, wrong));
    } else if (!('end' in value)) {
      const { table, id, row } = rowOf(tables, header, value, wrong);
      batch.push(row === null ? { op: 'remove', key: `${table.name}/${id}` } : rowWrite(table, row));
    }
    if (batch.length + counters.length < rowsOfBatch) continue;
    await write(store, batch);
    await spending?.put(counters);
    [batch, counters] = [[], []];
  }
  await write(store, batch);
  await spending?.put(counters);
}

/** The mark stays. */
async function clear(store: Store): Promise<void> {
  for (;;) {
    const keys: string[] = [];
    for await (const { key } of store.range({ from: '', to: '\u{10ffff}', limit: rowsOfBatch })) if (key !== markKey) keys.push(key);
    if (keys.length === 0) return;
    await write(store, keys.map((key) => ({ op: 'remove', key })));
  }
}

async function holdsRows(store: Store, tables: readonly Table[]): Promise<boolean> {
  for (const { name } of tables) for await (const row of store.range({ from: `${name}/`, to: `${name}0`, limit: 1 })) return row.version > 0;
  return false;
}

async function write(store: Store, batch: readonly Write[]): Promise<void> {
  try {
    if (await store.write(batch)) return;
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the restore was broken off: ${reasonOf(thrown)}; run it again` }, thrown);
  }
  throw fail('SETTINGS_INVALID', { reason: 'the restore was broken off: something else writes to the store; stop it, and run the restore again' });
}

interface Line {
  readonly line: string;
  readonly number: number;
  /** Of everything before this line. */
  sha256(): string;
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  const hash = createHash('sha256');
  let rest: Buffer[] = [];
  let restBytes = 0;
  let number = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      let bytes: Buffer = chunk;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10)) {
        const line = Buffer.concat([...rest, bytes.subarray(0, end)]);
        rest = [];
        restBytes = 0;
        number += 1;
        yield { line: line.toString(), number, sha256: () => hash.copy().digest('hex') };
        hash.update(line).update('\n');
        bytes = bytes.subarray(end + 1);
      }
      restBytes += bytes.length;
      if (restBytes > lineBytesMax) throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: line ${number + 1} is longer than any row` });
      rest.push(bytes);
    }
  } catch (thrown) {
    throw isGatewayError(thrown) ? thrown : fail('SETTINGS_INVALID', { reason: `${path} cannot be read: ${reasonOf(thrown)}` }, thrown);
  }
  if (restBytes > 0) throw fail('SETTINGS_INVALID', { reason: `${path} cannot be restored: its last line is cut off` });
}
