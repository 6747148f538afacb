// `gateway ledger verify`: whether the ledger, the log and the counters agree about what was spent. Runs beside a gateway, or without one.

import type { LedgerDifference } from '../limits/verify-ledger.js';
import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { escaped, plain } from './resource-table.js';

/** Resolves with the exit code: 1 when they do not agree. */
export async function ledger(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  if (argument !== 'verify') {
    around.error(`gateway: ${argument === undefined ? 'ledger needs to know what to do' : `ledger does not know ${argument}`}; use gateway ledger verify`);
    return 1;
  }
  const settings = readSettings(around.environment, around.cwd);
  const app = await around.loadApp();
  const verdict = await app.verifySpending(settings);
  const { calls, estimated, open, sums, compared, repriced, notInLog, differences, more } = verdict;
  if (flags.has('--json')) around.out(escaped(JSON.stringify(verdict)));
  else {
    for (const difference of differences) around.out(plain(lineOf(difference)));
    if (more > 0) around.out(`FAULT  and ${more} more`);
    const said = [`${calls} calls`, `${sums} sums`, `${compared} held against their log records`];
    if (repriced > 0) said.push(`${repriced} priced again since`);
    if (estimated > 0) said.push(`${estimated} estimated`);
    if (notInLog > 0) said.push(`${notInLog} not in the log any more, or never`);
    if (open > 0) said.push(`${open} open`);
    around.out(`${differences.length === 0 ? 'ok    ' : 'FAULT '} ${said.join(', ')}`);
  }
  if (differences.length > 0) around.error(`gateway: ledger, log and counters do not agree (${differences.length + more} ${differences.length + more === 1 ? 'difference' : 'differences'})`);
  return differences.length === 0 ? 0 : 1;
}

const lineOf = ({ about, call, counter, period, ledger: said, other, reason }: LedgerDifference): string =>
  `FAULT  ${about}${call === null ? '' : ` of call ${call}`}: ${counter}${period === null ? '' : ` (period ${period})`}: ledger ${said ?? 'nothing'}, ${about === 'record' ? 'log' : about} ${other ?? 'nothing'}: ${reason}`;
