// Hot: runs for each text of a stream that a check reads.
// Between the texts of a streamed answer and the check: makes its windows, keeps what it does not release, makes its edits, and holds it to
// its contract. A check that breaks it counts as one that threw: the rest passes unchanged, and the error is kept for its verdict. Only edits that
// cannot be made end the stream: what they were to take out is still there.

import type { SpanEdit, StreamCheck, TextWindow, WindowResult } from '@gateway/plugin-sdk';
import { UnmadeChange } from '../../errors/unmade-change.js';
import { edited, isHighSurrogate } from './json-escapes.js';
import { JsonValues, type ValueJudge, type ValueSource } from './json-values.js';

/** A stream with more texts is no answer of a model. */
export const channelsMax = 4096;

export interface GateOptions {
  readonly check: StreamCheck;
  readonly lookBackMax: number;
  /** The check may edit. */
  readonly changes: boolean;
  /** True: the call is denied, and nothing more may be written. `unmade`: why, when edits could not be made. */
  readonly onFail: (unmade?: Error) => boolean;
}

/** One text of the answer. */
export class Channel {
  /** As the model wrote it, at most `lookBackMax` characters before `held`. */
  before = '';
  held = '';
  /** Characters that came in, in all. */
  seen = 0;
  isEnded = false;
  isEdited = false;
  /** All that went, when it is kept. */
  written = '';
  /** Reads the values of a text that is JSON; null for a plain text, and from where on it turned out to be no JSON. */
  json: JsonValues | null = null;
  /** To the check. */
  name: string;
  #ends = 0;

  constructor(readonly key: string, readonly kind: TextWindow['kind'], readonly group: number, readonly isJson: boolean) {
    this.name = key;
  }

  /** A text that goes on behind its end is another channel to the check. */
  reopen(): void {
    this.isEnded = false;
    this.#ends += 1;
    this.name = `${this.key}+${this.#ends}`;
  }
}

const noEdits: readonly SpanEdit[] = [];

export class TextGate implements ValueJudge {
  readonly #check: StreamCheck;
  readonly lookBackMax: number;
  readonly #onFail: GateOptions['onFail'];
  readonly changes: boolean;
  readonly #channels: Channel[] = [];
  #isSettled = false;
  #isQuiet = false;
  /** The check is not asked any more. */
  isOver = false;
  isDenied = false;
  hasEdited = false;
  error: Error | null = null;
  /** Of the window that was asked for last. */
  edits: readonly SpanEdit[] = noEdits;

  /** `keepsWritten`: the dialect tells each text again, whole. */
  constructor(options: GateOptions, readonly keepsWritten: boolean) {
    this.#check = options.check;
    this.lookBackMax = options.lookBackMax;
    this.#onFail = options.onFail;
    this.changes = options.changes;
  }

