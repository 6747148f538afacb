import { isProviderError, jsonInstruction, type EndpointSpec, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { fakeCall, Refusal, type FakeCallOptions } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chatAnswer } from './chat-answer.js';
import { converseRequest } from './chat.js';
import { embeddingsSpec } from './embeddings.js';
import { imagesSpec } from './images.js';
import { claudeVersion, hasAdaptiveThinking, hasEffort, hasStructuredOutput, hasThinkingBudget, isClaude, readModel } from './model.js';
import provider from './provider.js';
import { rerankSpec } from './rerank.js';

const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'amazon.nova-pro-v1:0';
const llama = 'us.meta.llama3-3-70b-instruct-v1:0';
const hello: Json = [{ role: 'user', content: 'Hello' }];
const weather: Json = { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: { type: 'object', properties: {} } } };
const schema: Json = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object', properties: {} } } };

function translate(body: JsonObject, options: FakeCallOptions = {}) {
  const whole = { model: sonnet, messages: hello, ...body };
  const call = fakeCall(whole, options);
  const wire: any = converseRequest(whole, call);
  return { wire, reported: call.reported };
}

const refuses = (body: JsonObject, param: string): void => {
  assert.throws(() => translate(body), (error) => error instanceof Refusal && error.param === param, `${param}: ${JSON.stringify(body)}`);
};
const messages = (list: Json, body: JsonObject = {}): Json => translate({ ...body, messages: list }).wire.messages;
const toolCall = (id: string, name = 'get_weather', text = '{}'): Json => ({ id, type: 'function', function: { name, arguments: text } });

function chosen(endpoint: 'messages' | 'countTokens', model: string): EndpointSpec | undefined {
  const entry = provider.endpoints[endpoint];
  const spec = typeof entry === 'function' ? entry(fakeCall({ model }, { endpoint })) : entry;
  return typeof spec === 'string' ? { path: spec } : spec;
}

