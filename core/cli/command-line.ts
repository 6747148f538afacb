// The `gateway` command: finds the subcommand, refuses what it does not know, answers with an exit code. Runs once in a process.
// Expected failures become one sentence on stderr; anything else is a bug and is left to the process's own last handler.

import { defineCommand, runCommand } from 'citty';
import { isGatewayError } from '../errors/gateway-error.js';
import { didYouMean } from '../settings/nearest-name.js';
import { environmentPrefix, fileVariable } from '../settings/schema.js';
import type { Surroundings } from './app-contract.js';
import { check } from './check.js';
import { commandHelp, help } from './help.js';
import { start } from './start.js';

export interface Command {
  readonly describe: string;
  /** Accepts --settings. */
  readonly takesSettings: boolean;
  run(around: Surroundings): Promise<number>;
}

const commands: ReadonlyMap<string, Command> = new Map([
  ['start', { describe: 'start the gateway', takesSettings: true, run: start }],
  ['check', { describe: 'check the settings, the storage, every plugin and every stored config', takesSettings: true, run: check }],
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

async function run(command: Command, argv: string[], around: Surroundings): Promise<number> {
  const parsed = defineCommand({
    args: { settings: { type: 'string', description: `settings file; the same as ${fileVariable}` } },
    run: ({ args: { settings: file } }) =>
      command.run(file === undefined ? around : { ...around, environment: { ...around.environment, [fileVariable]: file } }),
  });
  const { result } = await runCommand(parsed, { rawArgs: argv });
  if (typeof result !== 'number') throw new TypeError('a command ended without an exit code');
  return result;
}

/** The parser takes what it does not know in silence; a misspelt option must not start a gateway with other settings than meant. */
function faultIn(argv: readonly string[], command: Command): string | undefined {
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const equals = word.indexOf('=');
    const option = equals === -1 ? word : word.slice(0, equals);
    if (!option.startsWith('-')) return `unexpected argument ${word}`;
    if (option !== settingsOption || !command.takesSettings) {
      const variable = environmentPrefix + option.replace(/^-+/, '').replaceAll('-', '_').toUpperCase();
      return `unknown option ${option}${command.takesSettings ? `; settings come from the environment (as ${variable}=...) or a file (${settingsOption} <file>), see gateway --help` : ''}`;
    }
    if (equals === -1) index += 1;
    const value = equals === -1 ? argv[index] ?? '' : word.slice(equals + 1);
    if (value === '' || value.startsWith('-')) return `option ${option} needs the path of a file`;
  }
  return undefined;
}

async function printVersion(around: Surroundings): Promise<number> {
  around.out(around.version);
  return 0;
}
