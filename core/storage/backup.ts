// Writes what a store holds into a file, beside a gateway that goes on writing. All rows are read, then those that were committed meanwhile, until
// nothing was committed meanwhile: so the file is as of one commit, and what was committed in one piece is in it in one piece. Holds one row at a time.

import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { backupFormat, type BackupLine, type BackupSummary, type SpendingSource } from './backup-format.js';
import type { Row, Table } from './define-table.js';
import type { Repository } from './repository.js';
import { secretsOf, withoutSecrets } from './stored-secrets.js';
import { verifyAudit } from './verify-audit.js';

/** Rounds of reading what was committed meanwhile; each is shorter than the one before unless commits never stop for as long as one row is read. */
const roundsMax = 10_000;
/** Written to the file in pieces of about this. */
const pieceChars = 256 * 1024;

export interface BackupOptions {
  readonly withSecrets: boolean;
  /** Of the gateway. */
  readonly version: string;
  /** Undefined: nothing is counted here. */
  readonly spending?: SpendingSource;
  readonly now?: () => number;
}

/** The file appears when it is whole; one that is there already is left alone. */
export async function writeBackup(repository: Repository, tables: readonly Table[], path: string, options: BackupOptions): Promise<BackupSummary> {
  if (existsSync(path)) throw fail('SETTINGS_INVALID', { reason: `${path} is there already; name a file that is not, or remove it` });
  const draft = `${path}.${process.pid}.part`;
  let file: number | undefined = undefined;
  try {
    file = openSync(draft, 'wx', 0o600);
    const summary = await new BackupWriter(repository, tables, file, options).write();
    fsyncSync(file);
    renameSync(draft, path);
    return summary;
  } catch (thrown) {
    if (file !== undefined) rmSync(draft, { force: true });
    throw isGatewayError(thrown) ? thrown : fail('SETTINGS_INVALID', { reason: `the backup ${path} could not be written: ${reasonOf(thrown)}` }, thrown);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

class BackupWriter {
  readonly #hash = createHash('sha256');
  #text = '';
  #lines = 0;
  /** Rows as they are now, and those of them that had secrets. */
  #rows = 0;
  readonly #emptied = new Set<string>();

  constructor(readonly repository: Repository, readonly tables: readonly Table[], readonly file: number, readonly options: BackupOptions) {}

  async write(): Promise<BackupSummary> {
    const { repository, tables, options } = this;
    let { sequence } = await repository.head();
    this.#put({
      backup: backupFormat, gateway: options.version, made: new Date((options.now ?? Date.now)()).toISOString(),
      tables: Object.fromEntries(tables.map(({ name, format }) => [name, format])), secrets: options.withSecrets ? 'sealed' : 'absent',
    });
    for (const table of tables) for await (const { row } of repository.all(table)) this.#putRow(table, row.id, row);
    sequence = await this.#follow(sequence);
    const { auditHash, audits } = await this.#putAudits(sequence);
    this.#flush();
    const lines = this.#lines - 1 - audits;
    let spends = 0;
    for await (const counter of options.spending?.read() ?? []) {
      this.#put(counter);
      spends += 1;
    }
    this.#flush();
    this.#put({ end: true, sequence, auditHash, rows: lines, audits, spends, sha256: this.#hash.copy().digest('hex') });
    this.#flush();
    for (const table of tables) this.#rows += await repository.count(table);
    const { fault } = await verifyAudit(repository);
    return { rows: this.#rows, auditEntries: audits, withoutSecrets: [...this.#emptied], auditFault: fault === undefined ? undefined : `entry ${fault.sequence}/${fault.number}: ${fault.reason}` };
  }

  /** Reads what was committed after `since` until that is nothing. Resolves with the sequence that everything is as of. */
  async #follow(since: number): Promise<number> {
    let known = since;
    for (let round = 0; round < roundsMax; round += 1) {
      const { sequence, touched } = await this.repository.changes(known);
      if (touched === null) throw fail('SETTINGS_INVALID', { reason: 'more was changed while the backup was made than the change log holds; try again when less is' });
      if (sequence === known) return known;
      known = sequence;
      for (const table of this.tables) for (const id of touched.get(table.name) ?? []) this.#putRow(table, id, (await this.repository.get(table, id))?.row ?? null);
    }
    throw fail('SETTINGS_INVALID', { reason: 'changes came faster than they could be read; try again when fewer come' });
  }

  #putRow(table: Table, id: string, row: Row | null): void {
    const secrets = row === null || this.options.withSecrets ? [] : secretsOf(table, row);
    const name = `${table.name} ${id}`;
    if (secrets.length > 0) this.#emptied.add(name);
    else this.#emptied.delete(name);
    const left = row === null || secrets.length === 0 ? row : withoutSecrets(table, row, secrets);
    this.#put({ table: table.name, id, row: left === null ? null : { ...left } });
  }

  async #putAudits(sequence: number): Promise<{ readonly auditHash: string; readonly audits: number }> {
    let audits = 0;
    let auditHash = '';
    for await (const { sequence: at, number, packed, hash } of this.repository.audit({ to: sequence + 1 })) {
      this.#put({ audit: [at, number], packed: Buffer.from(packed).toString('base64'), hash });
      audits += 1;
      auditHash = hash;
    }
    return { auditHash, audits };
  }

  #put(line: BackupLine): void {
    this.#lines += 1;
    this.#text += `${JSON.stringify(line)}\n`;
    if (this.#text.length >= pieceChars) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text);
    this.#text = '';
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length;) at += writeSync(this.file, bytes, at);
  }
}
