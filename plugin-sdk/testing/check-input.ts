import { answerPieces, requestPieces } from '../src/content/pieces.js';
import type { Exchange } from '../src/exchange.js';
import type { CheckInput } from '../src/kinds/guardrail.js';
import type { Json } from '../src/shared.js';
import { fakeExchange, type FakeExchangeOptions } from './fake-exchange.js';

export interface FakeCheckInputOptions extends FakeExchangeOptions {
  readonly stage?: 'input' | 'output';
  /** Output stage: the plain answer, in the endpoint's dialect. */
  readonly answer?: Json;
  readonly exchange?: Exchange;
}

/** The input of a check for a request (`body`), or an answer to it (`answer`). */
export function fakeCheckInput(options: FakeCheckInputOptions = {}): CheckInput {
  const exchange = options.exchange ?? fakeExchange(options);
  const isOutput = options.stage === 'output' || (options.stage === undefined && options.answer !== undefined);
  const judged = isOutput ? options.answer ?? {} : options.body ?? {};
  const pieces = isOutput ? answerPieces(exchange.endpoint, judged) : requestPieces(exchange.endpoint, judged);
  return {
    stage: isOutput ? 'output' : 'input',
    exchange,
    pieces: () => pieces,
    text: () => pieces.map((piece) => piece.text),
    json: () => judged,
    status: isOutput ? 200 : 0,
    signal: exchange.signal,
  };
}

/** A body with one user text, or an answer with one assistant text, in any of the three dialects. */
export function bodyWithText(endpoint: 'chatCompletions' | 'messages' | 'responses', text: string, stage: 'input' | 'output' = 'input'): Json {
  if (stage === 'input') {
    if (endpoint === 'responses') return { model: 'mock-1', input: text };
    return { model: 'mock-1', max_tokens: 100, messages: [{ role: 'user', content: text }] };
  }
  switch (endpoint) {
    case 'chatCompletions':
      return { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'mock-1', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] };
    case 'messages':
      return { id: 'msg_1', type: 'message', role: 'assistant', model: 'mock-1', content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    case 'responses':
      return { id: 'resp_1', object: 'response', status: 'completed', model: 'mock-1', output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }] };
  }
}
