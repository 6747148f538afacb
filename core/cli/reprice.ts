// `gateway reprice`: prices the calls of a time again by the prices of now. Shows what that changes, by model; writes only when told to.

import { fail } from '../errors/gateway-error.js';
import type { ModelDifference, RepriceReport } from '../limits/repricing.js';
import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';
import { plainJson, tableOf } from './resource-table.js';

/** Resolves with the exit code. */
export async function reprice(around: Surroundings, { flags, options }: CommandWords): Promise<number> {
  const isWriting = flags.has('--write');
  if (isWriting && flags.has('--dry-run')) throw fail('SETTINGS_INVALID', { reason: '--write and --dry-run contradict each other; leave one out' });
  const from = options.get('--from');
  if (from === undefined) throw fail('SETTINGS_INVALID', { reason: 'reprice needs to know since when; give --from, such as --from 2026-11-01' });
  const fromMs = timeOf('--from', from);
  const to = options.get('--to');
  // The end is left out, bounds of records are not.
  const toMs = to === undefined ? Date.now() : timeOf('--to', to) - 1;
  if (toMs < fromMs) throw fail('SETTINGS_INVALID', { reason: '--to must be later than --from' });
  const settings = readSettings(around.environment, around.cwd);
  const isJson = flags.has('--json');
  const app = await around.loadApp();
  const report = await app.repriceHistory(settings, { fromMs, toMs, workspace: options.get('--workspace'), isWriting, onFound: (found) => { if (!isJson) around.out(textOf(found)); } });
  if (isJson) around.out(plainJson(report));
  else if (report.changed > 0) around.out(report.isWritten ? `\n${report.changed} records were changed. What budgets have counted stays as it was counted` : '\nnothing was written; add --write to change the records');
  return 0;
}

function timeOf(name: string, text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/.test(text);
  const ms = isTime ? Date.parse(text) : Number.NaN;
  // Date.parse takes the 31st of February for a day in March.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text.slice(0, 10))) throw fail('SETTINGS_INVALID', { reason: `${name} must be a day or a time in UTC, such as 2026-11-01 or 2026-11-01T12:00:00Z, which is not so for ${JSON.stringify(text.slice(0, 40))}` });
  return ms;
}

function textOf({ models, records, changed }: RepriceReport): string {
  if (changed === 0) return `ok     ${records} ${records === 1 ? 'record' : 'records'}; every price is as it would be now`;
  const different = models.filter((model) => model.changed > 0);
  const sumOf = (name: 'costBefore' | 'costAfter'): number => models.reduce((sum, model) => sum + model[name], 0);
  const rows = different.map((model) => ({
    provider: model.provider, model: model.model, changed: `${model.changed} of ${model.records}`, before: money(model.costBefore), after: money(model.costAfter),
    difference: difference(model.costAfter - model.costBefore), saved: model.savedBefore === model.savedAfter ? '' : difference(model.savedAfter - model.savedBefore), 'without a price': unpriced(model),
  }));
  return [
    tableOf(rows, ['provider', 'model', 'changed', 'before', 'after', 'difference', 'saved', 'without a price']),
    '', `${changed} of ${records} records change: ${money(sumOf('costBefore'))} before, ${money(sumOf('costAfter'))} after (US cents)`,
  ].join('\n');
}

const money = (cents: number): string => cents.toFixed(4);
const difference = (cents: number): string => `${cents > 0 ? '+' : ''}${money(cents)}`;
const unpriced = ({ unpricedBefore, unpricedAfter }: ModelDifference): string => (unpricedBefore === 0 && unpricedAfter === 0 ? '' : `${unpricedBefore} -> ${unpricedAfter}`);
