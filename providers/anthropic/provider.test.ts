import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import { completionToMessages } from './completions.js';
import { chatHeaders, clientHeaders } from './headers.js';
import { modelsAnswer } from './models.js';

test('headers of the client win over those of the config', () => {
  const credentials = { anthropic_beta: 'a', anthropic_version: '2023-01-01' };
  assert.deepEqual(clientHeaders(fakeCall()), {});
  assert.deepEqual(clientHeaders(fakeCall({}, { credentials })), { 'anthropic-version': '2023-01-01', 'anthropic-beta': 'a' });
  assert.deepEqual(clientHeaders(fakeCall({}, { credentials, headers: { 'anthropic-beta': 'b' } })), { 'anthropic-version': '2023-01-01', 'anthropic-beta': 'b' });
});

test('a file that was uploaded before brings its beta, once', () => {
  const body = { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file_1' } }] }] };
  assert.deepEqual(chatHeaders(fakeCall(body)), { 'anthropic-beta': 'files-api-2025-04-14' });
  assert.deepEqual(chatHeaders(fakeCall(body, { headers: { 'anthropic-beta': 'a, files-api-2025-04-14' } })), { 'anthropic-beta': 'a,files-api-2025-04-14' });
  assert.deepEqual(chatHeaders(fakeCall({ messages: [{ role: 'user', content: 'x' }] })), {});
});

test('a text completion takes one prompt', () => {
  const refuses = (body: Parameters<typeof completionToMessages>[0], param: string): void => {
    assert.throws(() => completionToMessages(body, fakeCall(body)), (error) => error instanceof Refusal && error.param === param);
  };
  refuses({ prompt: ['a', 'b'] }, 'prompt');
  refuses({ prompt: [1, 2] }, 'prompt');
  refuses({ prompt: 'a', echo: true }, 'echo');
  refuses({ prompt: 'a', suffix: 'b' }, 'suffix');
  refuses({ prompt: 'a', best_of: 2 }, 'best_of');
  refuses({ prompt: 'a', logprobs: 1 }, 'logprobs');
});

test('models are listed in the shape of the client', () => {
  const model = { type: 'model', id: 'claude-x', display_name: 'Claude X', created_at: '2025-02-19T00:00:00Z' };
  const list = { data: [model], has_more: false, first_id: 'claude-x', last_id: 'claude-x' };
  const common = { id: 'claude-x', object: 'model', created: 1739923200, owned_by: 'anthropic' };
  assert.deepEqual(modelsAnswer(list, fakeCall()), { object: 'list', data: [common] });
  assert.deepEqual(modelsAnswer(model, fakeCall()), common);
  assert.deepEqual(modelsAnswer(model, fakeCall({}, { isStrict: false })), { ...common, type: 'model', display_name: 'Claude X', created_at: '2025-02-19T00:00:00Z' });
  assert.equal(modelsAnswer(list, fakeCall({}, { headers: { 'anthropic-version': '2023-06-01' } })), list);
});
