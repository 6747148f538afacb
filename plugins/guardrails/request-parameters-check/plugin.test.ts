import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointName, Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import { compileParameterRules } from './parameter-rules.js';
import plugin from './plugin.js';

const chat = { model: 'm', messages: [], tools: [{ type: 'function', function: { name: 'search' } }, { type: 'custom', custom: { name: 'shell' } }] };
const messages = { model: 'm', messages: [], tools: [{ name: 'search', input_schema: {} }, { type: 'web_search_20250305', name: 'web_search' }] };
const responses = { model: 'm', input: 'x', tools: [{ type: 'function', name: 'search' }, { type: 'web_search' }] };
const legacy = { model: 'm', messages: [], functions: [{ name: 'search' }] };
const tools = (rules: Json) => ({ tools: rules });
const params = (rules: Json) => ({ params: rules });
const values = (rules: Json) => params({ values: rules });

conformGuardrail(plugin, {
  passes: [
    { params: tools({ blockedTypes: ['mcp'] }), body: chat },
    { params: tools({ allowedTypes: ['function', 'custom'] }), body: chat },
    { params: tools({ allowedFunctionNames: ['search', 'shell'] }), body: chat },
    { params: tools({ allowedTypes: ['function', 'web_search_20250305'] }), endpoint: 'messages', body: messages },
    { params: tools({ allowedTypes: ['custom', 'web_search_20250305'] }), endpoint: 'messages', body: messages },
    { params: tools({ allowedFunctionNames: ['search', 'web_search'] }), endpoint: 'messages', body: messages },
    { params: tools({ allowedFunctionNames: ['search', 'web_search'] }), endpoint: 'responses', body: responses },
    { params: tools({ allowedFunctionNames: ['search'] }), body: legacy },
    { params: tools({ allowedFunctionNames: ['none'] }), text: 'no tools at all' },
    { params: params({ allowedKeys: ['model', 'messages', 'max_tokens', 'input'] }), text: 'hi' },
    { params: params({ blockedKeys: ['seed'] }), text: 'hi' },
    { params: values({ temperature: { allowedValues: [0, 1] } }), body: { temperature: 1 } },
    { params: values({ temperature: { allowedValues: [0, 1] } }), body: { model: 'm' } },
    { params: values({ modalities: { allowedValues: ['text', 'audio'] } }), body: { modalities: ['text'] } },
    { params: values({ stop: { allowedValues: [['a', 'b']] } }), body: { stop: ['a', 'b'] } },
    { params: values({ response_format: { allowedValues: [{ type: 'text', x: 1 }] } }), body: { response_format: { x: 1, type: 'text' } } },
    { params: values({ seed: { blockedValues: ['1'] } }), body: { seed: 1 } },
  ],
  fails: [
    { params: tools({ blockedTypes: ['function'] }), body: chat },
    { params: tools({ blockedTypes: ['custom'] }), body: chat },
    { params: tools({ blockedFunctionNames: ['shell'] }), body: chat },
    { params: tools({ allowedTypes: ['function'] }), body: chat },
    { params: tools({ allowedFunctionNames: ['search'] }), body: chat },
    { params: tools({ blockedTypes: ['function'] }), endpoint: 'messages', body: messages },
    { params: tools({ blockedTypes: ['web_search_20250305'] }), endpoint: 'messages', body: messages },
    { params: tools({ blockedFunctionNames: ['web_search'] }), endpoint: 'responses', body: responses },
    { params: tools({ blockedTypes: ['function'] }), body: legacy },
    { params: tools({ blockedFunctionNames: ['search'] }), body: legacy },
    { params: tools({ blockedFunctionNames: ['inner'] }), endpoint: 'responses', body: { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'inner' }] }] } },
    { params: params({ allowedKeys: ['model'] }), text: 'hi' },
    { params: params({ blockedKeys: ['model'] }), text: 'hi' },
    { params: params({ blockedKeys: ['user'] }), body: { user: null } },
    { params: values({ temperature: { allowedValues: [0, 1] } }), body: { temperature: 0.5 } },
    { params: values({ temperature: { blockedValues: [2] } }), body: { temperature: 2 } },
    { params: values({ modalities: { blockedValues: ['audio'] } }), body: { modalities: ['text', 'audio'] } },
    { params: values({ modalities: { allowedValues: ['text'] } }), body: { modalities: ['text', 'audio'] } },
    { params: values({ user: { allowedValues: ['a'] } }), body: { user: null } },
  ],
  errors: [{ params: params({ blockedKeys: ['a'] }), body: 'text', message: /no JSON body/ }],
  refuses: [
    {}, { tools: {} }, { tools: { allowedTypes: [] }, params: { values: {} } },
    { tools: { allowedTypes: ['a'], blockedTypes: ['a'] } }, { tools: { allowedFunctionNames: ['a'], blockedFunctionNames: ['b', 'a'] } },
    { params: { allowedKeys: ['a'], blockedKeys: ['a'] } }, { params: { values: { a: { allowedValues: [{ x: 1, y: 2 }], blockedValues: [{ y: 2, x: 1 }] } } } },
  ],
});

