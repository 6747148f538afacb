// Text completions, and what they share with chat: the text itself, its pieces, its usage.

import { isObject } from '@gateway/plugin-sdk';
import { events, json, refusal, type Answer } from './answer.js';
import { countIn, idFor, nowSeconds, tokensOf, type Body } from './body.js';
import type { Knobs } from './knobs.js';

const filler = 'lorem ipsum ';
const choicesMax = 128;
/** Characters of all choices of one answer together. */
export const contentTotalMax = 10_000_000;

/** The echo, or as many characters as were asked for. */
export function contentFor(asked: string, knobs: Knobs): string {
  if (knobs.bytes > 0) return filler.repeat(Math.ceil(knobs.bytes / filler.length)).slice(0, knobs.bytes);
  return asked === '' ? 'Hello from the mock provider.' : asked;
}

export const usageOf = (inputTokens: number, outputTokens: number): Body => ({
  prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens,
});

/** The text in `count` pieces of about the same length, or a word each; cut as they are asked for, and never within a character. */
export function* piecesOf(text: string, count: number): Generator<string> {
  if (count === 0) {
    for (const word of text.matchAll(/\S+\s*|\s+/g)) yield word[0];
    return;
  }
  let from = 0;
  for (let index = 1; index <= count; index += 1) {
    let to = Math.max(from, Math.floor(index * text.length / count));
    if (isLowSurrogate(text.charCodeAt(to))) to += 1;
    yield text.slice(from, to);
    from = to;
  }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

export function completions(body: Body, knobs: Knobs): Answer {
  const prompts = promptsOf(body.prompt);
  if (prompts === undefined) return refusal('prompt', 'is missing; send a string or an array');
  const each = countIn(body.n, choicesMax);
  if (each === -1) return refusal('n', `must be a whole number from 1 to ${choicesMax}`);
  if (prompts.length * each > choicesMax) return refusal('prompt', `prompts times n must be at most ${choicesMax}`);
  const texts = prompts.flatMap((prompt) => Array.from({ length: each }, () => contentFor(prompt, knobs)));
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (texts.length > 1 && total > contentTotalMax) return refusal('n', `the choices together would have more than ${contentTotalMax} characters`);
  const usage = usageOf(prompts.reduce((sum, prompt) => sum + tokensOf(prompt), 0), texts.reduce((sum, text) => sum + tokensOf(text), 0));
  const head = { id: idFor('cmpl'), object: 'text_completion', created: nowSeconds(), model: body.model ?? 'mock', system_fingerprint: 'fp_mock' };
  if (body.stream === true) return events(completionEvents(head, texts, usage, body, knobs));
  return json(200, { ...head, choices: texts.map((text, index) => ({ index, text, logprobs: null, finish_reason: 'stop' })), usage });
}

/** Tokens stand for themselves, as their JSON text. */
function promptsOf(prompt: unknown): string[] | undefined {
  if (typeof prompt === 'string') return [prompt];
  if (!Array.isArray(prompt)) return undefined;
  if (typeof prompt[0] === 'number') return [JSON.stringify(prompt)];
  return prompt.map((item: unknown) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

function* completionEvents(head: Body, texts: readonly string[], usage: Body, body: Body, knobs: Knobs): Generator<string> {
  const includesUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const chunk = (index: number, text: string, finish: string | null): string =>
    JSON.stringify({ ...head, choices: [{ index, text, logprobs: null, finish_reason: finish }], ...(includesUsage ? { usage: null } : {}) });
  const isEndless = knobs.endless > 0 && texts.some((text) => text !== '');
  do {
    for (const [index, text] of texts.entries()) for (const piece of piecesOf(text, knobs.chunks)) yield chunk(index, piece, null);
  } while (isEndless);
  for (const index of texts.keys()) yield chunk(index, '', 'stop');
  if (includesUsage) yield JSON.stringify({ ...head, choices: [], usage });
  yield '[DONE]';
}
