// `gateway backup FILE`: everything that the gateway stores to be managed by, as one file. Logs, caches and kept responses are not in it.

import { resolve } from 'node:path';
import { readSettings } from '../settings/read.js';
import type { BackupReport, Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';

/** Rows named one by one. */
const namedMax = 20;

export async function backup(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  if (argument === undefined) return missingFile('backup', around);
  const settings = readSettings(around.environment, around.cwd);
  const app = await around.loadApp();
  const report = await app.backupGateway(settings, resolve(around.cwd, argument), { withSecrets: !flags.has('--without-secrets') });
  around.out(`${report.rows} rows and ${report.auditEntries} audit entries are in ${argument}`);
  if (!flags.has('--without-secrets')) around.out('Secrets are in it as they are stored: only the master key of this gateway opens them. Keep it, and keep it elsewhere.');
  tellRest(report, around, 'Without their secrets');
  return 0;
}

export function missingFile(command: string, around: Surroundings): number {
  around.error(`gateway: ${command} needs the path of a file: gateway ${command} <file>`);
  return 1;
}

export function tellRest({ withoutSecrets, auditFault }: BackupReport, around: Surroundings, what: string): void {
  if (withoutSecrets.length > 0) around.out([`${what}, which have to be given anew:`, ...named(withoutSecrets)].join('\n'));
  if (auditFault !== undefined) around.error(`gateway: the audit log is not whole: ${auditFault}`);
}

export function named(rows: readonly string[]): string[] {
  const more = rows.length - namedMax;
  return [...rows.slice(0, namedMax).map((row) => `  ${row}`), ...(more > 0 ? [`  and ${more} more`] : [])];
}
