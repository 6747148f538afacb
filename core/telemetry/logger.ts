// The process's own log: one JSON line for each event, to the standard error stream. Not the log of exchanges (queue.ts). A line below the
// level costs one comparison. Lines go through the redactor; still, never pass a body.

import type { LogLevel } from '../settings/schema.js';
import { Redactor } from './redactor.js';

const severity: { readonly [L in LogLevel]: number } = { error: 0, warn: 1, info: 2, debug: 3 };

export type Fields = Readonly<Record<string, unknown>>;

export interface LoggerOptions {
  /** Takes a whole line with its end; default: standard error. */
  readonly write?: (line: string) => void;
  readonly now?: () => number;
}

export class Logger {
  readonly #severityMax: number;
  readonly #redactor = new Redactor();
  readonly #write: (line: string) => void;
  readonly #now: () => number;

  constructor(level: LogLevel, options: LoggerOptions = {}) {
    this.#severityMax = severity[level];
    this.#write = options.write ?? ((line) => { process.stderr.write(line); });
    this.#now = options.now ?? Date.now;
  }

  error(message: string, fields?: Fields): void {
    this.#line('error', message, fields);
  }

  warn(message: string, fields?: Fields): void {
    if (this.#severityMax >= 1) this.#line('warn', message, fields);
  }

  info(message: string, fields?: Fields): void {
    if (this.#severityMax >= 2) this.#line('info', message, fields);
  }

  debug(message: string, fields?: Fields): void {
    if (this.#severityMax >= 3) this.#line('debug', message, fields);
  }

  /** For callers whose fields cost something to make. */
  isEnabled(level: LogLevel): boolean {
    return severity[level] <= this.#severityMax;
  }

  /** `value` (8 characters or more) is printed nowhere from now on. */
  hide(value: string): void {
    this.#redactor.add(value);
  }

  #line(level: LogLevel, message: string, fields: Fields | undefined): void {
    const head = { time: new Date(this.#now()).toISOString(), level, message: this.#redactor.text(message) };
    const shown = fields === undefined ? undefined : this.#redactor.value(fields);
    // The head's own members win over fields of the same name.
    this.#write(`${JSON.stringify(typeof shown === 'object' ? { ...head, ...shown, ...head } : head)}\n`);
  }
}
