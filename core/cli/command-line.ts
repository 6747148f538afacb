// The `gateway` command: finds the subcommand, refuses what it does not know, answers with an exit code. Runs once in a process.
// Expected failures become one sentence on stderr; anything else is a bug and is left to the process's own last handler.

import { parseArgs } from 'node:util';
import { isGatewayError } from '../errors/gateway-error.js';
import { didYouMean, nearestName } from '../settings/nearest-name.js';
import { environmentName, fileVariable, settingKeys } from '../settings/schema.js';
import type { Surroundings } from './app-contract.js';
import { apply, exportAll } from './apply.js';
import { backup } from './backup.js';
import { audit } from './audit.js';
import { ledger } from './ledger.js';
import { check } from './check.js';
import type { Command, CommandWords } from './command.js';
import { commandHelp, help } from './help.js';
import { logs, logsFlags, logsOptions } from './logs.js';
import { plugins } from './plugins.js';
import { prices } from './prices.js';
import { rekey } from './rekey.js';
import { reprice } from './reprice.js';
import { resourceCommands, runResource } from './resources.js';
import { restore } from './restore.js';
import { start } from './start.js';
import { why } from './why.js';

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['start', { describe: 'start the gateway', takesSettings: true, run: start }],
  ['check', { describe: 'check everything that stops a start, and every plugin', takesSettings: true, run: check }],
  ['ledger', { describe: 'verify that ledger, log and counters agree about what was spent', takesSettings: true, argument: '<verify>', flags: { '--json': 'what was found, as JSON' }, run: ledger }],
  ['audit', { describe: 'verify that the audit log is as it was written', takesSettings: true, argument: '<verify>', flags: { '--json': 'what was found, as JSON' }, run: audit }],
  ['prices', {
    describe: 'list models whose calls have no price, or show the prices of a model', takesSettings: true, argument: '[provider/model]',
    flags: { '--json': 'what was found, as JSON' }, options: { '--days <count>': 'how far to look back for calls; else 7' }, run: prices,
  }],
  ['reprice', {
    describe: 'price the calls of a time again, and show what that changes', takesSettings: true,
    flags: { '--write': 'change the records; else nothing is written', '--dry-run': 'write nothing, which is also what happens without --write', '--json': 'what was found, as JSON' },
    options: { '--from <time>': 'the first, such as 2026-11-01 or 2026-11-01T12:00:00Z (UTC)', '--to <time>': 'the end, which is left out; else now', '--workspace <id or slug>': 'of one workspace' }, run: reprice,
  }],
  ['plugins', {
    describe: 'list every plugin that is installed, or show one with its parameters', takesSettings: true, argument: '[kind or id]',
    flags: { '--json': 'everything there is to say, as JSON' }, run: plugins,
  }],
  ['backup', {
    describe: 'write what the gateway stores into a file, also while it runs', takesSettings: true, argument: '<file>', flags: { '--without-secrets': 'leave stored credentials and configs out' }, run: backup,
  }],
  ['restore', {
    describe: 'bring back what a backup holds; the gateway is stopped', takesSettings: true, argument: '<file>', flags: { '--force': 'replace what is stored now' }, run: restore,
  }],
  ['rekey', {
    describe: 'change the master key; the gateway is stopped', takesSettings: true,
    flags: { '--forget': 'give up the secrets that the master key of now does not open' },
    options: { '--new-key-file <file>': 'the new key, as hex or base64, in a file of your own; else GATEWAY_NEW_MASTER_KEY, else one is made' }, run: rekey,
  }],
  ['why', {
    describe: 'what was decided for a call of a running gateway, and on what ground', takesSettings: false, argument: '<id of a log or a trace>', flags: { '--json': 'the reply as it is' }, run: why,
  }],
  ['apply', {
    describe: 'bring what a running gateway stores to what files say', takesSettings: false, argument: '<file>...', takesMany: true,
    flags: {
      '--dry-run': 'show what would change, and change nothing', '--prune': 'remove what these files made earlier and do not have any more', '--json': 'the reply as it is',
    },
    options: {
      '--source <name>': 'what these files are remembered by; else their names', '--workspace <id or slug>': 'for objects that name none; else the first one',
    },
    run: apply,
  }],
  ['export', {
    describe: 'write what a running gateway stores as a file for apply, without secrets', takesSettings: false, flags: { '--json': 'the reply as it is' },
    options: { '--workspace <id or slug>': 'of one workspace' }, run: exportAll,
  }],
  ['logs', { describe: 'list the log of a running gateway, or print its calls as they arrive', takesSettings: false, flags: logsFlags, options: logsOptions, run: logs }],
  ...Object.entries(resourceCommands).map(([name, { describe }]): [string, Command] => [name, {
    describe, takesSettings: false, argument: '<list|get|create|update|rotate|remove> [id] [options]', takesAnyWords: true, run: (around, { words }) => runResource(name, words, around),
  }]),
  ['version', { describe: 'print the version', takesSettings: false, run: printVersion }],
]);

