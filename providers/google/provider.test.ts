import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnswerEvent, BinaryAnswer, Endpoint, EndpointSpec, Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { isBinaryAnswer, isProviderError } from '@gateway/plugin-sdk';
import type { FakeCall, FakeCallOptions } from '@gateway/plugin-sdk/testing';
import { Refusal, fakeCall } from '@gateway/plugin-sdk/testing';
import provider from './provider.js';

function specOf(endpoint: Endpoint | undefined, call: ProviderCall): EndpointSpec {
  const given = typeof endpoint === 'function' ? endpoint(call) : endpoint;
  assert.ok(given !== undefined && typeof given !== 'string');
  return given;
}

interface Tried {
  readonly call: FakeCall;
  readonly spec: EndpointSpec;
  readonly body: Json;
}

/** What stands at a path such as `choices.0.message`; a negative number counts from the end. */
const at = (value: unknown, path: string): unknown => path.split('.').reduce<unknown>((inner, name) => {
  if (Array.isArray(inner)) return inner.at(Number(name)) as unknown;
  return typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined;
}, value);
const listAt = (value: unknown, path: string): readonly unknown[] => {
  const list = at(value, path);
  return Array.isArray(list) ? list : [];
};

function chat(body: JsonObject, options: FakeCallOptions = {}): Tried {
  const full = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'Hello' }], ...body };
  const call = fakeCall(full, options);
  const spec = specOf(provider.endpoints.chatCompletions, call);
  return { call, spec, body: spec.request?.(full, call) ?? null };
}

const refuses = (param: string, body: JsonObject, options: FakeCallOptions = {}): void => {
  assert.throws(() => chat(body, options), (error) => error instanceof Refusal && error.param === param, param);
};

const tool = (name: string, more: JsonObject = {}): JsonObject => ({ type: 'function', function: { name, parameters: { type: 'object', properties: { a: { type: 'string' } } }, ...more } });

describe('the path', () => {
  test('knows the names that Google\'s libraries write', () => {
    const path = (model: string): string => specOf(provider.endpoints.chatCompletions, fakeCall({ model })).path;
    assert.equal(path('models/gemini-2.5-flash'), '/models/gemini-2.5-flash:generateContent');
    assert.equal(path('tunedModels/mine'), '/tunedModels/mine:generateContent');
    assert.equal(path('a/b?c'), '/models/a/b%3Fc:generateContent');
    assert.throws(() => path(''), Refusal);
  });
});

