import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const stage = 'output';
const not = true;
const chat = (...messages: object[]) => ({ choices: messages.map((message) => ({ message })) }) as never;

conformGuardrail(plugin, {
  passes: [
    { stage, text: 'hello' },
    { stage, text: '0' },
    { answer: chat({ content: [{ type: 'text', text: ' ' }, { type: 'text', text: 'x' }] }) },
    { answer: chat({ content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }) },
    { answer: chat({ content: null, function_call: { name: 'f', arguments: '' } }) },
    { answer: chat({ content: null, refusal: 'I cannot' }) },
    { answer: chat({ content: null, audio: { id: 'a', transcript: '' } }) },
    { answer: chat({ content: null, images: [{ type: 'image_url' }] }) },
    { endpoint: 'messages', answer: { content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] } },
    { endpoint: 'responses', answer: { output: [{ type: 'reasoning', summary: [] }, { type: 'function_call', name: 'f', arguments: '{}' }] } },
    { endpoint: 'responses', answer: { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'no' }] }] } },
    { endpoint: 'completions', answer: { choices: [{ text: 'x' }] } },
    { endpoint: 'embeddings', answer: { data: [{ embedding: [1] }] } },
    { endpoint: 'transcriptions', answer: { text: 'hello' } },
    { params: { not }, stage, text: '' },
    { params: { not }, answer: chat({ content: null }, { content: '' }) },
    { params: { not }, answer: { choices: [] } },
  ],
  fails: [
    { stage, text: '' },
    { stage, text: ' \n\t\u00a0' },
    { answer: chat({ content: null }) },
    { answer: chat({}) },
    { answer: chat({ content: [] }) },
    { answer: chat({ content: [{ type: 'text', text: ' ' }, { type: 'text', text: '' }] }) },
    { answer: chat({ content: '', tool_calls: [] }) },
    { answer: chat({ content: '', reasoning_content: 'let me think' }) },
    { answer: chat({ content: 'x' }, { content: null }) },
    { answer: { choices: [] } },
    { stage, answer: {} },
    { answer: null },
    { endpoint: 'messages', answer: { content: [] } },
    { endpoint: 'messages', answer: { content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, { type: 'text', text: '' }] } },
    { endpoint: 'responses', answer: { output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] } },
    { endpoint: 'completions', answer: { choices: [{ text: '' }] } },
    { endpoint: 'embeddings', answer: { data: [] } },
    { params: { not }, stage, text: 'x' },
    { params: { not }, answer: chat({ content: null }, { content: 'x' }) },
  ],
});

test('data says what the content is', async () => {
  const check = await plugin.create(withDefaults(plugin.params, {}) as never, fakeHost());
  const dataOf = async (answer: never) => (await check.evaluate(fakeCheckInput({ answer }))).data;
  assert.deepEqual(await dataOf(chat({ content: null })), { isNull: true, contentType: 'null', explanation: 'the answer has no content' });
  assert.deepEqual(await dataOf(chat({ content: [{ type: 'text', text: '' }] })), { isNull: true, contentType: 'array', textArrayLength: 1, explanation: 'the answer has no content' });
  assert.deepEqual(await dataOf(chat({ content: 'x' }, {})), { isNull: true, contentType: 'undefined', choice: 1, explanation: 'choice 1 has no content' });
  assert.deepEqual(await dataOf(chat({ content: 'x' })), { isNull: false, contentType: 'string', explanation: 'the answer has content' });
});
