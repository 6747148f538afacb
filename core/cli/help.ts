// The text of --help. The settings come from the schema.

import { describeSettings } from '../settings/describe.js';
import type { Command } from './command.js';

const examples = [
  ['gateway start', 'on http://127.0.0.1:8787, one thread for each core'],
  ['GATEWAY_PORT=9000 GATEWAY_THREADS=2 gateway start', 'settings from the environment'],
  ['gateway start --settings /etc/gateway.yaml', 'settings from a file'],
  ['gateway plugins guardrail', 'the guardrails that are installed'],
  ['gateway plugins default.regexMatch', 'one plugin, with its parameters'],
  ['gateway check', 'before a deployment: exit 1 and each fault when something is wrong'],
] as const;

const indent = '  ';

export function help(commands: ReadonlyMap<string, Command>): string {
  return [
    'An AI gateway: one /v1 API in front of many model providers.',
    '',
    'Usage: gateway <command> [options]',
    '',
    'Commands',
    ...columns([...commands].map(([name, { describe }]) => [name, describe] as const)),
    '',
    'Options',
    ...columns([['--settings <file>', 'settings file for start, check and plugins'], ['--help', 'this text'], ['--version', 'print the version']]),
    '',
    ...settingsHelp(),
    '',
    'Examples',
    ...columns(examples),
  ].join('\n');
}

export function commandHelp(name: string, command: Command): string {
  const flags = Object.entries({ ...command.flags, ...command.options });
  const words = [command.argument, ...flags.map(([flag]) => `[${flag}]`), command.takesSettings ? '[--settings <file>]' : undefined].filter((word) => word !== undefined);
  const usage = [`gateway ${name}: ${command.describe}`, '', ['Usage: gateway', name, ...words].join(' ')];
  return [...usage, ...(flags.length === 0 ? [] : ['', 'Options', ...columns(flags)]), ...(command.takesSettings ? ['', ...settingsHelp()] : [])].join('\n');
}

function settingsHelp(): string[] {
  return [
    'Settings: environment variables, or keys of gateway.yaml, gateway.yml or gateway.json in the working directory (lower case,',
    'without GATEWAY_; lists as lists). The environment wins. Lists in the environment are separated by commas.',
    ...describeSettings().flatMap((row) => [`${indent}${row.name} [${row.default.replaceAll('`', '')}]`, `${indent}${indent}${indent}${row.meaning.replaceAll('`', '')}`]),
  ];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${indent}${left.padEnd(width)}${indent}${right}`);
}