describe('messages', () => {
  test('of the system alone are asked as the user\'s', () => {
    assert.deepEqual(chat({ messages: [{ role: 'system', content: 'Say hello.' }] }).body, { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] });
  });

  test('of the system stand in front of the user\'s where the model has no place for them', () => {
    const body = { model: 'gemma-3-27b-it', messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' }] };
    assert.deepEqual(chat(body).body, { contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hello' }] }] });
  });

  test('with media in tool results put them behind the results before Gemini 3', () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'draw', arguments: '{}' } }, { id: 'b', type: 'function', function: { name: 'draw', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,YQ==' } }] },
      { role: 'tool', tool_call_id: 'b', content: '[1]' },
    ];
    assert.deepEqual(at(chat({ messages }).body, 'contents.1.parts'), [
      { functionResponse: { name: 'draw', response: { result: '' } } },
      { functionResponse: { name: 'draw', response: { result: '[1]' } } },
      { inlineData: { mimeType: 'image/png', data: 'YQ==' } },
    ]);
  });

  test('keep signatures where they belong', () => {
    const of = (blocks: Json, toolCalls: Json = []): unknown =>
      at(chat({ model: 'gemini-2.5-pro', messages: [{ role: 'assistant', content: 'x', content_blocks: blocks, tool_calls: toolCalls }] }).body, 'contents.0.parts');
    assert.deepEqual(of([{ type: 'thinking', thinking: 'a', signature: 's' }]), [{ text: 'a', thought: true }, { text: 'x', thoughtSignature: 's' }]);
    assert.deepEqual(of([{ type: 'text', text: 'x' }, { type: 'thinking', thinking: '', signature: 's' }]), [{ text: 'x', thoughtSignature: 's' }]);
    assert.deepEqual(of([{ type: 'redacted_thinking', data: 'foreign' }]), [{ text: 'x' }]);
    const alone = chat({ messages: [{ role: 'assistant', content: null, content_blocks: [{ type: 'thinking', thinking: 'a', signature: 's' }], tool_calls: [{ id: 'a', type: 'function', thought_signature: 't', function: { name: 'f', arguments: '{}' } }] }] });
    assert.deepEqual(at(alone.body, 'contents.0.parts'), [{ text: 'a', thought: true, thoughtSignature: 's' }, { functionCall: { name: 'f', args: {} }, thoughtSignature: 't' }]);
  });

  test('get a stand-in for a lost signature from Gemini 3 on, once a step', () => {
    const toolCalls = ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } }));
    const signatures = (model: string): unknown[] => 
      listAt(chat({ model, messages: [{ role: 'assistant', tool_calls: toolCalls }] }).body, 'contents.0.parts').map((part) => at(part, 'thoughtSignature'));
    assert.deepEqual(signatures('gemini-3.1-flash-lite'), ['skip_thought_signature_validator', undefined]);
    assert.deepEqual(signatures('gemini-flash-latest'), ['skip_thought_signature_validator', undefined]);
    assert.deepEqual(signatures('gemini-2.5-flash'), [undefined, undefined]);
  });

  test('have their signatures wherever a client keeps them', () => {
    for (const [call, own] of [[{ thought_signature: 's' }, {}], [{}, { thought_signature: 's' }], [{ extra_content: { google: { thought_signature: 's' } } }, {}]] as const) {
      const toolCalls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}', ...own }, ...call }];
      const { body } = chat({ model: 'gemini-3-pro-preview', messages: [{ role: 'assistant', content: null, tool_calls: toolCalls }] });
      assert.equal(at(body, 'contents.0.parts.0.thoughtSignature'), 's', JSON.stringify(toolCalls));
    }
  });

  test('that Google cannot read are refused', () => {
    const user = (part: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [part] }] });
    refuses('messages[0].content[0]', user({ type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }));
    refuses('messages[0].content[0]', user({ type: 'image_url', image_url: { url: 'http://example.com/a.png' } }));
    refuses('messages[0].tool_call_id', { messages: [{ role: 'tool', tool_call_id: 'unknown', content: 'x' }] });
    refuses('messages[0].content[0]', { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,YQ==' } }] }] });
  });
});

