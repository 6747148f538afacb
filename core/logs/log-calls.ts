// Calls of a LogReader as messages, and the end that answers them, in the thread of the reader.

import type { LogFilter, LogReader, LogRecord } from '@gateway/plugin-sdk';
import { reasonOf } from '../errors/gateway-error.js';

/** What is asked, with its arguments. An export is asked for page after page, by the number of its first call. */
export type LogQuestion =
  | { readonly [Name in Exclude<keyof LogReader, 'close' | 'export'>]: { readonly name: Name; readonly values: Parameters<NonNullable<LogReader[Name]>> } }[Exclude<keyof LogReader, 'close' | 'export'>]
  | { readonly name: 'export'; readonly filter: LogFilter; readonly hasBodies: boolean }
  | { readonly name: 'exportNext' | 'exportEnd'; readonly of: number };

export interface LogCall {
  readonly number: number;
  readonly question: LogQuestion;
}

export type LogCallAnswer =
  | { readonly number: number; readonly value: unknown }
  /** `isOfInput`: something in the question was at fault. */
  | { readonly number: number; readonly reason: string; readonly isOfInput: boolean };

/** Exports that are under way at once; more are refused. */
const exportsMax = 16;

interface OpenExport {
  readonly pages: AsyncIterator<readonly LogRecord[]>;
  readonly ending: AbortController;
}

export class LogCalls {
  readonly #exports = new Map<number, OpenExport>();

  constructor(readonly reader: LogReader) {}

  /** Never rejects. */
  async answer({ number, question }: LogCall): Promise<LogCallAnswer> {
    try {
      return { number, value: await this.#ask(number, question) };
    } catch (thrown) {
      return { number, reason: reasonOf(thrown), isOfInput: thrown instanceof RangeError };
    }
  }

  #ask(number: number, question: LogQuestion): unknown {
    const { reader } = this;
    switch (question.name) {
      case 'page': return reader.page(...question.values);
      case 'read': return reader.read(...question.values);
      case 'follow':
        if (reader.follow === undefined) throw new Error('the exporter that keeps the records cannot be followed');
        return reader.follow(...question.values);
      case 'aggregate': return reader.aggregate(...question.values);
      case 'insert': return reader.insert(...question.values);
      case 'addFeedback': return reader.addFeedback(...question.values);
      case 'changeFeedback': return reader.changeFeedback(...question.values);
      case 'reprice': return reader.reprice(...question.values);
      case 'export': return this.#begin(number, question);
      case 'exportNext': return this.#next(question.of);
      case 'exportEnd': return this.#end(question.of);
    }
  }

  #begin(number: number, { filter, hasBodies }: Extract<LogQuestion, { readonly name: 'export' }>): void {
    if (this.#exports.size >= exportsMax) throw new Error(`${exportsMax} exports of logs are under way; try again later`);
    const ending = new AbortController();
    this.#exports.set(number, { pages: this.reader.export(filter, ending.signal, { hasBodies })[Symbol.asyncIterator](), ending });
  }

  /** Undefined: there are no more. */
  async #next(of: number): Promise<readonly LogRecord[] | undefined> {
    const open = this.#exports.get(of);
    if (open === undefined) throw new Error('the export of logs has ended');
    try {
      const { done = false, value } = await open.pages.next();
      if (!done) return value;
      this.#exports.delete(of);
      return undefined;
    } catch (thrown) {
      this.#exports.delete(of);
      throw thrown;
    }
  }

  async #end(of: number): Promise<void> {
    const open = this.#exports.get(of);
    this.#exports.delete(of);
    open?.ending.abort();
    await open?.pages.return?.();
  }
}
