// `gateway rekey`: stored secrets go under another master key. The key itself is never on the command line, where other users could see it.

import { resolve } from 'node:path';
import { fail } from '../errors/gateway-error.js';
import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import { named } from './backup.js';
import type { CommandWords } from './command.js';

const newKeyVariable = 'GATEWAY_NEW_MASTER_KEY';

export async function rekey(around: Surroundings, { flags, options }: CommandWords): Promise<number> {
  // Of this command alone: it is not a setting.
  const { [newKeyVariable]: newKey, ...environment } = around.environment;
  const settings = readSettings(environment, around.cwd);
  const file = options.get('--new-key-file');
  const isForgetting = flags.has('--forget');
  if (newKey !== undefined && file !== undefined) throw fail('SETTINGS_INVALID', { reason: `the new master key is given twice; take --new-key-file or ${newKeyVariable}` });
  if (isForgetting && (newKey ?? file) !== undefined) throw fail('SETTINGS_INVALID', { reason: '--forget goes by the master key of now and takes no new one; change it afterwards' });
  const app = await around.loadApp();
  const report = await app.rekeyGateway(settings, { isForgetting, newKeyFile: file === undefined ? undefined : resolve(around.cwd, file), newKey });
  around.out(isForgetting
    ? `The secrets of ${report.forgotten.length} rows were given up; secrets are stored under the master key ${report.keyId} from now on`
    : `The secrets of ${report.changed} rows are stored under the new master key ${report.keyId} now`);
  if (report.forgotten.length > 0) around.out(['Without their secrets, which have to be given anew:', ...named(report.forgotten)].join('\n'));
  if (report.keyFile !== undefined) around.out(`The new key is in ${report.keyFile}`);
  else if (!isForgetting) around.out('Set GATEWAY_MASTER_KEY to the new key before the next start');
  if (report.oldKeyFile !== undefined) around.out(`The old key is in ${report.oldKeyFile}: backups made before need it; remove it when none is left`);
  return 0;
}