describe('names of models', () => {
  test('tell vendor and foundation model, through profiles and ARNs', () => {
    const sonnetId = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    const names: readonly (readonly [string, string, string])[] = [
      [sonnetId, 'anthropic', sonnetId], [sonnet, 'anthropic', sonnetId], [`global.${sonnetId}`, 'anthropic', sonnetId], [`us-gov.${sonnetId}`, 'anthropic', sonnetId],
      [`apac.${sonnetId}`, 'anthropic', sonnetId], ['eu.amazon.nova-lite-v1:0', 'amazon', 'amazon.nova-lite-v1:0'],
      [`arn:aws:bedrock:us-east-1::foundation-model/${sonnetId}`, 'anthropic', sonnetId],
      [`arn:aws:bedrock:us-east-1:123456789012:inference-profile/${sonnet}`, 'anthropic', sonnetId],
      ['arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:custom-model/amazon.titan-text-lite-v1:0:4k/abc', 'amazon', 'amazon.titan-text-lite-v1:0:4k'],
      ['arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3', '', ''], ['arn:aws:bedrock:us-east-1:123456789012:provisioned-model/a1b2c3', '', ''],
      ['arn:aws:bedrock:us-east-1:123456789012:imported-model/a1b2c3', '', ''], ['something', '', ''], ['', '', ''],
    ];
    for (const [name, vendor, id] of names) assert.deepEqual(readModel(name), { vendor, id }, name);
  });

  test('tell the version of Claude', () => {
    const versions: readonly (readonly [string, number])[] = [
      ['anthropic.claude-v2:1', 0], ['anthropic.claude-instant-v1', 0], ['anthropic.claude-3-haiku-20240307-v1:0', 3], ['anthropic.claude-3-5-sonnet-20241022-v2:0', 3.5],
      ['anthropic.claude-3-7-sonnet-20250219-v1:0', 3.7], ['anthropic.claude-sonnet-4-20250514-v1:0', 4], ['anthropic.claude-opus-4-1-20250805-v1:0', 4.1], [sonnet, 4.5],
      ['global.anthropic.claude-opus-4-6-v1', 4.6], ['anthropic.claude-sonnet-5', 5], [nova, 0],
    ];
    for (const [name, version] of versions) assert.equal(claudeVersion(readModel(name)), version, name);
  });

  test('tell what a model can do', () => {
    const can = (name: string) => [hasStructuredOutput, hasEffort, hasAdaptiveThinking, hasThinkingBudget].map((check) => check(readModel(name)));
    assert.deepEqual(can('anthropic.claude-3-5-sonnet-20241022-v2:0'), [false, false, false, false]);
    assert.deepEqual(can('anthropic.claude-3-7-sonnet-20250219-v1:0'), [false, false, false, true]);
    assert.deepEqual(can(sonnet), [true, false, false, true]);
    assert.deepEqual(can('anthropic.claude-opus-4-5-20251101-v1:0'), [true, true, false, true]);
    assert.deepEqual(can('anthropic.claude-opus-4-6-v1'), [true, true, true, true]);
    assert.deepEqual(can('openai.gpt-oss-120b-1:0'), [true, false, false, false]);
    assert.equal(isClaude(readModel(llama)), false);
  });

  test('choose the endpoints', () => {
    assert.equal(chosen('messages', sonnet)?.streamPath, '/model/{model}/invoke-with-response-stream');
    for (const model of [nova, llama, 'arn:aws:bedrock:us-east-1:1:application-inference-profile/a']) assert.equal(chosen('messages', model), undefined, model);
    assert.equal(chosen('countTokens', sonnet)?.path, '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens');
    assert.equal(chosen('countTokens', sonnet)?.from, undefined);
    assert.equal(chosen('countTokens', nova)?.from, 'chat');
    for (const model of [sonnet, 'amazon.nova-canvas-v1:0', 'a']) assert.equal(embeddingsSpec(fakeCall({ model })), undefined, model);
    for (const model of [sonnet, 'amazon.titan-embed-text-v2:0', 'a']) assert.equal(imagesSpec(fakeCall({ model })), undefined, model);
    assert.equal(rerankSpec(fakeCall({ model: 'm' }, { credentials: { cloud1_region: 'cn-north-1' } })).baseUrl, 'https://bedrock-agent-runtime.cn-north-1.amazonaws.com.cn');
  });
});