describe('parameters', () => {
  test('out of range or without a counterpart are refused', () => {
    refuses('temperature', { temperature: 2.1 });
    refuses('n', { n: 9 });
    refuses('logit_bias', { logit_bias: { 1: 2 } });
    refuses('stop', { stop: ['1', '2', '3', '4', '5', '6'] });
    refuses('audio.format', { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'mp3' } });
    refuses('reasoning_effort', { reasoning_effort: 'enormous' });
    refuses('tool_config', { tool_config: { functionCallingConfig: { streamFunctionCallArguments: true } } });
    refuses('tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] });
    refuses('tools[0].allowed_domains', { tools: [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }] });
  });

  test('that say what holds anyway are left out', () => {
    const { body, call } = chat({ n: 1, presence_penalty: 0, frequency_penalty: 0, logprobs: false, response_format: { type: 'text' }, logit_bias: {}, store: false, service_tier: 'auto', parallel_tool_calls: false, stop: null });
    assert.deepEqual(body, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
    assert.deepEqual(call.reported, []);
  });

  test('that real clients send to everybody are reported', () => {
    const { body, call } = chat({ tools: [tool('f')], parallel_tool_calls: false });
    assert.equal(at(body, 'toolConfig'), undefined);
    assert.deepEqual(call.reported, ['parallel_tool_calls']);
  });

  test('that are hints are reported', () => {
    const { body, call } = chat({ user: 'u', metadata: { a: 'b' }, store: true, verbosity: 'low', prompt_cache_key: 'k', prediction: { type: 'content', content: 'x' } });
    assert.deepEqual(body, { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
    assert.deepEqual(call.reported, ['user', 'metadata', 'store', 'verbosity', 'prompt_cache_key', 'prediction']);
  });

  test('of Google\'s own pass in either spelling, and new ones as they are', () => {
    const { body } = chat({ cached_content: 'cachedContents/1', safetySettings: [], media_resolution: 'MEDIA_RESOLUTION_LOW', generation_config: { enableEnhancedCivicAnswers: true }, tomorrow: 1, service_tier: 'flex' });
    assert.equal(at(body, 'cachedContent'), 'cachedContents/1');
    assert.deepEqual(at(body, 'safetySettings'), []);
    assert.deepEqual(at(body, 'generationConfig'), { mediaResolution: 'MEDIA_RESOLUTION_LOW', enableEnhancedCivicAnswers: true });
    assert.equal(at(body, 'tomorrow'), 1);
    assert.equal(at(body, 'serviceTier'), 'flex');
  });

  test('about thinking follow the generation of the model', () => {
    const of = (model: string, more: JsonObject, options: FakeCallOptions = { isStrict: false }): unknown => at(chat({ model, ...more }, options).body, 'generationConfig.thinkingConfig');
    assert.deepEqual(of('gemini-2.5-flash', { thinking: { type: 'disabled' } }), { thinkingBudget: 0 });
    assert.deepEqual(of('gemini-2.5-flash', { thinking: { type: 'adaptive' } }), { thinkingBudget: -1, includeThoughts: true });
    assert.deepEqual(of('gemini-2.5-flash', { reasoning_effort: 'none' }), { thinkingBudget: 0 });
    assert.deepEqual(of('gemini-2.5-flash', { reasoning_effort: 'medium' }), { thinkingBudget: 8192, includeThoughts: true });
    assert.deepEqual(of('gemini-2.5-flash', { reasoning_effort: 'high' }, { isStrict: true }), { thinkingBudget: 24576 });
    assert.deepEqual(of('gemini-3-pro-preview', { reasoning_effort: 'minimal' }), { thinkingLevel: 'LOW', includeThoughts: true });
    assert.deepEqual(of('gemini-3-flash-preview', { reasoning_effort: 'minimal' }), { thinkingLevel: 'MINIMAL', includeThoughts: true });
    assert.deepEqual(of('gemini-3-flash-preview', { thinking: { type: 'adaptive' }, reasoning_effort: 'high' }), { thinkingLevel: 'HIGH', includeThoughts: true });
    assert.equal(of('gemini-2.5-flash', {}), undefined);
    assert.deepEqual(of('gemini-2.5-pro', { reasoning_effort: 'none' }), { thinkingBudget: 128 });
    assert.equal(of('gemini-2.0-flash', { thinking: { type: 'disabled' } }), undefined);
    for (const model of ['gemini-2.0-flash', 'gemini-2.0-flash-lite-001', 'gemini-1.5-pro', 'gemma-3-27b-it', 'gemini-2.5-flash-image', 'gemini-2.5-flash-preview-tts']) {
      for (const [param, more] of [['reasoning_effort', { reasoning_effort: 'low' }], ['thinking', { thinking: { type: 'enabled', budget_tokens: 500 } }]] as const) {
        const asked = chat({ model, ...more }, { isStrict: false });
        assert.equal(at(asked.body, 'generationConfig'), undefined, model);
        assert.deepEqual(asked.call.reported, [param], model);
      }
    }
    const { call, body } = chat({ model: 'gemini-3-pro-preview', thinking: { type: 'disabled' } });
    assert.deepEqual(at(body, 'generationConfig.thinkingConfig'), { thinkingLevel: 'LOW' });
    assert.deepEqual(call.reported, ['thinking']);
  });
});

describe('tools', () => {
  test('of Google are called by many names, and never take the place of a client\'s own', () => {
    const of = (...tools: Json[]): unknown => at(chat({ tools }).body, 'tools');
    assert.deepEqual(of({ type: 'google_search' }, { googleMaps: {} }, { type: 'code_interpreter', container: { type: 'auto' } }), [{ googleSearch: {} }, { googleMaps: {} }, { codeExecution: {} }]);
    assert.deepEqual(of({ type: 'function', function: { name: 'google_search_retrieval', parameters: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } } }), [{ googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } }]);
    assert.deepEqual(of(tool('code_execution')), [{ functionDeclarations: [{ name: 'code_execution', parametersJsonSchema: { type: 'object', properties: { a: { type: 'string' } } } }] }]);
    assert.deepEqual(at(chat({ web_search_options: {} }).body, 'tools'), [{ googleSearch: {} }]);
  });

  test('of both kinds work side by side from Gemini 3 on', () => {
    const of = (model: string, more: JsonObject = {}): unknown => at(chat({ model, tools: [tool('f'), { type: 'google_search' }], ...more }).body, 'toolConfig');
    assert.deepEqual(of('gemini-3-flash-preview'), { includeServerSideToolInvocations: true, functionCallingConfig: { mode: 'VALIDATED' } });
    assert.deepEqual(of('gemini-3-flash-preview', { tool_choice: 'required' }), { includeServerSideToolInvocations: true, functionCallingConfig: { mode: 'ANY' } });
    assert.equal(of('gemini-2.5-flash'), undefined);
  });

  test('may be limited to some', () => {
    const of = (mode: string): unknown => at(chat({ tools: [tool('f'), tool('g')], tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'f' } }] } } }).body, 'toolConfig');
    assert.deepEqual(of('required'), { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } });
    assert.deepEqual(of('auto'), { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['f'] } });
  });
});

