// Streamed answers in each dialect, checks that read them, and what a client gets of them.

import type { AnswerEvent, EventStage, JsonObject, SpanEdit, StreamCheck, TextWindow } from '@gateway/plugin-sdk';
import { SseReader } from '@gateway/plugin-sdk/testing';
import { MessagesStage } from '../../../../core/dialect/messages/stream.js';
import { ResponsesStage } from '../../../../core/dialect/responses/stream.js';
import { dialects, type DialectName } from '../../../../core/dialect/dialects.js';
import { CheckStage } from '../../../../core/stream/check-stage.js';
import { StageChain } from '../../../../core/stream/stages.js';
import { writeEvent } from '../../../../core/stream/sse-writer.js';
import { context as responseContext } from '../responses/recorder.js';

export const dialectNames = Object.keys(dialects) as DialectName[];
export const secret = '123-45-6789';

export interface TestCheckOptions {
  /** Finds what is replaced; global. */
  readonly pattern?: RegExp;
  /** Finds the beginning of a match at the end of a text. */
  readonly beginning?: RegExp;
  readonly replacement?: string;
  /** Keeps that much of every text, whatever it is. */
  readonly keeps?: number;
}

/** Replaces `\d{3}-\d{2}-\d{4}`, and keeps no more than what may become that. */
export function redactor(options: TestCheckOptions = {}): StreamCheck & { readonly windows: TextWindow[] } {
  const { pattern = /\d{3}-\d{2}-\d{4}/g, beginning = /(?:\d{1,3}|\d{3}-\d{0,2}|\d{3}-\d{2}-\d{0,3})$/, replacement = '[SSN]', keeps = 0 } = options;
  const windows: TextWindow[] = [];
  return {
    windows,
    push(window) {
      windows.push(window);
      const edits: SpanEdit[] = [...window.text.matchAll(pattern)].map((match) => ({ from: match.index, to: match.index + match[0].length, text: replacement }));
      const end = edits.at(-1)?.to ?? 0;
      const open = window.text.slice(end).search(beginning);
      const release = window.isLast ? window.text.length : Math.max(end, Math.min(window.text.length - keeps, open === -1 ? window.text.length : end + open));
      return { release, edits };
    },
    verdict: () => ({ pass: true }),
  };
}

export interface Run {
  /** Every byte the client gets. */
  readonly text: string;
  readonly events: readonly { readonly event?: string; readonly data: any }[];
  readonly errors: readonly Error[];
  readonly stage: CheckStage;
  readonly failed: number;
}

export interface RunOptions {
  readonly lookBackMax?: number;
  readonly changes?: boolean;
  readonly denies?: boolean;
  /** Events go in as objects, as from a stage before. */
  readonly asObjects?: boolean;
  /** The stage before, in place of one that passes `events` on. */
  readonly first?: EventStage<AnswerEvent>;
  /** Stages behind the one that is tested. */
  readonly then?: readonly EventStage<AnswerEvent>[];
}

/** The stream as the check lets it go. */
export function run(dialect: DialectName, events: readonly AnswerEvent[], check: StreamCheck, options: RunOptions = {}): Run {
  let failed = 0;
  const { lookBackMax = 11, changes = true, denies = false } = options;
  const stage = new CheckStage({ dialect: dialects[dialect], check, lookBackMax, changes, onFail: () => { failed += 1; return denies; } });
  let text = '';
  const errors: Error[] = [];
  const feed: EventStage<AnswerEvent> = { push: (event, out) => out.write(options.asObjects === true ? { event: event.event, data: objectOf(event.data) } : event), end: () => {} };
  const chain = new StageChain([options.first ?? feed, stage, ...options.then ?? []], (bytes) => { text += Buffer.from(bytes).toString(); }, (error) => errors.push(error));
  for (const event of events) chain.push(Buffer.from(writeEvent(event)));
  chain.end();
  let read: Run['events'] | undefined;
  return { text, get events() { return read ??= readEvents(text); }, errors, stage, failed };
}

const objectOf = (data: string | JsonObject): string | JsonObject => (typeof data === 'string' && data.startsWith('{') ? JSON.parse(data) as JsonObject : data);

/** `[DONE]` is left out. */
function readEvents(text: string): { readonly event?: string; readonly data: any }[] {
  const events: { event?: string; data: any }[] = [];
  const take = ({ event, data }: { event: string | undefined; data: string }): void => {
    if (data !== '[DONE]') events.push(event === undefined ? { data: JSON.parse(data) } : { event, data: JSON.parse(data) });
  };
  const reader = new SseReader();
  reader.push(Buffer.from(text), take);
  reader.end(take);
  return events;
}

export const bytesOf = (events: readonly AnswerEvent[]): string => events.map(writeEvent).join('');

/** One step of a streamed chat completion. */
export type Step =
  | { readonly text: string; readonly choice?: number; readonly logprobs?: boolean }
  | { readonly refusal: string; readonly choice?: number }
  | { readonly thinking: string }
  | { readonly signature: string }
  | { readonly tool: number; readonly args: string; readonly choice?: number };

