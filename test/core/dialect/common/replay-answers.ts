// Random plain answers of the four dialects, as their APIs give them.

import type { Json, JsonObject } from '@gateway/plugin-sdk';
import fc, { type Arbitrary } from '../../../support/fast-check.js';

/** Texts short and long, with characters of one, two, three and four bytes; never half a surrogate pair. */
export const someText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 700 })).map(([text, times]) => text.repeat(times)) },
);
export const filledText = someText.filter((text) => text !== '');
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);
const extraName = fc.constantFrom('hook_results', 'provider', 'x_more', 'trace', 'citations_of_all');
const plainJson: Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const someObject: Arbitrary<JsonObject> = fc.dictionary(fc.string({ maxLength: 6 }), plainJson, { maxKeys: 4 }).map((value) => JSON.parse(JSON.stringify(value)));
export const extras: Arbitrary<JsonObject> = fc.dictionary(extraName, plainJson, { maxKeys: 3 }).map((value) => ({ ...value }));
const count = fc.nat(100_000);

/** `object`, now and then. */
const maybe = (object: Arbitrary<JsonObject>): Arbitrary<JsonObject> => fc.oneof(fc.constant({}), object);
const withName = (member: string, value: Arbitrary<Json>): Arbitrary<JsonObject> => maybe(value.map((given) => ({ [member]: given })));
const merged = (...parts: readonly Arbitrary<JsonObject>[]): Arbitrary<JsonObject> => fc.tuple(...parts).map((list) => Object.assign({}, ...list));

/** As it is after a way over the wire: without undefined, without objects of no class. */
const onWire = (answer: Arbitrary<JsonObject>): Arbitrary<JsonObject> => answer.map((value) => JSON.parse(JSON.stringify(value)));

const token: Arbitrary<Json> = fc.record({ token: fc.string({ unit: 'grapheme', maxLength: 5 }), logprob: fc.constantFrom(-0.5, -1, 0), bytes: fc.constant(null), top_logprobs: fc.constant([]) });

const toolCall: Arbitrary<JsonObject> = fc.oneof(
  merged(fc.record({ id: fc.uuid(), type: fc.constant('function'), function: fc.record({ name, arguments: fc.oneof(someObject.map((value) => JSON.stringify(value)), fc.string()) }) }), withName('thought_signature', filledText)),
  fc.record({ id: fc.uuid(), type: fc.constant('custom'), custom: fc.record({ name, input: someText }) }),
);
const functionCalls = (min: number): Arbitrary<Json> =>
  fc.uniqueArray(toolCall.filter((call) => call.type === 'function'), { minLength: min, maxLength: 3, selector: (call) => call.id });

const thinkingBlock: Arbitrary<JsonObject> = fc.oneof(
  merged(fc.record({ type: fc.constant('thinking'), thinking: someText }), withName('signature', fc.string({ unit: 'grapheme' }))),
  fc.record({ type: fc.constant('redacted_thinking'), data: filledText }),
);

interface ChatShape {
  /** Only what OpenAI's API has, in the form in which its own client gives it back. */
  readonly isOfficial: boolean;
}

function chatMessage({ isOfficial }: ChatShape): Arbitrary<JsonObject> {
  const text = fc.record({ role: fc.constant('assistant'), content: filledText, refusal: fc.constant(null) });
  const calls = fc.record({ role: fc.constant('assistant'), content: fc.oneof(fc.constant(null), filledText), refusal: fc.constant(null), tool_calls: functionCalls(1) });
  const refusal = fc.record({ role: fc.constant('assistant'), content: fc.constant(null), refusal: filledText });
  const audio = fc.record({
    role: fc.constant('assistant'), content: fc.constant(null), refusal: fc.constant(null),
    audio: fc.record({ id: name, data: fc.base64String({ minLength: 4 }), expires_at: count, transcript: filledText }),
  });
  const annotations = withName('annotations', fc.array(fc.record({ type: fc.constant('url_citation'), url_citation: fc.record({ url: fc.webUrl(), start_index: count }) }), { maxLength: 3 }));
  const official = merged(fc.oneof(text, calls, refusal, audio), annotations);
  if (isOfficial) return official;
  const custom = fc.record({ role: fc.constant('assistant'), content: fc.constant(null), tool_calls: fc.uniqueArray(toolCall, { minLength: 1, maxLength: 3, selector: (call) => call.id }) });
  const empty = fc.record({ role: fc.constant('assistant'), content: fc.constantFrom('', null), refusal: fc.constant(null) });
  const called = fc.record({ role: fc.constant('assistant'), content: fc.constant(null), refusal: fc.constantFrom(null, ''), function_call: fc.record({ name, arguments: fc.string() }) });
  const thought = fc.tuple(fc.array(thinkingBlock, { minLength: 1, maxLength: 3 }), fc.array(filledText, { minLength: 1, maxLength: 3 }), fc.boolean()).map(([blocks, texts, isSame]): JsonObject => ({
    role: 'assistant', content: isSame ? texts.join('') : 'changed', refusal: null,
    content_blocks: [...blocks, ...texts.map((part) => ({ type: 'text', text: part }))],
  }));
  const details = fc.array(fc.record({ type: fc.constantFrom('reasoning.text', 'reasoning.encrypted'), index: fc.nat(2), text: someText }), { maxLength: 3 });
  return merged(fc.oneof(official, custom, empty, called, thought), annotations, withName('reasoning_content', someText), withName('reasoning_details', details), maybe(extras));
}

