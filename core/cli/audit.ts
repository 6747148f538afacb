// `gateway audit verify`: whether the audit log is as it was written. Runs beside a gateway, or without one.

import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';

/** Resolves with the exit code: 1 when an entry was changed, removed or put in. */
export async function audit(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  if (argument !== 'verify') {
    around.error(`gateway: ${argument === undefined ? 'audit needs to know what to do' : `audit does not know ${argument}`}; use gateway audit verify`);
    return 1;
  }
  const settings = readSettings(around.environment, around.cwd);
  const app = await around.loadApp();
  const { entries, hash, fault } = await app.verifyAuditLog(settings);
  if (flags.has('--json')) around.out(JSON.stringify({ entries, hash, fault: fault ?? null }));
  else if (fault === undefined) around.out(`ok     ${entries} ${entries === 1 ? 'entry' : 'entries'}${entries === 0 ? '' : `; the hash of the last is ${hash}`}`);
  else around.out(`FAULT  at entry ${fault.sequence}.${fault.number}, behind ${entries} good ones: ${fault.reason}`);
  if (fault !== undefined) around.error(`gateway: the audit log is not as it was written (entry ${fault.sequence}.${fault.number}: ${fault.reason})`);
  return fault === undefined ? 0 : 1;
}