const top = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const chunkOf = (index: number, delta: JsonObject, finish: string | null = null, logprobs: JsonObject | null = null): JsonObject => ({ ...top, choices: [{ index, delta, logprobs, finish_reason: finish }] });
export const logprobsOf = (text: string): JsonObject => ({ content: [{ token: text, logprob: -1, bytes: null, top_logprobs: [] }], refusal: null });

/** Chunks of a chat completion. */
export function chatEvents(steps: readonly Step[]): AnswerEvent[] {
  const chunks: JsonObject[] = [];
  const begun = new Set<number>();
  const tools = new Set<string>();
  const hasTools = steps.some((step) => 'tool' in step);
  for (const step of steps) {
    const choice = 'choice' in step ? step.choice ?? 0 : 0;
    if (!begun.has(choice)) chunks.push(chunkOf(choice, { role: 'assistant', content: '', refusal: null }));
    begun.add(choice);
    if ('text' in step) chunks.push(chunkOf(choice, { content: step.text }, null, step.logprobs === true ? logprobsOf(step.text) : null));
    else if ('refusal' in step) chunks.push(chunkOf(choice, { refusal: step.refusal }));
    else if ('thinking' in step) chunks.push(chunkOf(choice, { content_blocks: [{ index: 0, delta: { thinking: step.thinking } }] }));
    else if ('signature' in step) chunks.push(chunkOf(choice, { content_blocks: [{ index: 0, delta: { signature: step.signature } }] }));
    else {
      const key = `${choice}.${step.tool}`;
      if (!tools.has(key)) chunks.push(chunkOf(choice, { tool_calls: [{ index: step.tool, id: `call_${key}`, type: 'function', function: { name: `f${step.tool}`, arguments: '' } }] }));
      tools.add(key);
      chunks.push(chunkOf(choice, { tool_calls: [{ index: step.tool, function: { arguments: step.args } }] }));
    }
  }
  for (const choice of begun) chunks.push(chunkOf(choice, {}, hasTools ? 'tool_calls' : 'stop'));
  chunks.push({ ...top, choices: [], usage });
  return [...chunks.map((data) => ({ event: undefined, data: JSON.stringify(data) })), { event: undefined, data: '[DONE]' }];
}

export function completionEvents(steps: readonly Step[]): AnswerEvent[] {
  const chunk = (index: number, text: string, finish: string | null, logprobs: JsonObject | null = null): JsonObject => ({ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', choices: [{ text, index, logprobs, finish_reason: finish }] });
  const begun = new Set<number>();
  const chunks = steps.flatMap((step) => {
    if (!('text' in step)) return [];
    begun.add(step.choice ?? 0);
    return [chunk(step.choice ?? 0, step.text, null, step.logprobs === true ? { tokens: [step.text] } : null)];
  });
  for (const choice of begun) chunks.push(chunk(choice, '', 'stop'));
  return [...chunks.map((data) => ({ event: undefined, data: JSON.stringify(data) })), { event: undefined, data: '[DONE]' }];
}

/** The same answer in any dialect. Messages and responses have one choice. */
export function eventsOf(dialect: DialectName, steps: readonly Step[]): AnswerEvent[] {
  if (dialect === 'chat') return chatEvents(steps);
  if (dialect === 'completions') return completionEvents(steps);
  const stage = dialect === 'messages' ? new MessagesStage({ id: '0a-1b', model: 'm' }) : new ResponsesStage(responseContext);
  const events: AnswerEvent[] = [];
  const out = { write: ({ event, data }: AnswerEvent) => { events.push({ event, data: typeof data === 'string' ? data : JSON.stringify(data) }); }, end: () => {}, fail: (error: Error) => { throw error; } };
  for (const event of chatEvents(steps)) stage.push(event, out);
  stage.end(out);
  return events;
}

/** The texts a client puts together from the deltas, by channel. */
export function textsOf(dialect: DialectName, events: readonly { readonly data: any }[]): Record<string, string> {
  const texts: Record<string, string> = {};
  const add = (key: string, text: unknown): void => { if (typeof text === 'string' && text !== '') texts[key] = (texts[key] ?? '') + text; };
  for (const { data } of events) {
    if (dialect === 'messages') {
      if (data.type !== 'content_block_delta') continue;
      add(`${data.index}`, data.delta.text ?? data.delta.thinking ?? data.delta.partial_json);
      add(`${data.index} signature`, data.delta.signature);
    } else if (dialect === 'responses') {
      if (/\.delta$/.test(data.type)) add(`${data.output_index}`, data.delta);
    } else {
      for (const choice of data.choices ?? []) {
        const at = choice.index === 0 ? '' : `${choice.index} `;
        add(`${at}text`, choice.text ?? choice.delta?.content);
        add(`${at}refusal`, choice.delta?.refusal);
        add(`${at}reasoning`, choice.delta?.reasoning_content);
        for (const block of choice.delta?.content_blocks ?? []) {
          add(`${at}block ${block.index}`, block.delta?.thinking ?? block.delta?.text);
          add(`${at}block ${block.index} signature`, block.delta?.signature);
        }
        for (const call of choice.delta?.tool_calls ?? []) add(`${at}tool ${call.index}`, call.function?.arguments ?? call.custom?.input);
        add(`${at}function_call`, choice.delta?.function_call?.arguments);
      }
    }
  }
  return texts;
}