const aliases: ReadonlyMap<string, string> = new Map([['--version', 'version'], ['-v', 'version'], ['--help', 'help'], ['-h', 'help']]);
const settingsOption = '--settings';

/** Resolves with the exit code. */
export async function runCommandLine(argv: readonly string[], around: Surroundings): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    around.error(help(commands));
    return 1;
  }
  const name = aliases.get(first) ?? first;
  if (name === 'help') {
    around.out(help(commands));
    return 0;
  }
  const command = commands.get(name);
  if (command === undefined) {
    const names = [...commands.keys()];
    around.error(`gateway: unknown ${name.startsWith('-') ? 'option' : 'command'} ${name}${didYouMean(name, names) || `; the commands are ${names.join(', ')}`}`);
    return 1;
  }
  if (command.takesAnyWords === true) return run(command, around, { argument: undefined, positionals: [], flags: new Set(), options: new Map(), words: rest });
  if (rest.includes('--help') || rest.includes('-h')) {
    around.out(commandHelp(name, command));
    return 0;
  }
  const parsed = parse(rest, command);
  const fault = faultIn(parsed.tokens, command);
  if (fault !== undefined) {
    around.error(`gateway: ${fault}`);
    return 1;
  }
  const { settings: file, ...others } = parsed.values;
  const flags = new Set<string>();
  const options = new Map<string, string>();
  for (const [name, value] of Object.entries(others)) {
    if (typeof value === 'string') options.set(`--${name}`, value);
    else flags.add(`--${name}`);
  }
  const surroundings = typeof file === 'string' ? { ...around, environment: { ...around.environment, [fileVariable]: file } } : around;
  return run(command, surroundings, { argument: parsed.positionals[0], positionals: parsed.positionals, flags, options, words: rest });
}

async function run(command: Command, around: Surroundings, given: CommandWords): Promise<number> {
  try {
    return await command.run(around, given);
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    around.error(`gateway: ${thrown.message}`);
    return 1;
  }
}

/** Not strict: its own refusals do not say how to go on. `faultIn` refuses. */
function parse(argv: readonly string[], { flags = {}, options = {} }: Command) {
  const known = Object.fromEntries([
    ...Object.keys(flags).map((flag) => [flag.slice(2), { type: 'boolean' as const }] as const),
    ...Object.keys(options).map((option) => [nameOf(option).slice(2), { type: 'string' as const }] as const),
  ]);
  return parseArgs({ args: [...argv], options: { ...known, settings: { type: 'string' } as const }, allowPositionals: true, strict: false, tokens: true });
}

type Token = ReturnType<typeof parse>['tokens'][number];

/** `--new-key-file <file>` -> `--new-key-file`. */
const nameOf = (option: string): string => option.split(' ')[0] ?? '';

/** A misspelt option must not start a gateway with other settings than meant. */
function faultIn(tokens: readonly Token[], command: Command): string | undefined {
  let argumentsLeft = command.argument === undefined ? 0 : command.takesMany === true ? Infinity : 1;
  for (const token of tokens) {
    if (token.kind === 'option') {
      const fault = optionFault(token, command);
      if (fault !== undefined) return fault;
    } else if (token.kind === 'positional') {
      argumentsLeft -= 1;
      if (argumentsLeft < 0) return `unexpected argument ${token.value}`;
    }
  }
  return undefined;
}

function optionFault({ rawName: option, value }: Token & { kind: 'option' }, command: Command): string | undefined {
  if (option === settingsOption && command.takesSettings) return (value ?? '') === '' || value?.startsWith('-') === true ? `option ${option} needs the path of a file` : undefined;
  const valued = Object.keys(command.options ?? {}).find((each) => nameOf(each) === option);
  if (valued !== undefined) return (value ?? '') === '' || value?.startsWith('-') === true ? `option ${option} needs a value: ${valued}` : undefined;
  if (!Object.hasOwn(command.flags ?? {}, option)) return `unknown option ${option}${wayOn(option, command)}`;
  return value === undefined ? undefined : `option ${option} takes no value`;
}

/** Options that name the settings file in other programs. */
const otherSettingsOptions = ['--config', '--config-file', '--conf', '-c', '--setting', '-s', '-f', '--file'];

/** The way on: the option or setting that was most likely meant. */
function wayOn(option: string, command: Command): string {
  const flag = nearestName(option, [...Object.keys(command.flags ?? {}), ...Object.keys(command.options ?? {}).map(nameOf)]);
  if (flag !== undefined) return `; did you mean ${flag}?`;
  if (!command.takesSettings) return '';
  if (otherSettingsOptions.includes(option) || nearestName(option, [settingsOption]) !== undefined) return `; the settings file is named by ${settingsOption} <file> or ${fileVariable}`;
  const meant = nearestName(option.replace(/^-+/, '').replaceAll('-', '_'), settingKeys);
  const example = environmentName(settingKeys.find((key) => key === meant) ?? 'port');
  return `; settings come from the environment (as ${example}=...) or a file (${settingsOption} <file>), see gateway --help`;
}

async function printVersion(around: Surroundings): Promise<number> {
  around.out(around.version);
  return 0;
}
