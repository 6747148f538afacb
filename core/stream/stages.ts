// Hot: runs for each chunk of a stream that something on the route changes.
// Bytes -> events -> stages -> bytes. Parsed once, however many stages there are; each stage writes into the next one, the last into one
// buffer for each upstream chunk. The first error, thrown by a stage or told by it, ends the stream: what came out before it is written,
// `fail` is called once, and nothing happens after it.

import type { AnswerEvent, EventSink, EventStage, FrameDecoder, Maybe, SseEvent } from '@gateway/plugin-sdk';
import { atOnce } from '../errors/at-once.js';
import { SseParser } from './sse-parser.js';
import { writeEvent } from './sse-writer.js';

/** A stream ends before its time: a hook denies it, or another try has begun in its place. */
export type StreamCut = 'denied' | 'retried';
/** `whole`: its last byte was written. */
export type StreamEnd = 'whole' | StreamCut;

/** Behind the stages: may keep the last events until something else is known, and says what the stream ends with. */
export interface EventTail {
  /** True: the tail has the event now; `end` gives it back, or another in its place. */
  take(event: AnswerEvent): boolean;
  /** The stream has ended as it should. What it throws ends the stream in the place of its last events, and so does a cut. */
  end(): Maybe<readonly AnswerEvent[] | StreamCut>;
}

export class StageChain {
  readonly #parser: Decoder;
  readonly #first: EventSink;
  #text = '';
  #error: Error | null = null;
  #end: StreamEnd | null = null;
  /** Told once, when all that went before is written; not of a stream that fails. */
  onEnd: ((end: StreamEnd) => void) | null = null;
  #isPushing = false;
  #isOver = false;

  /** `write` gets the bytes, `fail` the error that ends the stream instead of the last of them. Without `decoder` the bytes are server-sent events. */
  constructor(
    stages: readonly EventStage<AnswerEvent>[],
    readonly write: (bytes: Uint8Array) => void,
    readonly fail: (error: Error) => void,
    decoder: FrameDecoder | null = null,
    /** Written when all went well. */
    readonly closing = '',
    readonly tail: EventTail | null = null,
  ) {
    const onError = (error: Error): void => this.#onError(error);
    let sink: EventSink = new Outlet((event) => this.#onEvent(event), onError);
    for (let index = stages.length - 1; index >= 0; index -= 1) {
      const stage = stages[index];
      if (stage !== undefined) sink = new StageInlet(stage, sink, onError);
    }
    const first = sink;
    this.#first = first;
    const emit = (event: SseEvent): void => { if (!this.#isOver) first.write(event); };
    this.#parser = decoder === null ? new SseParser(emit) : new Framed(decoder, emit);
  }

  push(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#isPushing = true;
    try {
      this.#parser.push(chunk);
    } catch (thrown) {
      this.#onError(asError(thrown));
    }
    this.#isPushing = false;
    this.#flush();
  }

  /** Nothing comes out any more but what has come out of the stages so far. */
  cut(reason: StreamCut): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end = reason;
    if (!this.#isPushing) this.#flush();
  }

  /** The upstream's last byte was pushed: what the parser and the stages still hold comes out. */
  end(): void {
    if (!this.#isOver) {
      this.#isPushing = true;
      try {
        this.#parser.end();
        if (!this.#isOver) this.#first.end();
      } catch (thrown) {
        this.#onError(asError(thrown));
      }
      this.#isPushing = false;
    }
    if (this.#isOver) {
      this.#flush();
      return;
    }
    if (this.tail === null) {
      this.#close(this.closing, 'whole');
      return;
    }
    // Whatever a stage writes from here on comes too late.
    this.#isOver = true;
    this.#flush();
    this.#endTail(this.tail);
  }

  #endTail(tail: EventTail): void {
    const failed = (thrown: unknown): void => {
      this.#error = asError(thrown);
      this.#flush();
    };
    const write = (ending: readonly AnswerEvent[] | StreamCut): void => {
      if (typeof ending === 'string') {
        this.#close('', ending);
        return;
      }
      let text = '';
      try {
        for (const event of ending) text += writeEvent(event);
      } catch (thrown) {
        failed(thrown);
        return;
      }
      this.#close(text + this.closing, 'whole');
    };
    let ending: Maybe<readonly AnswerEvent[] | StreamCut>;
    try {
      ending = tail.end();
    } catch (thrown) {
      failed(thrown);
      return;
    }
    if (ending instanceof Promise) ending.then(write, failed).catch(failed);
    else write(ending);
  }

  #close(text: string, end: StreamEnd): void {
    this.#text += text;
    this.#isOver = true;
    this.#end = end;
    this.#flush();
  }

  #onEvent(event: AnswerEvent): void {
    if (this.#isOver) return;
    try {
      if (this.tail !== null && this.tail.take(event)) return;
      this.#text += writeEvent(event);
    } catch (thrown) {
      // Not the business of a stage that writes on its own time: nobody would catch it there.
      this.#onError(asError(thrown));
      return;
    }
    // Written by a stage on its own time.
    if (!this.#isPushing) this.#flush();
  }

  #onError(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    if (!this.#isPushing) this.#flush();
  }

  /** Outside of the stages' calls, so that nothing that `write` or `fail` do can be taken for a stage's fault. */
  #flush(): void {
    if (this.#text !== '') {
      const bytes = Buffer.from(this.#text);
      this.#text = '';
      this.write(bytes);
    }
    const error = this.#error;
    const end = this.#end;
    this.#error = null;
    this.#end = null;
    if (error !== null) this.fail(error);
    else if (end !== null && this.onEnd !== null) this.onEnd(end);
  }
}

/** The provider's own framing in the place of the parser. */
class Framed implements Decoder {
  constructor(readonly decoder: FrameDecoder, readonly emit: (event: SseEvent) => void) {}
  // A copy: the chunk is only lent, and a plugin may keep it.
  push(chunk: Uint8Array): void { atOnce(this.decoder.push(Buffer.from(chunk), this.emit)); }
  end(): void { atOnce(this.decoder.end(this.emit)); }
}

interface Decoder {
  push(chunk: Uint8Array): void;
  end(): void;
}

/** What the stage before writes into, or the parser: hands events to `stage` until one of them ends. */
class StageInlet implements EventSink {
  #isEnded = false;

  constructor(readonly stage: EventStage<AnswerEvent>, readonly out: EventSink, readonly onError: (error: Error) => void) {}

  write(event: AnswerEvent): void {
    if (this.#isEnded) return;
    try {
      atOnce(this.stage.push(event, this.out));
    } catch (thrown) {
      this.onError(asError(thrown));
    }
  }

  /** Also ends what follows, whether or not the stage did. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    try {
      atOnce(this.stage.end(this.out));
    } catch (thrown) {
      this.onError(asError(thrown));
      return;
    }
    this.out.end();
  }

  fail(error: Error): void {
    this.onError(error);
  }
}

/** Behind the last stage. */
class Outlet implements EventSink {
  #isEnded = false;

  constructor(readonly onEvent: (event: AnswerEvent) => void, readonly onError: (error: Error) => void) {}

  write(event: AnswerEvent): void {
    if (!this.#isEnded) this.onEvent(event);
  }

  end(): void {
    this.#isEnded = true;
  }

  fail(error: Error): void {
    this.onError(error);
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