describe('answers', () => {
  const answerOf = (parts: Json, more: JsonObject = {}): JsonObject => ({ candidates: [{ content: { role: 'model', parts }, ...more }] });
  const choiceOf = (answer: JsonObject, body: JsonObject = {}, options: FakeCallOptions = {}): unknown => {
    const { spec, call } = chat(body, options);
    return at(spec.response?.(answer, call), 'choices.0');
  };

  test('finish in OpenAI\'s words', () => {
    for (const [native, finish] of [['STOP', 'stop'], ['MAX_TOKENS', 'length'], ['SAFETY', 'content_filter'], ['RECITATION', 'content_filter'], ['MALFORMED_FUNCTION_CALL', 'content_filter'], ['OTHER', 'content_filter'], ['NEW_WORD', 'stop']] as const) {
      assert.equal(at(choiceOf(answerOf([{ text: 'a' }], { finishReason: native })), 'finish_reason'), finish, native);
    }
  });

  test('hold images, for strict clients in the text', () => {
    const answer = answerOf([{ text: 'Here: ' }, { inlineData: { mimeType: 'image/png', data: 'YQ==' } }], { finishReason: 'STOP' });
    assert.deepEqual(at(choiceOf(answer, {}, { isStrict: false }), 'message.images'), [{ type: 'image_url', image_url: { url: 'data:image/png;base64,YQ==' } }]);
    assert.equal(at(choiceOf(answer), 'message.content'), 'Here: \n![image](data:image/png;base64,YQ==)\n');
  });

  test('hold sound in the format that was asked for', () => {
    const answer = answerOf([{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAB' } }], { finishReason: 'STOP' });
    const of = (format: string): unknown => at(choiceOf(answer, { modalities: ['text', 'audio'], audio: { voice: 'Kore', format } }), 'message.audio');
    assert.deepEqual(of('pcm16'), { id: 'audio_exchange1', data: 'AAAB', expires_at: 1_700_000_000, transcript: '' });
    assert.equal(Buffer.from(String(at(of('wav'), 'data')), 'base64').length, 47);
  });

  test('show code that Google ran', () => {
    const parts = [{ executableCode: { language: 'PYTHON', code: 'print(1)\n' } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } }];
    assert.equal(at(choiceOf(answerOf(parts)), 'message.content'), '\n```python\nprint(1)\n```\n\n```\n1\n```\n');
  });
});

describe('streams', () => {
  function streamed(events: readonly Json[], body: JsonObject = {}, options: FakeCallOptions = { isStrict: false }): { written: unknown[]; failed: Error | undefined } {
    const { spec, call } = chat({ stream: true, ...body }, options);
    const stage = spec.stream?.(call);
    const written: AnswerEvent['data'][] = [];
    let failed: Error | undefined;
    const out = { write: (event: AnswerEvent) => { written.push(event.data); }, end: () => {}, fail: (error: Error) => { failed = error; } };
    for (const event of events) stage?.push({ event: undefined, data: JSON.stringify(event) }, out);
    stage?.end(out);
    return { written, failed };
  }
  const part = (index: number, text: string, finishReason?: string): JsonObject => ({ candidates: [{ index, content: { parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }] });

  test('of several candidates keep them apart', () => {
    const { written, failed } = streamed([part(0, 'a'), part(1, 'b'), part(1, 'B', 'STOP'), part(0, 'A', 'MAX_TOKENS')], { n: 2 });
    assert.equal(failed, undefined);
    const texts = ['', ''];
    for (const choice of written.flatMap((chunk) => listAt(chunk, 'choices'))) texts[Number(at(choice, 'index'))] += String(at(choice, 'delta.content') ?? '');
    assert.deepEqual(texts, ['aA', 'bB']);
    assert.deepEqual(written.slice(-2).map((chunk) => at(chunk, 'choices.0.finish_reason')), ['length', 'stop']);
  });

  test('fail when one candidate never finished, or the prompt was all that came', () => {
    assert.match(String(streamed([part(0, 'a', 'STOP'), part(1, 'b')]).failed), /before the answer was complete/);
    assert.match(String(streamed([{ usageMetadata: { promptTokenCount: 1 } }]).failed), /before the answer was complete/);
  });

  test('of a blocked prompt finish with content_filter', () => {
    const { written, failed } = streamed([{ promptFeedback: { blockReason: 'SAFETY' } }]);
    assert.equal(failed, undefined);
    assert.equal(at(written, '-1.choices.0.finish_reason'), 'content_filter');
    assert.equal(at(written, '-1.choices.0.native_finish_reason'), 'SAFETY');
  });

  test('tell web sources once, though Google repeats them', () => {
    const grounding = { groundingChunks: [{ web: { uri: 'https://a.example', title: 'a' } }], groundingSupports: [{ segment: { endIndex: 2 }, groundingChunkIndices: [0] }] };
    const grounded = (finishReason?: string): JsonObject => ({ candidates: [{ content: { parts: [{ text: 'ab' }] }, groundingMetadata: grounding, ...(finishReason === undefined ? {} : { finishReason }) }] });
    const told = streamed([grounded(), grounded('STOP')]).written.flatMap((chunk) => listAt(chunk, 'choices.0.delta.annotations'));
    assert.deepEqual(told, [{ type: 'url_citation', url_citation: { start_index: 0, end_index: 2, url: 'https://a.example', title: 'a' } }]);
  });

  test('hide thoughts and signatures from strict clients', () => {
    const events = [{ candidates: [{ content: { parts: [{ text: 'hm', thought: true }] } }] }, { candidates: [{ content: { parts: [{ text: 'a', thoughtSignature: 's' }] }, finishReason: 'STOP' }] }];
    const { written } = streamed(events, {}, { isStrict: true });
    assert.ok(!/hm|thought|content_blocks|signature/.test(JSON.stringify(written)));
  });

  test('write nothing after an error', () => {
    const { written, failed } = streamed([{ error: { code: 429, message: 'too many', status: 'RESOURCE_EXHAUSTED' } }, part(0, 'a', 'STOP')]);
    assert.equal(failed?.message, 'too many');
    assert.ok(isProviderError(failed) && failed.status === 429);
    assert.deepEqual(written, []);
  });

  test('of sound are samples', () => {
    const { written } = streamed([{ candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AAAB' } }] }, finishReason: 'STOP' }] }], { modalities: ['audio'], audio: { voice: 'Kore', format: 'pcm16' } });
    assert.deepEqual(at(written, '1.choices.0.delta.audio'), { id: 'audio_exchange1', data: 'AAAB' });
  });
});

describe('speech', () => {
  const say = (more: JsonObject): { request: Json | undefined; answer: BinaryAnswer } => {
    const body = { model: 'gemini-2.5-flash-preview-tts', input: 'Hello', voice: 'Kore', ...more };
    const call = fakeCall(body, { endpoint: 'speech' });
    const spec = specOf(provider.endpoints.speech, call);
    const request = spec.request?.(body, call);
    const answer = spec.response?.({ candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAB' } }] } }] }, call);
    assert.ok(isBinaryAnswer(answer));
    return { request, answer };
  };

  test('is a chat that answers with samples', () => {
    const { request, answer } = say({ instructions: 'Say cheerfully:' });
    assert.deepEqual(request, {
      contents: [{ role: 'user', parts: [{ text: 'Say cheerfully: Hello' }] }],
      generationConfig: { responseModalities: ['AUDIO'], speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
    });
    assert.equal(answer.contentType, 'audio/wav');
    assert.equal(Buffer.from(answer.bytes).readUInt32LE(24), 24_000);
    assert.equal(say({ response_format: 'pcm' }).answer.bytes.length, 3);
  });

  test('in other formats is refused', () => {
    for (const more of [{ response_format: 'mp3' }, { speed: 2 }, { stream_format: 'sse' }]) assert.throws(() => say(more), Refusal);
  });
});

describe('images', () => {
  const draw = (body: JsonObject): { spec: EndpointSpec; call: FakeCall; request: Json | undefined } => {
    const call = fakeCall(body, { endpoint: 'imageGenerations' });
    const spec = specOf(provider.endpoints.imageGenerations, call);
    return { spec, call, request: spec.request?.(body, call) };
  };

  test('of Gemini are drawn by one call each', () => {
    const { spec, call, request } = draw({ model: 'gemini-2.5-flash-image', prompt: 'A cat', n: 2, size: '1536x1024' });
    const one = { contents: [{ role: 'user', parts: [{ text: 'A cat' }] }], generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } } };
    assert.equal(spec.isFanOut, true);
    assert.deepEqual(request, [one, one]);
    assert.deepEqual(call.reported, ['size']);
    const answer = { candidates: [{ content: { parts: [{ text: 'Here' }, { inlineData: { mimeType: 'image/png', data: 'YQ==' } }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 1290 } };
    assert.deepEqual(spec.response?.([answer, answer], call), {
      created: 1_700_000_000, data: [{ b64_json: 'YQ==' }, { b64_json: 'YQ==' }],
      usage: { input_tokens: 8, output_tokens: 2580, total_tokens: 2588, input_tokens_details: { text_tokens: 8, image_tokens: 0 } },
    });
  });

  test('that Google does not draw are refused', () => {
    const base = { model: 'imagen-4.0-generate-001', prompt: 'A cat' };
    for (const more of [{ n: 5 }, { size: '1000x300' }, { response_format: 'url' }, { background: 'transparent' }, { output_format: 'webp' }]) assert.throws(() => draw({ ...base, ...more }), Refusal);
  });
});

describe('embeddings', () => {
  test('of tokens are refused', () => {
    const call = fakeCall({ model: 'gemini-embedding-001', input: [[1, 2]] }, { endpoint: 'embeddings' });
    assert.throws(() => specOf(provider.endpoints.embeddings, call).request?.(call.body, call), Refusal);
  });
});
