import type { SpanEdit, TextEdit, TextPiece } from '../content/text-piece.js';
import type { Exchange } from '../exchange.js';
import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Json, Maybe, Needs, Weighed } from '../shared.js';

/** Looks and answers; whether a failed verdict denies the call is the hook's business. */
export interface Check extends Closable, Weighed {
  /**
   * Judges a body. Whatever it throws is an errored check, which passes unless the config's `failOnError` says otherwise. A check that is
   * aborted (deadline, client gone) is not heard any more.
   */
  evaluate(input: CheckInput): Maybe<Verdict>;
  /** Judges a streamed answer as it passes. Without it the host holds the stream, and gives `evaluate` the assembled answer. */
  stream?(exchange: Exchange): StreamCheck;
}

export interface CheckInput {
  readonly stage: 'input' | 'output';
  readonly exchange: Exchange;
  /** All text of the body in order: every message, part, tool argument, choice, list item. Read once and shared by all checks. */
  readonly pieces: () => readonly TextPiece[];
  /** The texts of `pieces()`. */
  readonly text: () => readonly string[];
  /** The body that is judged, in the client's dialect: the request, or the answer. */
  readonly json: () => Json;
  /** Of the answer; 0 at the input stage. */
  readonly status: number;
  /** Aborted at the check's deadline, or when the client leaves. */
  readonly signal: AbortSignal;
}

export interface Verdict {
  readonly pass: boolean;
  /** One sentence for the client. Never the text that was judged, nor a part of it. */
  readonly why?: string;
  /**
   * For the client, under `checks[].data` of the hook's result, and for the log. They get it with an answer that is withheld too, by this check or
   * another: places, counts, names and rules of the config, but no part of what was judged, and no name that its writer chose. Of a verdict that
   * is frozen the JSON is made once: it may be given again and again, and nothing in it may change.
   */
  readonly data?: Json;
  /** Changes to `pieces()`, as they were given; needs `changes`. In one piece they must not overlap. The host keeps JSON in tool arguments whole. */
  readonly edits?: readonly TextEdit[];
  /** The new body in whole, in place of `edits`; needs `changes`. */
  readonly body?: Json;
}

/**
 * One for each streamed answer. The host gives it windows: of one channel, what has not gone to the client yet, longer each time. It says how
 * much of it may go, so that nothing is held longer than this check needs. The result must not depend on how the text was cut.
 */
export interface StreamCheck {
  push(window: TextWindow): WindowResult;
  /** When the stream has ended, or right after a result with `fails`. */
  verdict(): Verdict;
}

export interface TextWindow {
  /** One for each text of the answer: a choice's content, a block, each value in the arguments of a tool call. */
  readonly channel: string;
  /**
   * `arguments`: one string or number of a tool call's arguments, without its escapes, as in `pieces()`; the host writes edits back as JSON.
   * Arguments that are not JSON, or from some place on none, are one text from there.
   */
  readonly kind: TextPiece['kind'];
  /** Choice, or 0. */
  readonly group: number;
  /** The text before this window, as the model wrote it; at most `lookBackMax` characters. */
  readonly before: string;
  readonly text: string;
  /** The channel ends with this window: everything has to be released. */
  readonly isLast: boolean;
}

export interface WindowResult {
  /** So many characters of `text` may go. What is kept comes again, at the head of the next window; the host keeps no more than `lookBackMax`. */
  readonly release: number;
  /** Within what is released, in order, not overlapping; needs `changes`. */
  readonly edits?: readonly SpanEdit[];
  /** The verdict is settled: failed. Nothing of this window goes when the hook denies. */
  readonly fails?: boolean;
}

export interface GuardrailPlugin<S extends ObjectSchema = any> extends Common<'guardrail', S> {
  readonly stages: readonly ('input' | 'output')[];
  /**
   * The most it ever needs; what the catalogue shows. Of the request `head` (headers, metadata, endpoint) or `json`. Of the answer `events`
   * (it has `stream`) or `json` (a streamed answer is held until its end, if the check may deny or change it).
   */
  readonly needs: Needs;
  /** Needs with these parameters; at most `needs`. */
  needsFor?(params: FromSchema<S>): Needs;
  /** Characters that `stream` may hold back, at most. */
  readonly lookBackMax?: number;
  /** Deadline of a verdict in milliseconds unless the config gives `timeout`; default 5000. */
  readonly timeoutMs?: number;
  /**
   * Where it runs. `loop` (default): on the thread of the calls. `either`: there, and in the worker pool when its texts take too long; `pool`:
   * always there. In the pool the plugin's module is loaded by the worker, its host has no fetch, store, worker or secret, its lines for the log go nowhere, and its exchange is
   * a copy: `notes` are not kept and `request` has the endpoint's body only.
   */
  readonly runs?: 'loop' | 'either' | 'pool';
  /** Where it runs with these parameters, in place of `runs`. */
  runsFor?(params: FromSchema<S>): 'loop' | 'either' | 'pool';
  create(params: FromSchema<S>, host: Host): Maybe<Check>;
}
