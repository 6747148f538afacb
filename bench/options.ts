// The command line of the bench.
import { parseArgs } from 'node:util';
import { scenarios } from './load/scenarios.js';

export interface Options {
  readonly runsMicro: boolean;
  readonly scenarioNames: readonly string[];
  readonly seconds: number;
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly jsonFile: string | null;
  readonly against: string | null;
  /** Command that starts this tree in another way, to compare with. */
  readonly againstGateway: string | null;
  readonly mustCheck: boolean;
  readonly gatewayCommand: string;
  readonly reference: 'nginx' | 'node' | 'auto';
}

const allNames = scenarios.map((scenario) => scenario.name);
const quickNames = scenarios.filter(({ isLong }) => isLong !== true).map((scenario) => scenario.name);

export const help = `npm run bench -- [options]

  --only LIST        micro, load, or names of load scenarios, comma between (default: micro,load)
                     scenarios: ${allNames.join(', ')}
  --seconds N        length of one measurement (default 3)
  --rounds N         alternating rounds (default 3; streams at most 2, memory 1)
  --quick            short run for CI: 2 rounds of 1 s, under a minute, without the long scenarios (tail, starts)
  --json FILE        write all figures of all rounds
  --against COMMIT   measure this tree against another commit, in alternating rounds
  --against-gateway COMMAND
                     measure this tree against itself started in another way, for options of node
  --check            compare with bench/budget.json, exit 1 on a gross regression or a wrong answer
  --reference NAME   nginx or node (default: nginx where installed)
  --gateway COMMAND  how the gateway is started (default "node --max-semi-space-size=32 --single-threaded-gc dist/core/main.js start")
  --help`;

/** Returns null when help was asked for. Throws with a sentence on a bad option. */
export function readOptions(argv: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      only: { type: 'string', default: 'micro,load' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      against: { type: 'string' },
      'against-gateway': { type: 'string' },
      check: { type: 'boolean', default: false },
      reference: { type: 'string', default: 'auto' },
      gateway: { type: 'string', default: 'node --max-semi-space-size=32 --single-threaded-gc dist/core/main.js start' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const names = values.only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => name !== 'micro' && name !== 'load' && !allNames.includes(name));
  if (unknown !== undefined) throw new Error(`--only: "${unknown}" is none of micro, load, ${allNames.join(', ')}`);
  const reference = values.reference;
  if (reference !== 'auto' && reference !== 'nginx' && reference !== 'node') throw new Error(`--reference: "${reference}" is neither nginx nor node`);
  if (values.check && (values.against ?? values['against-gateway']) !== undefined) throw new Error('--check judges ratios to the reference proxy; leave it or --against away');
  if (values.against !== undefined && values['against-gateway'] !== undefined) throw new Error('--against and --against-gateway are two references; leave one away');
  return {
    runsMicro: names.includes('micro'),
    scenarioNames: names.includes('load') ? (values.quick ? quickNames : allNames) : allNames.filter((name) => names.includes(name)),
    seconds: numberOption('--seconds', values.seconds, values.quick ? 1 : 3, 120),
    rounds: numberOption('--rounds', values.rounds, values.quick ? 2 : 3, 50),
    isQuick: values.quick,
    jsonFile: values.json ?? null,
    against: values.against ?? null,
    againstGateway: values['against-gateway'] ?? null,
    mustCheck: values.check,
    gatewayCommand: values.gateway,
    reference,
  };
}

function numberOption(name: string, text: string | undefined, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!(value >= 1 && value <= max)) throw new Error(`${name}: "${text}" is not a number from 1 to ${max}`);
  return value;
}