export function chatAnswer(shape: ChatShape): Arbitrary<JsonObject> {
  const logprobs: Arbitrary<Json> = fc.oneof(fc.constant(null), fc.record({ content: fc.oneof(fc.constant(null), fc.array(token, { minLength: 1, maxLength: 5 })), refusal: fc.constant(null) }));
  const choice = merged(
    fc.record({ message: chatMessage(shape), finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter') }),
    shape.isOfficial ? logprobs.map((value) => ({ logprobs: value })) : withName('logprobs', logprobs),
    shape.isOfficial ? fc.constant({}) : withName('native_finish_reason', name),
  );
  return onWire(merged(
    fc.record({
      id: name, object: fc.constant('chat.completion'), created: count, model: name,
      choices: fc.array(choice, { minLength: 1, maxLength: 3 }).map((choices) => choices.map((given, index) => ({ index, ...given }))),
      usage: fc.record({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
    }),
    withName('system_fingerprint', name), withName('service_tier', fc.constantFrom('default', 'priority')),
    shape.isOfficial ? fc.constant({}) : maybe(extras),
  ));
}

export function completion(): Arbitrary<JsonObject> {
  const spelled = fc.array(filledText, { minLength: 1, maxLength: 6 }).map((tokens): JsonObject => ({
    text: tokens.join(''), logprobs: { tokens, token_logprobs: tokens.map(() => -1), top_logprobs: tokens.map((text) => ({ [`t${text}`]: -1 })), text_offset: tokens.map((_, at) => at) },
  }));
  const other = fc.record({ text: someText, logprobs: fc.oneof(fc.constant(null), fc.record({ tokens: fc.array(filledText), token_logprobs: fc.array(fc.constant(-1)), top_logprobs: fc.constant(null) })) });
  const choice = merged(fc.oneof(spelled, other, fc.record({ text: someText })), fc.record({ finish_reason: fc.constantFrom('stop', 'length') }));
  return onWire(merged(
    fc.record({
      id: name, object: fc.constant('text_completion'), created: count, model: name,
      choices: fc.array(choice, { minLength: 1, maxLength: 3 }).map((choices) => choices.map((given, index) => ({ index, ...given }))),
      usage: fc.record({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
    }),
    withName('system_fingerprint', name), maybe(extras),
  ));
}

export function message({ isOfficial }: ChatShape): Arbitrary<JsonObject> {
  const citations = fc.array(fc.record({ type: fc.constant('char_location'), cited_text: someText, document_index: count }), { maxLength: 3 });
  const text = merged(fc.record({ type: fc.constant('text'), text: someText }), withName('citations', fc.oneof(fc.constant(null), citations)));
  const thinking = fc.record({ type: fc.constant('thinking'), thinking: someText, signature: fc.string({ unit: 'grapheme' }) });
  const redacted = fc.record({ type: fc.constant('redacted_thinking'), data: filledText });
  const use = fc.record({ type: fc.constantFrom('tool_use', 'server_tool_use'), id: fc.uuid(), name, input: someObject });
  const result = fc.record({ type: fc.constant('web_search_tool_result'), tool_use_id: name, content: fc.array(someObject, { maxLength: 2 }) });
  const blocks = fc.uniqueArray(fc.oneof(text, thinking, redacted, use, result), { maxLength: 5, selector: (block) => ('id' in block ? block.id : block) });
  const usage = merged(
    fc.record({ input_tokens: count, output_tokens: count, cache_creation_input_tokens: count, cache_read_input_tokens: count }),
    withName('cache_creation', fc.record({ ephemeral_5m_input_tokens: count })), withName('server_tool_use', fc.oneof(fc.constant(null), fc.record({ web_search_requests: count }))),
    withName('service_tier', fc.constant('standard')), withName('output_tokens_details', fc.record({ thinking_tokens: count })),
  );
  const ending = fc.oneof(
    fc.record({ stop_reason: fc.constantFrom('end_turn', 'max_tokens', 'pause_turn'), stop_sequence: fc.constant(null) }),
    fc.record({ stop_reason: fc.constant('stop_sequence'), stop_sequence: filledText }),
    fc.record({ stop_reason: fc.constant('refusal'), stop_sequence: fc.constant(null), stop_details: fc.record({ type: fc.constant('refusal'), category: fc.constant(null), explanation: someText }) }),
  );
  return onWire(merged(
    fc.record({ id: name, type: fc.constant('message'), role: fc.constant('assistant'), model: name, content: blocks, usage }), ending,
    withName('container', fc.oneof(fc.constant(null), fc.record({ id: name, expires_at: name }))),
    isOfficial ? fc.constant({}) : withName('context_management', fc.record({ applied_edits: fc.array(someObject, { maxLength: 2 }) })),
    maybe(extras),
  ));
}

export function response({ isOfficial }: ChatShape): Arbitrary<JsonObject> {
  const annotation = fc.record({ type: fc.constant('url_citation'), url: fc.webUrl(), start_index: count, end_index: count, title: name });
  const spelled = fc.array(filledText, { minLength: 1, maxLength: 5 }).map((texts): JsonObject => ({ text: texts.join(''), logprobs: texts.map((given) => ({ token: given, logprob: -1, bytes: [], top_logprobs: [] })) }));
  const part = fc.oneof(
    merged(fc.record({ type: fc.constant('output_text'), annotations: fc.array(annotation, { maxLength: 2 }) }), fc.oneof(spelled, fc.record({ text: someText, logprobs: fc.oneof(fc.constant([]), fc.array(token, { maxLength: 3 })) }), fc.record({ text: someText }))),
    fc.record({ type: fc.constant('refusal'), refusal: someText }),
  );
  const item = fc.oneof(
    fc.record({ type: fc.constant('message'), role: fc.constant('assistant'), content: fc.array(part, { maxLength: 3 }) }),
    merged(fc.record({ type: fc.constant('reasoning'), summary: fc.array(fc.record({ type: fc.constant('summary_text'), text: someText }), { maxLength: 2 }) }), withName('encrypted_content', filledText)),
    fc.record({ type: fc.constant('function_call'), call_id: fc.uuid(), name, arguments: someObject.map((value) => JSON.stringify(value)) }),
    fc.record({ type: fc.constant('web_search_call'), action: fc.record({ type: fc.constant('search'), query: someText }) }),
    fc.record({ type: fc.constant('image_generation_call'), result: fc.base64String() }),
    ...(isOfficial ? [] : [
      fc.record({ type: fc.constant('custom_tool_call'), call_id: fc.uuid(), name, input: someText }),
      fc.record({ type: fc.constant('reasoning'), summary: fc.constant([]), content: fc.array(fc.record({ type: fc.constant('reasoning_text'), text: someText }), { maxLength: 2 }) }),
    ]),
  );
  const ending = fc.oneof(
    fc.constant({ status: 'completed', incomplete_details: null, completed_at: 12 }),
    fc.constantFrom('max_output_tokens', 'content_filter').map((reason) => ({ status: 'incomplete', incomplete_details: { reason } })),
  );
  return onWire(merged(
    fc.record({
      id: name.map((text) => `resp_${text}`), object: fc.constant('response'), created_at: count, error: fc.constant(null), instructions: fc.constant(null), model: name, tools: fc.constant([]),
      parallel_tool_calls: fc.boolean(), metadata: fc.constant({}), tool_choice: fc.constant('auto'), temperature: fc.constant(1), top_p: fc.constant(1),
      output: fc.array(item, { maxLength: 4 }).map((items) => items.map((given, index) => ({ id: `item_${index}`, status: 'completed', ...given }))),
      usage: fc.record({ input_tokens: count, output_tokens: count, total_tokens: count }),
    }),
    ending, maybe(extras),
  ));
}
