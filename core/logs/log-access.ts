// The records of calls, for the control plane: a LogReader whose work is done in a thread of its own. That thread is started by the first question,
// ended when nobody asks for a while, and started again when it died. A question waits for a bounded time, and so many at once.

import type { Feedback, LogAggregate, LogAggregateQuery, LogFilter, LogPage, LogPageOptions, LogReader, LogRecord, LogScope, LogTail, Maybe, RepricedRecord } from '@gateway/plugin-sdk';
import { fail, reasonOf } from '../errors/gateway-error.js';
import { LogCalls, type LogCall, type LogCallAnswer, type LogQuestion } from './log-calls.js';

/** A question that takes longer is answered without its outcome; below what a control call may take. */
const answerMsMax = 25_000;
/** Questions that wait at once; more are refused. */
const waitingMax = 64;
/** A thread that nobody asked anything for so long is ended. */
const idleMs = 300_000;
/** What a thread gets to close its storage. */
const closeMs = 2_000;

/** The far end: a thread, or the same one. */
export interface ReaderEnd {
  send(call: LogCall): void;
  /** Resolves when it has ended, by itself or after `forceMs` by force. */
  end(forceMs: number): Promise<void>;
}

export interface LogAccessOptions {
  /** Starts an end. `onEnd` is called once, when it takes and gives no more. */
  readonly start: (onAnswer: (answer: LogCallAnswer) => void, onEnd: (reason: string) => void) => ReaderEnd;
  /** An end went that nobody had ended. */
  readonly onDeath: (reason: string) => void;
  readonly answerMsMax?: number;
  readonly idleMs?: number;
  /** It is not ended when nobody asks. */
  readonly isKept?: boolean;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export class LogAccess implements LogReader {
  readonly #options: LogAccessOptions;
  readonly #answerMsMax: number;
  readonly #waiting = new Map<number, Waiting>();
  #end: ReaderEnd | null = null;
  #endings: Promise<void> = Promise.resolve();
  #number = 0;
  #idle: NodeJS.Timeout | undefined = undefined;
  /** When the end gave its last answer. */
  #heardAtMs = 0;
  #exports = 0;
  #isClosed = false;

  constructor(options: LogAccessOptions) {
    this.#options = options;
    this.#answerMsMax = options.answerMsMax ?? answerMsMax;
  }

  // The other end answers each question with what its method gives.
  page(...values: [LogFilter, LogPageOptions]): Promise<LogPage> { return this.#ask({ name: 'page', values }) as Promise<LogPage>; }
  read(...values: [LogScope, string]): Promise<readonly LogRecord[]> { return this.#ask({ name: 'read', values }) as Promise<readonly LogRecord[]>; }
  follow(...values: [LogFilter, string | null, number]): Promise<LogTail> { return this.#ask({ name: 'follow', values }) as Promise<LogTail>; }
  aggregate(...values: [LogAggregateQuery]): Promise<LogAggregate> { return this.#ask({ name: 'aggregate', values }) as Promise<LogAggregate>; }
  async insert(...values: [readonly LogRecord[]]): Promise<void> { await this.#ask({ name: 'insert', values }); }
  async addFeedback(...values: [readonly Feedback[]]): Promise<void> { await this.#ask({ name: 'addFeedback', values }); }
  changeFeedback(...values: [LogScope, string, Pick<Feedback, 'value' | 'weight' | 'metadata'>]): Promise<boolean> { return this.#ask({ name: 'changeFeedback', values }) as Promise<boolean>; }
  async reprice(...values: [readonly RepricedRecord[]]): Promise<void> { await this.#ask({ name: 'reprice', values }); }

  async *export(filter: LogFilter, signal: AbortSignal, { hasBodies = false }: { readonly hasBodies?: boolean } = {}): AsyncGenerator<readonly LogRecord[]> {
    signal.throwIfAborted();
    const of = this.#number + 1;
    await this.#ask({ name: 'export', filter, hasBodies });
    this.#exports += 1;
    try {
      for (;;) {
        // As above.
        const page = await this.#ask({ name: 'exportNext', of }) as readonly LogRecord[] | undefined;
        signal.throwIfAborted();
        if (page === undefined) return;
        yield page;
      }
    } finally {
      this.#exports -= 1;
      // Nobody waits for it, and an end that died has none open.
      if (this.#end !== null) this.#ask({ name: 'exportEnd', of }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave('the gateway stops');
    await this.#endings;
  }

  #ask(question: LogQuestion): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(unavailable('the gateway stops'));
    if (this.#waiting.size >= waitingMax) return Promise.reject(unavailable(`${waitingMax} questions wait already; try again`));
    clearTimeout(this.#idle);
    const number = this.#number += 1;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#onLate(number), this.#answerMsMax);
      this.#waiting.set(number, { resolve, reject, timer });
      try {
        this.#end ??= this.#start();
        this.#end.send({ number, question });
      } catch (thrown) {
        this.#take(number)?.reject(unavailable(reasonOf(thrown)));
      }
    });
  }

  #start(): ReaderEnd {
    this.#heardAtMs = performance.now();
    const end: ReaderEnd = this.#options.start((answer) => this.#onAnswer(answer), (reason) => {
      if (this.#end !== end) return;
      this.#end = null;
      this.#options.onDeath(reason);
      this.#refuseAll(`it broke off (${reason})`);
    });
    return end;
  }

  #onAnswer(answer: LogCallAnswer): void {
    this.#heardAtMs = performance.now();
    const waiting = this.#take(answer.number);
    if (waiting === undefined) return;
    if ('value' in answer) waiting.resolve(answer.value);
    else waiting.reject(answer.isOfInput ? fail('FIELD_INVALID', { param: 'cursor', reason: answer.reason }) : unavailable(answer.reason));
    this.#rest();
  }

  #onLate(number: number): void {
    this.#take(number)?.reject(unavailable(`it took longer than ${this.#answerMsMax} ms; ask for a shorter time`));
    // Nothing was heard for about as long: it hangs.
    if (performance.now() - this.#heardAtMs >= this.#answerMsMax * 0.9) this.#leave('it hangs');
    this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#options.isKept !== true && this.#waiting.size === 0 && this.#exports === 0 && this.#end !== null) this.#idle = setTimeout(() => this.#leave('nobody asks'), this.#options.idleMs ?? idleMs).unref();
  }

  #leave(reason: string): void {
    clearTimeout(this.#idle);
    const end = this.#end;
    this.#end = null;
    this.#refuseAll(reason);
    if (end !== null) this.#endings = Promise.all([this.#endings, end.end(closeMs)]).then(() => undefined);
  }

  #refuseAll(reason: string): void {
    for (const number of [...this.#waiting.keys()]) this.#take(number)?.reject(unavailable(reason));
  }

  #take(number: number): Waiting | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

/** On the same thread, for a storage that threads cannot share. Values are cloned, as between threads. */
export function readInPlace(make: () => Maybe<LogReader>, onAnswer: (answer: LogCallAnswer) => void): ReaderEnd {
  const made = Promise.resolve().then(make);
  const calls = made.then((reader) => new LogCalls(reader));
  return {
    send: (call) => {
      const cloned = structuredClone(call);
      calls.then((each) => each.answer(cloned)).then(
        (answer) => onAnswer(structuredClone(answer)),
        (thrown: unknown) => onAnswer({ number: call.number, reason: reasonOf(thrown), isOfInput: false }),
      );
    },
    end: async () => {
      await made.then((reader) => reader.close?.()).catch(() => undefined);
    },
  };
}

const unavailable = (reason: string): Error => fail('LOGS_UNAVAILABLE', { reason });
