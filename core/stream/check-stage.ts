// Hot: runs for each event of a stream that a check reads.
// One check that reads a streamed answer as it passes, in the client's dialect: what it releases goes on in the events it came in, with its
// edits made; what it keeps waits. An event in which nothing changes goes on as the same bytes. Nothing of a text may go that the check has
// not seen, and nothing at all once the call is denied.

import { isObject, nameFault, type AnswerEvent, type EventSink, type EventStage, type JsonObject, type Verdict } from '@gateway/plugin-sdk';
import type { Dialect } from '../dialect/dialect.js';
import { ParsedEvent, type Deltas } from '../dialect/common/deltas.js';
import { TextGate, type GateOptions } from '../dialect/common/text-gate.js';

export interface CheckStageOptions extends GateOptions {
  /** Of the events, which is the client's. */
  readonly dialect: Dialect;
}

/** What ends a stream of chunks. */
const done = '[DONE]';

export class CheckStage implements EventStage<AnswerEvent> {
  readonly #gate: TextGate;
  readonly #deltas: Deltas;
  #isStopped = false;

  constructor(readonly options: CheckStageOptions) {
    this.#gate = new TextGate(options, options.dialect.repeatsTexts);
    this.#deltas = options.dialect.deltas(this.#gate);
  }

  /** What the check threw, or how it broke its contract. It is not asked any more then, and what it kept goes on unchanged. */
  get error(): Error | null {
    return this.#gate.error;
  }

  /** The check is not asked any more: it threw, or its verdict is settled. */
  get isOver(): boolean {
    return this.#gate.isOver;
  }

  get isDenied(): boolean {
    return this.#gate.isDenied;
  }

  /** Something of the answer was replaced. */
  get hasEdited(): boolean {
    return this.#gate.hasEdited;
  }

  /** The `sequence_number` of an event that is written behind this stage; 0 in dialects without. */
  get nextSequence(): number {
    return this.#deltas.nextSequence;
  }

  verdict(): Verdict {
    return this.options.check.verdict();
  }

  push(event: AnswerEvent, out: EventSink): void {
    if (this.#isStopped) return;
    const deltas = this.#deltas;
    if (this.#gate.isOver && deltas.mayRest && this.#gate.isQuiet) return out.write(event);
    let read: AnswerEvent | null;
    try {
      const { data } = event;
      if (typeof data !== 'string') {
        read = deltas.read(event, data);
      } else if (event instanceof ParsedEvent) {
        read = deltas.read(event, event.parsed);
      } else {
        const parsed = objectOf(data);
        if (parsed === null) {
          if (data.trim() === done) deltas.end();
          read = event;
        } else {
          // Of a name that is given twice the client may read the other value: what goes is what was judged.
          read = deltas.read(nameFault(data, true) === undefined ? new ParsedEvent(event.event, data, parsed) : { event: event.event, data: parsed }, parsed);
        }
      }
    } catch (thrown) {
      return this.#fail(thrown, out);
    }
    this.#write(read, out);
  }

  end(out: EventSink): void {
    if (this.#isStopped) return;
    try {
      this.#deltas.end();
    } catch (thrown) {
      return this.#fail(thrown, out);
    }
    this.#write(null, out);
    this.#isStopped = true;
  }

  #write(event: AnswerEvent | null, out: EventSink): void {
    if (this.#gate.isDenied) {
      this.#isStopped = true;
      return;
    }
    const { extra } = this.#deltas;
    if (extra.length > 0) {
      for (let index = 0; index < extra.length; index += 1) {
        const before = extra[index];
        if (before !== undefined) out.write(before);
      }
      extra.length = 0;
    }
    if (event !== null) out.write(event);
  }

  #fail(thrown: unknown, out: EventSink): void {
    this.#isStopped = true;
    out.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
}

/** Null: no JSON object, and so no event of a dialect. */
function objectOf(data: string): JsonObject | null {
  if (data === done) return null;
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
