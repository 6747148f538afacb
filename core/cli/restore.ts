// `gateway restore FILE`: what a backup holds becomes what the gateway stores. The whole file is read and checked before anything is written.

import { resolve } from 'node:path';
import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import { missingFile, tellRest } from './backup.js';
import type { CommandWords } from './command.js';

export async function restore(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  if (argument === undefined) return missingFile('restore', around);
  const settings = readSettings(around.environment, around.cwd);
  const app = await around.loadApp();
  const report = await app.restoreGateway(settings, resolve(around.cwd, argument), { isForced: flags.has('--force') });
  around.out(`${report.rows} rows and ${report.auditEntries} audit entries are restored into ${settings.dataDir}`);
  tellRest(report, around, 'Restored without their secrets');
  return 0;
}
