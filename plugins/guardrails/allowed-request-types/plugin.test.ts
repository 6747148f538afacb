import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointNames, ParameterError, requestTypeOf, requestTypes } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeExchange, fakeHost } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

conformGuardrail(plugin, {
  passes: [
    { text: 'hi' },
    { params: { allowedTypes: ['chatComplete', 'messages', 'createModelResponse'] }, text: 'hi' },
    { params: { allowedTypes: 'chatComplete, messages,createModelResponse,' }, text: 'hi' },
    { params: { blockedTypes: ['embed'] }, text: 'hi' },
    { params: { allowedTypes: ['listFiles'], blockedTypes: 'uploadFile' }, endpoint: 'files', method: 'GET', path: '/v1/files' },
    { params: { allowedTypes: [], blockedTypes: '' }, text: 'hi' },
  ],
  fails: [
    { params: { allowedTypes: ['embed'] }, text: 'hi' },
    { params: { blockedTypes: 'chatComplete,messages,createModelResponse' }, text: 'hi' },
    { params: { blockedTypes: ['uploadFile'] }, endpoint: 'files', method: 'POST', path: '/v1/files' },
    // The caller must not be able to widen the list.
    { params: { allowedTypes: ['embed'] }, metadata: { supported_endpoints: 'chatComplete', allowedTypes: 'chatComplete' }, body: {} },
    { params: { blockedTypes: ['embed'] }, endpoint: 'embeddings', metadata: { supported_endpoints: ['embed'] }, body: {} },
  ],
  refuses: [{ allowedTypes: ['chat'] }, { blockedTypes: 'embed,nope' }, { allowedTypes: ['embed'], blockedTypes: ['embed'] }, { allowedTypes: 7 }, { allowedTypes: [7] }, { blockedTypes: { embed: true } }],
});

test('the kind of a request follows from endpoint, method and path', () => {
  const cases = [
    ['files', 'POST', '/v1/files', 'uploadFile'], ['files', 'GET', '/v1/files', 'listFiles'], ['files', 'GET', '/v1/files/file-1', 'retrieveFile'],
    ['files', 'DELETE', '/v1/files/file-1', 'deleteFile'], ['files', 'GET', '/v1/files/file-1/content', 'retrieveFileContent'],
    ['batches', 'POST', '/v1/batches', 'createBatch'], ['batches', 'GET', '/v1/batches', 'listBatches'], ['batches', 'GET', '/v1/batches/', 'listBatches'],
    ['batches', 'GET', '/v1/batches/b1', 'retrieveBatch'], ['batches', 'POST', '/v1/batches/b1/cancel', 'cancelBatch'], ['proxy', 'GET', '/v1/batches/b1/output', 'getBatchOutput'],
    ['fineTuning', 'POST', '/v1/fine_tuning/jobs', 'createFinetune'], ['fineTuning', 'GET', '/v1/fine_tuning/jobs', 'listFinetunes'],
    ['fineTuning', 'GET', '/v1/fine_tuning/jobs/j1', 'retrieveFinetune'], ['fineTuning', 'GET', '/v1/fine_tuning/jobs/j1/events', 'retrieveFinetune'],
    ['fineTuning', 'POST', '/v1/fine_tuning/jobs/j1/cancel', 'cancelFinetune'],
    ['responses', 'POST', '/v1/responses', 'createModelResponse'], ['responses', 'GET', '/v1/responses/r1', 'getModelResponse'],
    ['responses', 'DELETE', '/v1/responses/r1', 'deleteModelResponse'], ['responses', 'GET', '/v1/responses/r1/input_items', 'listResponseInputItems'],
    ['responses', 'POST', '/v1/responses/r1/cancel', 'cancelModelResponse'],
    ['countTokens', 'POST', '/v1/messages/count_tokens', 'messagesCountTokens'], ['models', 'GET', '/v1/models', 'listModels'],
    ['proxy', 'POST', '/v1/proxy/chat/completions', 'proxy'], ['proxy', 'GET', '/v1/realtime', 'realtime'], ['proxy', 'POST', '/v1/batches/b1/output', 'proxy'],
    ['imageEdits', 'POST', '/v1/images/edits', 'imageEdit'], ['speech', 'POST', '/v1/audio/speech', 'createSpeech'],
  ] as const;
  for (const [endpoint, method, path, expected] of cases) assert.equal(requestTypeOf(fakeExchange({ endpoint, method, path })), expected, `${method} ${path}`);
});

test('every endpoint has a kind that a config may name', () => {
  for (const endpoint of endpointNames) assert.ok(requestTypes.includes(requestTypeOf(fakeExchange({ endpoint }))), endpoint);
});

test('an unknown name is refused with the known ones', () => {
  assert.throws(() => plugin.create({ allowedTypes: ['chatCompletion'] }, fakeHost()), (thrown: unknown) =>
    thrown instanceof ParameterError && thrown.path === 'allowedTypes' && /chatCompletion; known are complete, chatComplete,/.test(thrown.message));
});

test('the verdict says the kind and the mode', async () => {
  const data = async (params: { allowedTypes?: object; blockedTypes?: object }) => {
    const { currentRequestType, mode, source } = (await (await plugin.create(params, fakeHost())).evaluate(fakeCheckInput())).data as Record<string, unknown>;
    return [currentRequestType, mode, source];
  };
  assert.deepEqual(await data({}), ['chatComplete', 'unrestricted', 'none']);
  assert.deepEqual(await data({ allowedTypes: ['embed'] }), ['chatComplete', 'allowlist', 'parameters']);
  assert.deepEqual(await data({ blockedTypes: ['embed'] }), ['chatComplete', 'blocklist', 'parameters']);
  assert.deepEqual(await data({ allowedTypes: ['embed'], blockedTypes: ['proxy'] }), ['chatComplete', 'combined', 'parameters']);
});
