// The ways a call takes: the client's dialect, and a provider that speaks it or another one. How each is asked, answered and read.

import { answerPieces, requestPieces, type TextPiece } from '@gateway/plugin-sdk';
import { answerChat } from '../chat-wire.js';
import { json, sse, type Answered, type Reply, type Seen } from '../family.js';
import { messageBody, messageEvents } from '../messages-wire.js';
import { answerResponses } from '../responses-wire.js';
import type { DialectName } from './check-case.js';

export const model = 'check-model-1';

const endpoints = { chat: 'chatCompletions', messages: 'messages', responses: 'responses' } as const;

export interface Route {
  readonly name: string;
  readonly dialect: DialectName;
  readonly path: string;
  readonly provider: string;
  /** Behind the address of the provider. */
  readonly base: string;
  readonly providerDialect: DialectName;
}

export const routes: readonly Route[] = [
  { name: 'chat', dialect: 'chat', path: '/v1/chat/completions', provider: 'openai', base: '/v1', providerDialect: 'chat' },
  { name: 'messages', dialect: 'messages', path: '/v1/messages', provider: 'anthropic', base: '/v1', providerDialect: 'messages' },
  { name: 'responses', dialect: 'responses', path: '/v1/responses', provider: 'openai', base: '/v1', providerDialect: 'responses' },
  { name: 'messages, translated', dialect: 'messages', path: '/v1/messages', provider: 'groq', base: '/openai/v1', providerDialect: 'chat' },
  { name: 'responses, translated', dialect: 'responses', path: '/v1/responses', provider: 'anthropic', base: '/v1', providerDialect: 'messages' },
];

export function requestOf({ dialect }: Route, text: string, isStream: boolean, members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const said = dialect === 'responses' ? { input: text, store: false } : { messages: [{ role: 'user', content: text }], ...(dialect === 'messages' ? { max_tokens: 1000 } : {}) };
  return { model, ...said, ...(isStream ? { stream: true } : {}), ...members };
}

/** What the provider answers, on whatever path it is asked. */
export function answerOf(path: string, reply: Reply, isStream: boolean): Answered {
  const seen: Seen = { isStream, system: '', turns: [], tools: [] };
  if (path.endsWith('/messages')) return isStream ? sse(messageEvents(reply)) : json(200, messageBody(reply));
  return path.endsWith('/responses') ? answerResponses(reply, seen) : answerChat(reply, seen, 'reasoning_content');
}

const written = (pieces: readonly TextPiece[], role: TextPiece['role']): string => pieces.filter((piece) => piece.kind === 'text' && piece.role === role).map(({ text }) => text).join('\n');

/** What the provider got from the user. */
export const textGiven = ({ providerDialect }: Route, body: any): string => written(requestPieces(endpoints[providerDialect], body), 'user');
/** What the client got from the model. */
export const textGot = ({ dialect }: Route, body: any): string => written(answerPieces(endpoints[dialect], body), 'assistant');

/** The arguments of the tools that the client has to call. */
export function callsGot({ dialect }: Route, body: any): unknown[] {
  if (dialect === 'chat') return (body.choices[0].message.tool_calls ?? []).map((call: any) => JSON.parse(call.function.arguments));
  if (dialect === 'messages') return body.content.filter(({ type }: any) => type === 'tool_use').map(({ input }: any) => input);
  return body.output.filter(({ type }: any) => type === 'function_call').map((call: any) => JSON.parse(call.arguments));
}

/** By the pieces that came: the place of the call, and some of its arguments. */
function joined(parts: readonly (readonly [place: number, text: string])[]): unknown[] {
  const texts = new Map<number, string>();
  for (const [place, text] of parts) texts.set(place, (texts.get(place) ?? '') + text);
  return [...texts].sort(([left], [right]) => left - right).map(([, text]) => JSON.parse(text));
}

export interface StreamRead {
  readonly text: string;
  /** Arguments of tool calls; empty when the stream did not come to its end. */
  readonly calls: readonly unknown[];
  /** It came to the end that its dialect has. */
  readonly isWhole: boolean;
  readonly hasError: boolean;
  readonly hookResults: any;
}

export function readStream(route: Route, streamed: string): StreamRead {
  const { dialect } = route;
  const data = streamed.split('\n\n').flatMap((block) => block.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)));
  const events: any[] = data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line));
  const results = events.map((event) => event.hook_results ?? event.response?.hook_results).filter((found) => found !== undefined);
  if (results.length > 1) throw new Error('the stream has the results of its hooks more than once');
  const read = { hookResults: results[0], hasError: events.some((event) => event.error !== undefined && event.error !== null) };
  const types: unknown[] = events.map(({ type }) => type);
  if (dialect === 'chat') {
    const isWhole = data.at(-1) === '[DONE]';
    const deltas = events.flatMap((event) => event.choices?.[0]?.delta?.tool_calls ?? []).map((call: any) => [call.index, call.function?.arguments ?? ''] as const);
    return { ...read, text: events.map((event) => event.choices?.[0]?.delta?.content ?? '').join(''), calls: isWhole ? joined(deltas) : [], isWhole };
  }
  if (dialect === 'messages') {
    const isWhole = types.includes('message_stop');
    const deltas = events.filter(({ delta }) => delta?.type === 'input_json_delta').map(({ index, delta }) => [index, delta.partial_json] as const);
    return { ...read, text: events.map((event) => (event.delta?.type === 'text_delta' ? event.delta.text : '')).join(''), calls: isWhole ? joined(deltas) : [], isWhole };
  }
  const end = events.find(({ type }) => type === 'response.completed');
  const text = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
  const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta').map((event) => [event.output_index, event.delta] as const);
  const calls = end === undefined ? [] : joined(deltas);
  if (end !== undefined && (textGot(route, end.response) !== text || JSON.stringify(callsGot(route, end.response)) !== JSON.stringify(calls))) {
    throw new Error('the deltas and the end of the response differ');
  }
  return { ...read, hasError: read.hasError || types.includes('error') || types.includes('response.failed'), text, calls, isWhole: end !== undefined };
}