describe('conversations', () => {
  test('neighbours of one role are one message; system messages go to the front', () => {
    const { wire } = translate({
      messages: [
        { role: 'user', content: 'a' }, { role: 'developer', content: 'rule' }, { role: 'user', content: 'b' },
        { role: 'assistant', content: 'c' }, { role: 'assistant', content: 'd' }, { role: 'user', content: 'e' },
      ],
    });
    assert.deepEqual(wire.system, [{ text: 'rule' }]);
    assert.deepEqual(wire.messages, [
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] }, { role: 'assistant', content: [{ text: 'c' }, { text: 'd' }] }, { role: 'user', content: [{ text: 'e' }] },
    ]);
  });

  test('texts without a visible character are left out, results of tools never', () => {
    const blank = [
      { role: 'system', content: ' ' }, { role: 'user', content: [{ type: 'text', text: '\n' }, { type: 'text', text: 'a' }] },
      { role: 'assistant', content: '\n\n' }, { role: 'user', content: ' b ' },
    ];
    assert.deepEqual(messages(blank), [{ role: 'user', content: [{ text: 'a' }, { text: ' b ' }] }]);
    const { wire } = translate({
      messages: [...hello as Json[], { role: 'assistant', content: ' ', tool_calls: [toolCall('one', 'get_weather', '')] }, { role: 'tool', tool_call_id: 'one', content: ' ' }],
    });
    assert.deepEqual(wire.messages.slice(1), [
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'one', name: 'get_weather', input: {} } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'one', content: [{ text: '(no output)' }] } }] },
    ]);
  });

  test('results of parallel calls are in one user message, before its text', () => {
    const given = [
      ...hello as Json[], { role: 'assistant', content: null, tool_calls: [toolCall('one'), toolCall('two')] },
      { role: 'tool', tool_call_id: 'one', content: '1' }, { role: 'user', content: 'hurry' }, { role: 'tool', tool_call_id: 'two', content: '2' },
    ];
    assert.deepEqual((messages(given) as Json[])[2], { role: 'user', content: [
      { toolResult: { toolUseId: 'one', content: [{ text: '1' }] } }, { toolResult: { toolUseId: 'two', content: [{ text: '2' }] } }, { text: 'hurry' },
    ] });
  });

  test('ids that Converse or the model refuses are replaced on both sides', () => {
    const idsOf = (model: string, id: string): readonly string[] => {
      const wire: any = messages([...hello as Json[], { role: 'assistant', content: null, tool_calls: [toolCall(id)] }, { role: 'tool', tool_call_id: id, content: 'x' }], { model });
      return [wire[1].content[0].toolUse.toolUseId, wire[2].content[0].toolResult.toolUseId];
    };
    assert.deepEqual(idsOf(sonnet, 'toolu_01-A'), ['toolu_01-A', 'toolu_01-A']);
    for (const [model, id, pattern] of [[sonnet, 'call:1|x', /^call_[0-9a-f]{24}$/], [sonnet, 'x'.repeat(65), /^call_/], ['mistral.mistral-large-2407-v1:0', 'call_long', /^[a-z0-9]{9}$/]] as const) {
      const [call = '', result] = idsOf(model, id);
      assert.match(call, pattern);
      assert.equal(result, call);
    }
    assert.deepEqual(idsOf('mistral.mistral-large-2407-v1:0', 'aBc123xyz'), ['aBc123xyz', 'aBc123xyz']);
  });

  test('thinking goes back where it is wanted', () => {
    const blocks = [{ type: 'thinking', thinking: 'a', signature: 's' }, { type: 'thinking', thinking: 'unsigned' }, { type: 'text', text: 'between' }, { type: 'redacted_thinking', data: 'eA==' }];
    const history = [...hello as Json[], { role: 'assistant', content: 'between', content_blocks: blocks }, ...hello as Json[]];
    const signed = { reasoningContent: { reasoningText: { text: 'a', signature: 's' } } };
    const claude = translate({ messages: history });
    assert.deepEqual(claude.wire.messages[1].content, [signed, { text: 'between' }, { reasoningContent: { redactedContent: 'eA==' } }]);
    assert.deepEqual(claude.reported, ['messages.content_blocks']);
    assert.equal(translate({ model: 'amazon.nova-2-lite-v1:0', messages: history }).wire.messages[1].content.length, 4);
    const other = translate({ model: llama, messages: history });
    assert.deepEqual(other.wire.messages[1].content, [{ text: 'between' }]);
    assert.deepEqual(other.reported, ['messages.content_blocks']);
  });

  test('marks for the cache become cache points, or are reported', () => {
    const marked: Json = [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }, { type: 'text', text: 'b' }] }];
    assert.deepEqual(translate({ messages: marked }).wire.messages[0].content, [{ text: 'a' }, { cachePoint: { type: 'default' } }, { text: 'b' }]);
    assert.deepEqual(translate({ model: llama, messages: marked }).reported, ['cache_control']);
    assert.deepEqual(translate({ model: nova, tools: [{ ...weather as JsonObject, cache_control: {} }] }).reported, ['cache_control']);
  });

  test('files that Bedrock does not take are refused', () => {
    const part = (content: Json) => ({ messages: [{ role: 'user', content: [content] }] });
    refuses(part({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }), 'messages[0].content[0]');
    refuses(part({ type: 'image_url', image_url: { url: 'data:image/bmp;base64,AAAA' } }), 'messages[0].content[0]');
    refuses(part({ type: 'file', file: { file_id: 'file-1' } }), 'messages[0].content[0]');
    refuses(part({ type: 'file', file: { file_data: 'data:application/zip;base64,AAAA' } }), 'messages[0].content[0]');
    refuses({ messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }] }, 'messages[0].content[0]');
    refuses({ messages: [{ role: 'assistant', content: null, tool_calls: [toolCall('a', 'f', '{')] }] }, 'messages[0].tool_calls');
  });
});

