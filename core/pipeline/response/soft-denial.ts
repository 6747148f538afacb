// The answer to a call that a guardrail with `soft_deny_200` denies: status 200 and a text that says so, plain or as a stream, in the dialect of the
// client. Meant for clients that treat every other status as a failure.

import type { JsonObject } from '@gateway/plugin-sdk';
import { replay } from '../../dialect/common/replay.js';
import type { Dialect } from '../../dialect/dialect.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import { writeEvent } from '../../stream/sse-writer.js';
import { includesUsage } from '../cache/cache-key.js';
import { sendEvents, sendResponse } from './client-response.js';
import { withResults } from './stream-tail.js';

const denialText = 'The request was blocked by the guardrails of this gateway.';
const noTokens = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Translates a completion into the answer of another dialect; null: it has none. */
export type AnswerOf = (completion: JsonObject, dialect: Dialect) => JsonObject | null;

/** True: the client has been answered. False: answers of this endpoint are not texts, or the denial is not a soft one. */
export function sendSoftDenial(exchange: Exchange, retryCount: number, answerOf: AnswerOf): boolean {
  const dialect = exchange.hooks?.isDeniedSoftly === true ? answerDialect(exchange.route) : null;
  if (dialect === null) return false;
  const { model, stream } = exchange.json();
  const common = { created: Math.floor(exchange.startedAtMs / 1000), model: typeof model === 'string' ? model : '', usage: noTokens };
  const answer = dialect.endpoint === 'completions'
    ? { id: `cmpl-${exchange.id}`, object: 'text_completion', ...common, choices: [{ index: 0, text: denialText, logprobs: null, finish_reason: 'content_filter' }] }
    : answerOf({ id: `chatcmpl-${exchange.id}`, object: 'chat.completion', ...common, choices: [{ index: 0, message: { role: 'assistant', content: denialText }, logprobs: null, finish_reason: 'content_filter' }] }, dialect);
  if (answer === null) return false;
  if (stream !== true) {
    sendResponse(exchange, 200, retryCount, null, 'application/json', JSON.stringify(answer));
    return true;
  }
  let text = '';
  for (const event of withResults([...replay(dialect, answer, { includesUsage: includesUsage(exchange) })], exchange, dialect)) text += writeEvent(event);
  sendEvents(exchange, 200, text);
  return true;
}
