// `gateway plugins`: what is installed, built in and third-party, one line each; a kind or an id narrows it down, and one id shows all of it.

import { isAbsolute, relative } from 'node:path';
import { isPluginKind, ownNamespaces } from '../registry/ids.js';
import type { Catalogue, CatalogueEntry, CatalogueParameter } from '../registry/catalogue.js';
import { didYouMean } from '../settings/nearest-name.js';
import { readSettings } from '../settings/read.js';
import type { Surroundings } from './app-contract.js';
import type { CommandWords } from './command.js';

/** Faults in the settings are refused; a plugin at fault is listed as such, which is not a failure of the list. */
export async function plugins(around: Surroundings, { argument, flags }: CommandWords): Promise<number> {
  const settings = readSettings(around.environment, around.cwd);
  const app = await around.loadApp();
  const catalogue = await app.listPlugins(settings, around.cwd);
  const shownName = (name: string): string => (isAbsolute(name) && !relative(around.cwd, name).startsWith('..') ? `./${relative(around.cwd, name)}` : name);
  const shown = argument === undefined ? catalogue.plugins : chosen(catalogue.plugins, argument);
  if (argument !== undefined && shown.length === 0 && !isKind(argument)) {
    const names = [...new Set(catalogue.plugins.flatMap(({ kind, id }) => [kind, id]))];
    around.error(`gateway: no plugin ${argument} is installed${didYouMean(argument, names) || '; gateway plugins lists them'}`);
    return 1;
  }
  if (flags.has('--json')) around.out(JSON.stringify({ packages: catalogue.packages, plugins: shown }, null, 2));
  else if (argument !== undefined && !isKind(argument)) around.out(shown.map((entry) => whole({ ...entry, package: shownName(entry.package) })).join('\n\n'));
  else around.out(list(catalogue, shown.map((entry) => ({ ...entry, package: shownName(entry.package) })), argument === undefined));
  return 0;
}

/** `guardrails` is as good as `guardrail`. */
const kindOf = (text: string): string => [text, text.replace(/s$/, ''), text.replace(/ies$/, 'y')].find(isPluginKind) ?? text;
const isKind = (text: string): boolean => isPluginKind(kindOf(text));

function chosen(all: readonly CatalogueEntry[], text: string): readonly CatalogueEntry[] {
  if (isKind(text)) return all.filter(({ kind }) => kind === kindOf(text));
  const [namespace = '', name] = text.split('.', 2);
  const same = name !== undefined && ownNamespaces.has(namespace) ? `default.${name}` : text;
  return all.filter(({ id, package: from }) => id === text || id === same || id === `default.${text}` || from === text);
}

function list({ packages }: Catalogue, shown: readonly CatalogueEntry[], isAll: boolean): string {
  const rows = shown.map(({ kind, id, status, version, package: from, title }) => [kind, id, status === 'ok' ? 'ok' : 'FAULT', version, from, title]);
  const lines = aligned([['Kind', 'Id', 'Status', 'Version', 'Package', 'Title'], ...rows]);
  const faults = [
    ...packages.flatMap(({ name, fault }) => (fault === null ? [] : [`FAULT  package ${name}: ${fault}`])),
    ...shown.flatMap(({ fault }) => (fault === null ? [] : [`FAULT  ${fault}`])),
  ];
  const count = `${shown.length} ${shown.length === 1 ? 'plugin' : 'plugins'}${isAll ? `, ${packages.length} third-party ${packages.length === 1 ? 'package' : 'packages'}` : ''}, ${faults.length} at fault`;
  return [...lines, ...(faults.length === 0 ? [] : ['', ...faults]), '', count].join('\n');
}

function whole(entry: CatalogueEntry): string {
  const facts = [
    ['status', entry.fault ?? 'ok'], ['package', `${entry.package} ${entry.version}`.trimEnd()], ['folder', entry.folder],
    ...(entry.deprecated === null ? [] : [['deprecated', entry.deprecated]]), ...Object.entries(entry.facts),
  ];
  const head = [`${entry.kind} ${entry.id}${entry.title === '' ? '' : `: ${entry.title}`}`, ...(entry.describe === '' ? [] : [entry.describe]), '', ...aligned(facts)];
  if (entry.fault !== null) return head.join('\n');
  if (entry.parameters.length === 0) return [...head, '', 'Parameters: none'].join('\n');
  return [...head, '', 'Parameters', ...aligned([['Name', 'Type', 'Default', 'Meaning'], ...entry.parameters.map(parameterRow)]).map((line) => `  ${line}`)].join('\n');
}

function parameterRow({ name, type, required, default: value, description }: CatalogueParameter): string[] {
  return [name, type, required ? 'required' : value === null ? '' : JSON.stringify(value), description];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => { widths[index] = Math.max(widths[index] ?? 0, cell.length); });
  return rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd());
}