async function data(given: Parameters<typeof plugin.create>[0], body: Json, endpoint: EndpointName = 'chatCompletions'): Promise<Record<string, unknown>> {
  return (await (await plugin.create(given, fakeHost())).evaluate(fakeCheckInput({ body, endpoint }))).data as Record<string, unknown>;
}

test('every reason against a tool is given', async () => {
  const { blockedToolsFound, toolsInRequest } = await data(
    { tools: { blockedTypes: ['custom'], allowedTypes: ['function'], blockedFunctionNames: ['shell'], allowedFunctionNames: ['search'] } }, chat);
  assert.deepEqual(toolsInRequest, ['search', 'shell']);
  assert.deepEqual(blockedToolsFound, [{ type: 'custom', name: 'shell', reasons: ['type_blocked', 'name_blocked', 'type_not_allowed', 'name_not_allowed'] }]);
});

test('a tool without a name is called by its type', async () => {
  assert.deepEqual((await data({ tools: { blockedTypes: ['x'] } }, responses, 'responses')).toolsInRequest, ['search', 'web_search']);
});

test('every reason against a parameter is given', async () => {
  const { blockedParamsFound } = await data(
    { params: { allowedKeys: ['a'], blockedKeys: ['b'], values: { b: { allowedValues: [1], blockedValues: [2] } } } }, { a: 1, b: 2 });
  assert.deepEqual(blockedParamsFound, [{ param: 'b', value: 2, reasons: ['key_blocked', 'key_not_allowed', 'value_blocked', 'value_not_allowed'] }]);
});

test('what somebody wrote is not shown', async () => {
  const { blockedParamsFound } = await data({ params: { blockedKeys: ['prompt', 'messages', 'user'], values: { user: { blockedValues: ['u'] } } } }, { prompt: 'private', messages: ['private'], user: 'u' });
  assert.deepEqual(blockedParamsFound, [
    { param: 'prompt', reasons: ['key_blocked'] }, { param: 'messages', reasons: ['key_blocked'] }, { param: 'user', value: 'u', reasons: ['key_blocked', 'value_blocked'] },
  ]);
});

test('values are looked up, not compared each with each', async () => {
  const count = 3000;
  let reads = 0;
  /** A value that says when it is looked at. */
  const counted = (index: number): Json => ({ get value() { reads += 1; return index; }, other: [index, { b: 1, a: 2 }] });
  const rules = compileParameterRules({ values: { stop: { blockedValues: Array.from({ length: count }, (_, index) => ({ other: [index + count, { a: 2, b: 1 }], value: index + count })) } } });
  assert.deepEqual(rules?.({ stop: Array.from({ length: count }, (_, index) => counted(index)) }), []);
  assert.ok(reads <= count * 4, `${reads} reads of ${count} values`);
  assert.deepEqual(rules?.({ stop: [counted(count)] }).map(({ reasons }) => reasons), [['value_blocked']]);
});
