// The `gateway` command: finds the subcommand, refuses what it does not know, answers with an exit code. Runs once in a process.
// Expected failures become one sentence on stderr; anything else is a bug and is left to the process's own last handler.

import { defineCommand, runCommand } from 'citty';
import { isGatewayError } from '../errors/gateway-error.js';
import { didYouMean, nearestName } from '../settings/nearest-name.js';
import { environmentName, fileVariable, settingKeys } from '../settings/schema.js';
import type { Surroundings } from './app-contract.js';
import { check } from './check.js';
import type { Command } from './command.js';
import { commandHelp, help } from './help.js';
import { plugins } from './plugins.js';
import { start } from './start.js';

const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['start', { describe: 'start the gateway', takesSettings: true, run: start }],
  ['check', { describe: 'check everything that stops a start, and every plugin', takesSettings: true, run: check }],
  ['plugins', {
    describe: 'list every plugin that is installed, or show one with its parameters', takesSettings: true, argument: '[kind or id]',
    flags: { '--json': 'everything there is to say, as JSON' }, run: plugins,
  }],
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
  if (rest.includes('--help') || rest.includes('-h')) {
    around.out(commandHelp(name, command));
    return 0;
  }
  const fault = faultIn(rest, command);
  if (fault !== undefined) {
    around.error(`gateway: ${fault}`);
    return 1;
  }
  try {
    return await run(command, rest, around);
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    around.error(`gateway: ${thrown.message}`);
    return 1;
  }
}

async function run(command: Command, argv: readonly string[], around: Surroundings): Promise<number> {
  const flags = new Set(argv.filter((word) => isFlag(word, command)));
  const parsed = defineCommand({
    args: { settings: { type: 'string', description: `settings file; the same as ${fileVariable}` } },
    run: ({ args: { settings: file, _: [argument] } }) => command.run(
      file === undefined ? around : { ...around, environment: { ...around.environment, [fileVariable]: file } },
      { argument, flags },
    ),
  });
  const { result } = await runCommand(parsed, { rawArgs: argv.filter((word) => !flags.has(word)) });
  if (typeof result !== 'number') throw new TypeError('a command ended without an exit code');
  return result;
}

const isFlag = (word: string, command: Command): boolean => Object.hasOwn(command.flags ?? {}, word);

/** The parser takes what it does not know in silence; a misspelt option must not start a gateway with other settings than meant. */
function faultIn(argv: readonly string[], command: Command): string | undefined {
  let argumentCount = 0;
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (isFlag(word, command)) continue;
    const equals = word.indexOf('=');
    const option = equals === -1 ? word : word.slice(0, equals);
    if (!option.startsWith('-')) {
      argumentCount += 1;
      if (argumentCount > (command.argument === undefined ? 0 : 1)) return `unexpected argument ${word}`;
      continue;
    }
    if (option !== settingsOption || !command.takesSettings) return `unknown option ${option}${wayOn(option, command)}`;
    if (equals === -1) index += 1;
    const value = equals === -1 ? argv[index] ?? '' : word.slice(equals + 1);
    if (value === '' || value.startsWith('-')) return `option ${option} needs the path of a file`;
  }
  return undefined;
}

/** What names the file of settings elsewhere. */
const otherSettingsOptions = ['--config', '--config-file', '--conf', '-c', '--setting', '-s', '-f', '--file'];

/** What was meant, of what there is. */
function wayOn(option: string, command: Command): string {
  const flag = nearestName(option, Object.keys(command.flags ?? {}));
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
