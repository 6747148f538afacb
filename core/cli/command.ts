// A subcommand of `gateway`, and what it is given.

import type { Surroundings } from './app-contract.js';

export interface Command {
  readonly describe: string;
  /** Accepts --settings. */
  readonly takesSettings: boolean;
  /** The argument of the command, for help: `[kind or id]`. Absent: nothing. */
  readonly argument?: string;
  /** Takes its argument more than once. */
  readonly takesMany?: true;
  /** Options without a value, and what each is for. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Options with a value, `--new-key-file <file>`, and what each is for. */
  readonly options?: Readonly<Record<string, string>>;
  /** Reads its words itself, --help among them. */
  readonly takesAnyWords?: true;
  run(around: Surroundings, given: CommandWords): Promise<number>;
}

/** The words behind the command. */
export interface CommandWords {
  readonly argument: string | undefined;
  /** Its arguments, all of them. */
  readonly positionals: readonly string[];
  readonly flags: ReadonlySet<string>;
  /** Values of options, by their names: `--new-key-file`. */
  readonly options: ReadonlyMap<string, string>;
  /** All of them, as they were given. */
  readonly words: readonly string[];
}