describe('tools', () => {
  test('the choice', () => {
    const choice = (tool_choice: Json, body: JsonObject = {}) => translate({ tools: [weather], tool_choice, ...body }).wire.toolConfig;
    assert.equal(choice('auto').toolChoice, undefined);
    assert.deepEqual(choice('required').toolChoice, { any: {} });
    assert.deepEqual(choice({ type: 'function', function: { name: 'get_weather' } }).toolChoice, { tool: { name: 'get_weather' } });
    assert.equal(choice('none'), undefined);
    refuses({ tool_choice: 'required' }, 'tool_choice');
    refuses({ tools: [weather], tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice');
    refuses({ tools: [{ type: 'web_search' }] }, 'tools[0]');
  });

  test('a history with tool calls has a tool configuration, whatever the client sends', () => {
    const history = [...hello as Json[], { role: 'assistant', content: null, tool_calls: [toolCall('a', 'old_tool')] }, { role: 'tool', tool_call_id: 'a', content: 'x' }];
    assert.deepEqual(translate({ messages: history }).wire.toolConfig.tools, [{ toolSpec: { name: 'old_tool', inputSchema: { json: { type: 'object', properties: {} } } } }]);
    const silent = translate({ messages: history, tools: [weather], tool_choice: 'none' });
    assert.equal(silent.wire.toolConfig.tools.length, 1);
    assert.deepEqual(silent.reported, ['tool_choice']);
  });

  test('one call at a time is Anthropic\'s own choice, stated once', () => {
    const forced = translate({ tools: [weather], parallel_tool_calls: false, tool_choice: 'required' }).wire;
    assert.equal(forced.toolConfig.toolChoice, undefined);
    assert.deepEqual(forced.additionalModelRequestFields, { tool_choice: { type: 'any', disable_parallel_tool_use: true } });
    assert.deepEqual(translate({ model: nova, tools: [weather], parallel_tool_calls: false }).reported, ['parallel_tool_calls']);
  });

  test('definitions', () => {
    const spec = (tool: Json, model = sonnet) => translate({ model, tools: [tool] }).wire.toolConfig.tools[0].toolSpec;
    assert.deepEqual(spec({ type: 'function', function: { name: 'a', description: ' ', parameters: { properties: { x: {} } } } }), { name: 'a', inputSchema: { json: { type: 'object', properties: { x: {} } } } });
    assert.equal(spec({ type: 'function', function: { name: 'a', strict: true } }).strict, true);
    assert.deepEqual(translate({ model: nova, tools: [{ type: 'function', function: { name: 'a', strict: true } }] }).reported, ['tools.function.strict']);
  });
});

describe('parameters', () => {
  test('what would change the answer is refused', () => {
    refuses({ n: 2 }, 'n');
    refuses({ logprobs: true }, 'logprobs');
    refuses({ top_logprobs: 2 }, 'logprobs');
    refuses({ logit_bias: { 5: 1 } }, 'logit_bias');
    refuses({ temperature: 1.5 }, 'temperature');
    refuses({ top_p: -0.1 }, 'top_p');
    refuses({ max_tokens: 0 }, 'max_tokens');
    refuses({ modalities: ['text', 'audio'] }, 'modalities');
    refuses({ audio: { voice: 'a' } }, 'audio');
    refuses({ model: llama, response_format: schema }, 'response_format');
    refuses({ model: nova, response_format: schema, tools: [weather] }, 'response_format');
    refuses({ model: 'amazon.nova-2-lite-v1:0', reasoning_effort: 'huge' }, 'reasoning_effort');
  });

  test('a JSON object is asked for in words, and the answer loses what is around it', () => {
    const body = { response_format: { type: 'json_object' }, messages: [{ role: 'user', content: 'JSON please' }] };
    assert.deepEqual(translate({ model: llama, ...body }).wire.system, [{ text: jsonInstruction }]);
    const call = fakeCall({ model: llama, ...body });
    const message = { content: [{ text: 'Sure:\n```json\n{"a":"}"' }, { text: ',"b":{}}\n``` Done.' }] };
    const answer = chatAnswer({ output: { message }, stopReason: 'end_turn' }, call) as Record<string, any>;
    assert.equal(answer.choices[0].message.content, '{"a":"}","b":{}}');
  });

  test('web search is the tool of the models that have one', () => {
    assert.deepEqual(translate({ model: 'amazon.nova-2-lite-v1:0', web_search_options: {} }).wire.toolConfig, { tools: [{ systemTool: { name: 'nova_grounding' } }] });
    assert.deepEqual(translate({ model: llama, web_search_options: {} }).reported, ['web_search_options']);
  });

  test('hints are reported, defaults are not', () => {
    assert.deepEqual([...translate({ user: 'u', store: true, verbosity: 'low', seed: 1, frequency_penalty: 0.5, service_tier: 'scale', metadata: { a: 'ü' } }).reported].sort(),
      ['frequency_penalty', 'metadata', 'seed', 'service_tier', 'store', 'user', 'verbosity']);
    const { wire, reported } = translate({
      n: 1, logprobs: false, top_logprobs: 0, presence_penalty: 0, frequency_penalty: 0, store: false, seed: null, response_format: { type: 'text' }, modalities: ['text'],
      parallel_tool_calls: true, stream_options: null, logit_bias: {}, service_tier: 'auto', metadata: {}, user: null,
    });
    assert.deepEqual(reported, []);
    assert.deepEqual(Object.keys(wire), ['messages']);
  });

  test('each family has its own names', () => {
    const fields = (model: string) => translate({ model, top_k: 5, seed: 7, presence_penalty: 1 });
    assert.deepEqual(fields(sonnet).wire.additionalModelRequestFields, { top_k: 5 });
    assert.deepEqual(fields(nova).wire.additionalModelRequestFields, { inferenceConfig: { topK: 5 } });
    assert.deepEqual(fields('cohere.command-r-v1:0').wire.additionalModelRequestFields, { k: 5, seed: 7, presence_penalty: 1 });
    assert.deepEqual(fields(llama).reported, ['presence_penalty', 'seed', 'top_k']);
  });

  test('members of Converse and of the models pass', () => {
    const { wire } = translate({
      inferenceConfig: { maxTokens: 5 }, performanceConfig: { latency: 'optimized' }, requestMetadata: { a: 'b' }, service_tier: 'flex',
      additionalModelRequestFields: { a: 1 }, anthropic_beta: ['x'], guardrail_config: { guardrailIdentifier: 'g' },
    });
    assert.deepEqual(wire.inferenceConfig, { maxTokens: 5 });
    assert.deepEqual(wire.performanceConfig, { latency: 'optimized' });
    assert.deepEqual(wire.requestMetadata, { a: 'b' });
    assert.deepEqual(wire.serviceTier, { type: 'flex' });
    assert.deepEqual(wire.guardrailConfig, { guardrailIdentifier: 'g' });
    assert.deepEqual(wire.additionalModelRequestFields, { anthropic_beta: ['x'], a: 1 });
  });

  test('effort and thinking, by family', () => {
    const fields = (body: JsonObject) => translate(body).wire.additionalModelRequestFields;
    const opus = 'global.anthropic.claude-opus-4-6-v1';
    assert.deepEqual(fields({ reasoning_effort: 'medium' }), { thinking: { type: 'enabled', budget_tokens: 8192 } });
    assert.deepEqual(fields({ reasoning_effort: 'medium', max_tokens: 2000 }), { thinking: { type: 'enabled', budget_tokens: 1600 } });
    assert.equal(fields({ reasoning_effort: 'none' }), undefined);
    assert.deepEqual(translate({ reasoning_effort: 'low', max_tokens: 1024 }).reported, ['reasoning_effort']);
    assert.deepEqual(translate({ reasoning_effort: 'low', temperature: 0 }).reported, ['reasoning_effort']);
    assert.deepEqual(translate({ reasoning_effort: 'low', tools: [weather], tool_choice: 'required' }).reported, ['reasoning_effort']);
    assert.deepEqual(translate({ model: opus, reasoning_effort: 'minimal' }).wire.outputConfig, { effort: 'low' });
    assert.deepEqual(fields({ model: opus, thinking: { type: 'disabled' }, reasoning_effort: 'low' }), { thinking: { type: 'disabled' } });
    assert.deepEqual(fields({ model: 'amazon.nova-2-lite-v1:0', reasoning_effort: 'high' }), { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } });
    assert.deepEqual(fields({ model: 'openai.gpt-oss-20b-1:0', reasoning_effort: 'low' }), { reasoning_effort: 'low' });
    assert.deepEqual(translate({ model: llama, reasoning_effort: 'low', thinking: { type: 'enabled', budget_tokens: 2000 } }).reported, ['thinking', 'reasoning_effort']);
  });
});

describe('answers', () => {
  const answer = (stopReason: string, content: Json): any =>
    chatAnswer({ output: { message: { role: 'assistant', content } }, stopReason, usage: { inputTokens: 1, outputTokens: 2 } }, fakeCall({ model: sonnet, messages: hello }, { isStrict: false }));

  test('each stop reason', () => {
    const reasons: readonly (readonly [string, string])[] = [
      ['end_turn', 'stop'], ['stop_sequence', 'stop'], ['tool_use', 'stop'], ['max_tokens', 'length'], ['model_context_window_exceeded', 'length'], ['guardrail_intervened', 'content_filter'],
      ['content_filtered', 'content_filter'], ['malformed_model_output', 'content_filter'], ['malformed_tool_use', 'content_filter'], ['a_new_one', 'stop'],
    ];
    for (const [native, finish] of reasons) {
      const [choice] = answer(native, [{ text: 'a' }]).choices;
      assert.deepEqual([choice.finish_reason, choice.native_finish_reason], [finish, native]);
    }
    const use = [{ toolUse: { toolUseId: 'a', name: 'f', input: {} } }];
    assert.equal(answer('tool_use', use).choices[0].finish_reason, 'tool_calls');
    assert.equal(answer('end_turn', use).choices[0].finish_reason, 'tool_calls');
    assert.equal(answer('max_tokens', use).choices[0].finish_reason, 'length');
  });

  test('an image answer without images is an error', () => {
    const spec = imagesSpec(fakeCall({ model: 'stability.sd3-5-large-v1:0' }))!;
    assert.throws(() => spec.response!([{ images: [], finish_reasons: ['Filter reason: prompt'] }], fakeCall()), (error) => isProviderError(error) && error.status === 400 && error.message === 'Filter reason: prompt');
  });

  test('errors are read in each of their shapes', () => {
    assert.deepEqual(provider.error?.({ message: 'a' }, 400, () => undefined), { message: 'a' });
    assert.deepEqual(provider.error?.({ message: 'a' }, 429, (name) => (name === 'x-amzn-errortype' ? 'ThrottlingException:http://internal' : undefined)), { message: 'a', type: 'ThrottlingException' });
    assert.deepEqual(provider.error?.({ Message: 'a', __type: 'x#ThrottlingException' }, 429, () => undefined), { message: 'a', type: 'ThrottlingException' });
    for (const body of [{}, null, 'text', { message: 4 }, []]) assert.equal(provider.error?.(body, 500, () => undefined), undefined);
  });
});

test('lists of texts become as many calls as the model needs', () => {
  const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
  const count = (model: string): number => {
    const call = fakeCall({ model, input: texts });
    return (embeddingsSpec(call)!.request!(call.body, call) as Json[]).length;
  };
  assert.equal(count('amazon.titan-embed-text-v2:0'), 200);
  assert.equal(count('cohere.embed-english-v3'), 3);
  const bad = fakeCall({ model: 'amazon.titan-embed-text-v2:0', input: [[1, 2]] });
  assert.throws(() => embeddingsSpec(bad)!.request!(bad.body, bad), (error) => error instanceof Refusal && error.param === 'input[0]');
  const size = fakeCall({ model: 'amazon.titan-embed-text-v2:0', input: 'a', dimensions: 300 });
  assert.throws(() => embeddingsSpec(size)!.request!(size.body, size), (error) => error instanceof Refusal && error.param === 'dimensions');
});