  /** The check is not asked any more, nothing is held, and nothing was edited: later events stay as they are. */
  get isQuiet(): boolean {
    if (!this.isOver || this.hasEdited) return false;
    if (!this.#isQuiet) this.#isQuiet = !this.#channels.some((channel) => channel.held !== '' || channel.json?.isWaiting === true);
    return this.#isQuiet;
  }

  /** `isJson`: the text is JSON. Its values are judged each by itself, and it stays JSON. */
  open(key: string, kind: TextWindow['kind'], group: number, isJson = false): Channel {
    if (this.#channels.length === channelsMax) throw new Error(`the stream has more than ${channelsMax} texts; a check cannot follow it`);
    const channel = this.passing(key, kind, group, isJson);
    this.#channels.push(channel);
    return channel;
  }

  /** A channel for one whole text, of which nothing stays behind. */
  passing(key: string, kind: TextWindow['kind'], group: number, isJson = false): Channel {
    const channel = new Channel(key, kind, group, isJson);
    if (isJson) channel.json = new JsonValues(this, channel.name, kind, group);
    return channel;
  }

  /** More of a text; gives what may go now, in the place of `text`. */
  pass(channel: Channel, text: string): string {
    if (text === '') return '';
    if (channel.isEnded) {
      channel.reopen();
      if (channel.isJson) channel.json = new JsonValues(this, channel.name, channel.kind, channel.group);
    }
    channel.seen += text.length;
    if (channel.json !== null) return this.#values(channel, channel.json, text, false);
    return this.#window(channel, channel.held === '' ? text : channel.held + text, false);
  }

  /** The text ends; gives what was still held of it. */
  flush(channel: Channel): string {
    if (channel.isEnded) return '';
    channel.isEnded = true;
    if (channel.json !== null) return this.#values(channel, channel.json, '', true);
    return this.#window(channel, channel.held, true);
  }

  /** A text that comes as a whole. */
  whole(channel: Channel, text: string): string {
    const first = this.pass(channel, text);
    return first + this.flush(channel);
  }

  /** More of a text that is JSON so far, or its end. */
  #values(channel: Channel, json: JsonValues, text: string, isLast: boolean): string {
    const out = isLast ? json.end() : json.push(text);
    if (this.isDenied) return '';
    if (json.isEdited) {
      channel.isEdited = true;
      this.hasEdited = true;
    }
    if (this.keepsWritten && this.changes) channel.written += out;
    if (json.rest === null) return out;
    channel.json = null;
    channel.before = json.restBefore;
    return out + this.#window(channel, json.rest, isLast);
  }

  #window(channel: Channel, window: string, isLast: boolean): string {
    let end = window.length;
    if (!isLast && isHighSurrogate(window.charCodeAt(end - 1))) end -= 1;
    if (end === 0 && !isLast) {
      channel.held = window;
      return '';
    }
    let release = end;
    if (this.isOver) {
      this.edits = noEdits;
    } else {
      release = this.ask(channel, end === window.length ? window : window.slice(0, end), isLast);
      if (this.isDenied) return '';
    }
    const { edits, lookBackMax } = this;
    if (release > 0 && release < window.length && isHighSurrogate(window.charCodeAt(release - 1)) && (edits[edits.length - 1]?.to ?? 0) < release) release -= 1;
    const released = release === window.length ? window : window.slice(0, release);
    channel.held = release === window.length ? '' : window.slice(release);
    if (!this.isOver && lookBackMax > 0) {
      channel.before = released.length >= lookBackMax ? released.slice(-lookBackMax)
        : channel.before.length + released.length <= lookBackMax ? channel.before + released : (channel.before + released).slice(-lookBackMax);
    }
    if (edits.length > 0) {
      channel.isEdited = true;
      this.hasEdited = true;
    }
    const out = edits.length === 0 ? released : edited(released, edits);
    if (this.keepsWritten && this.changes) channel.written += out;
    return out;
  }

  /** How much of the window goes; its edits are in `edits`. */
  ask(source: ValueSource, text: string, isLast: boolean): number {
    const { length } = text;
    this.edits = noEdits;
    let result: WindowResult;
    let release: number;
    try {
      result = this.#check.push({ channel: source.name, kind: source.kind, group: source.group, before: source.before, text, isLast });
      release = isLast ? length : result.release;
      if (!(Number.isInteger(release) && release >= 0 && release <= length)) throw new RangeError(`the check released ${String(release)} of ${length} characters`);
      if (result.edits !== undefined && result.edits.length > 0) {
        const fault = this.changes ? faultOf(result.edits, release) : 'its plugin does not declare that it changes answers';
        if (fault !== undefined) throw new UnmadeChange(fault);
        this.edits = result.edits;
      }
    } catch (thrown) {
      this.error = thrown instanceof Error ? thrown : new Error(String(thrown));
      this.isOver = true;
      this.edits = noEdits;
      if (!(thrown instanceof UnmadeChange) || !this.#onFail(thrown)) return length;
      this.isDenied = true;
      return 0;
    }
    if (result.fails === true && !this.#isSettled) {
      this.#isSettled = true;
      if (this.#onFail()) {
        this.isDenied = true;
        this.isOver = true;
        return 0;
      }
      if (!this.changes) {
        this.isOver = true;
        return length;
      }
    }
    return Math.max(release, length - this.lookBackMax);
  }
}

function faultOf(edits: readonly SpanEdit[], release: number): string | undefined {
  let at = 0;
  for (let index = 0; index < edits.length; index += 1) {
    const edit = edits[index];
    const isInside = edit !== undefined && Number.isInteger(edit.from) && Number.isInteger(edit.to) && edit.from >= at && edit.to >= edit.from && edit.to <= release;
    if (!isInside || typeof edit.text !== 'string') return 'the edits overlap, or lie outside of what was released';
    at = edit.to;
  }
  return undefined;
}
