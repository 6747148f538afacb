import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParameterError } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const body = (model?: string) => ({ ...(model === undefined ? {} : { model }), messages: [{ role: 'user', content: 'hi' }] });

conformGuardrail(plugin, {
  passes: [
    { params: { models: ['gpt-4o', 'mock-1'] }, text: 'hi' },
    { params: { models: ['gpt-4o'] }, body: body('gpt-4o') },
    { params: { models: ['gpt-4o*'] }, body: body('gpt-4o-mini') },
    { params: { models: ['*'] }, body: body('anything') },
    { params: { models: ['@openai/*'] }, body: body('@openai/gpt-4o') },
    { params: { models: ['gpt-4o'], not: true }, body: body('gpt-4') },
    { params: { models: ['gpt-4o'], inverse: true }, body: body('gpt-4') },
    { params: { models: [' gpt-4o '] }, endpoint: 'embeddings', body: { model: 'gpt-4o', input: 'x' } },
  ],
  fails: [
    { params: { models: ['gpt-4o'] }, text: 'hi' },
    { params: { models: ['gpt-4o'] }, body: body('gpt-4o-mini') },
    { params: { models: ['gpt-4o'] }, body: body('GPT-4o') },
    { params: { models: ['gpt-4o'] }, body: body('') },
    { params: { models: ['*'] }, body: body() },
    { params: { models: ['gpt-4o'], not: true }, body: body() },
    { params: { models: ['gpt-4o'] }, body: { model: ['gpt-4o'] } },
    { params: { models: ['gpt-4o'] }, body: { model: 4 } },
    { params: { models: ['gpt-*'], not: true }, body: body('gpt-4') },
    { params: { models: ['gpt-*'], inverse: true, not: true }, body: body('gpt-4') },
  ],
  errors: [
    { params: { models: ['a'] }, endpoint: 'files', method: 'GET', path: '/v1/files', message: /names no model/ },
    { params: { models: ['a'] }, endpoint: 'responses', method: 'POST', path: '/v1/responses/resp_1/cancel', message: /names no model/ },
  ],
  refuses: [{ models: [] }, { models: [' '] }, { models: ['a*b'] }, { models: ['**'] }],
});

test('the verdict names the model and the list', async () => {
  const check = await plugin.create({ models: ['a', 'b*'], not: false, inverse: false }, fakeHost());
  assert.deepEqual((await check.evaluate(fakeCheckInput({ body: body('bc') }))).data, {
    explanation: 'the model of the request is allowed', requestedModel: 'bc', allowedModels: ['a', 'b*'],
  });
});

test('a star in the middle is refused with its place', () => {
  assert.throws(() => plugin.create({ models: ['a', 'b*c'], not: false, inverse: false }, fakeHost()), (thrown: unknown) => thrown instanceof ParameterError && thrown.path === 'models[1]');
});
