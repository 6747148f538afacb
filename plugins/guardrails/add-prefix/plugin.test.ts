import type { Json } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import plugin from './plugin.js';

const prefix = 'P: ';
const system = { prefix, applyToRole: 'system' };
const assistant = { prefix, applyToRole: 'assistant' };
const own = { addToExisting: false };
const onlyIfEmpty = true;
const user = (content: Json): Json => ({ role: 'user', content });
const text = (given: string): Json => ({ type: 'text', text: given });
const image: Json = { type: 'image_url', image_url: { url: 'u' } };
const item = (role: string, content: Json): Json => ({ type: 'message', role, content });

conformGuardrail(plugin, {
  passes: [{ params: { prefix }, text: 'x' }, { params: { ...system, onlyIfEmpty }, body: { messages: [{ role: 'system', content: 'x' }] } }, { params: { prefix }, endpoint: 'embeddings', body: { input: 'x' } }],
  fails: [],
  errors: [
    { params: { prefix }, body: {}, message: /no list of messages/ },
    { params: { prefix }, body: [], message: /not a JSON object/ },
    { params: { prefix }, endpoint: 'messages', body: { messages: 'x' }, message: /no list of messages/ },
    { params: { prefix }, endpoint: 'completions', body: { prompt: [1, 2, 3] }, message: /tokens/ },
    { params: { prefix }, endpoint: 'responses', body: { input: 5 }, message: /neither a text nor a list/ },
  ],
  changes: [
    { params: { prefix }, text: 'hello', changed: 'P: hello' },
    // Chat.
    { params: { prefix }, body: { model: 'm', messages: [{ role: 'system', content: 's' }, user('one'), user('two')] }, changed: { model: 'm', messages: [{ role: 'system', content: 's' }, user('P: one'), user('two')] } },
    { params: { prefix }, body: { messages: [user([image, text('one'), text('two')])] }, changed: { messages: [user([image, text('P: one'), text('two')])] } },
    { params: { prefix }, body: { messages: [user([image])] }, changed: { messages: [user([text('P: '), image])] } },
    { params: { prefix }, body: { messages: [{ role: 'system', content: 's' }] }, changed: { messages: [{ role: 'system', content: 's' }, user('P: ')] } },
    { params: { prefix, ...own }, body: { messages: [{ role: 'system', content: 's' }, user('one')] }, changed: { messages: [{ role: 'system', content: 's' }, user('P: '), user('one')] } },
    { params: system, body: { messages: [user('one')] }, changed: { messages: [{ role: 'system', content: 'P: ' }, user('one')] } },
    { params: system, body: { messages: [{ role: 'developer', content: 'd' }, user('one')] }, changed: { messages: [{ role: 'developer', content: 'P: d' }, user('one')] } },
    { params: { ...system, ...own }, body: { messages: [{ role: 'system', content: 's' }] }, changed: { messages: [{ role: 'system', content: 'P: ' }, { role: 'system', content: 's' }] } },
    { params: assistant, body: { messages: [user('one')] }, changed: { messages: [user('one'), { role: 'assistant', content: 'P: ' }] } },
    {
      params: assistant, body: { messages: [user('one'), { role: 'assistant', content: null, tool_calls: [{ id: 't' }] }] },
      changed: { messages: [user('one'), { role: 'assistant', content: 'P: ', tool_calls: [{ id: 't' }] }] },
    },
    { params: { prefix, onlyIfEmpty }, body: { messages: [user('one')] }, changed: { messages: [user('one')] } },
    { params: { prefix, onlyIfEmpty }, body: { messages: [user(' ')] }, changed: { messages: [user('P:  ')] } },
    { params: { prefix, onlyIfEmpty }, body: { messages: [user([image])] }, changed: { messages: [user([image])] } },
    { params: { prefix: '🙂 $&' }, body: { messages: [user('one')] }, changed: { messages: [user('🙂 $&one')] } },
    // Messages.
    { params: system, endpoint: 'messages', body: { messages: [user('one')] }, changed: { messages: [user('one')], system: 'P: ' } },
    { params: system, endpoint: 'messages', body: { system: 's', messages: [user('one')] }, changed: { system: 'P: s', messages: [user('one')] } },
    {
      params: system, endpoint: 'messages', body: { system: [{ ...(text('s') as object), cache_control: { type: 'ephemeral' } }, text('t')], messages: [] },
      changed: { system: [{ type: 'text', text: 'P: s', cache_control: { type: 'ephemeral' } }, text('t')], messages: [] },
    },
    { params: { ...system, ...own }, endpoint: 'messages', body: { system: 's', messages: [] }, changed: { system: [text('P: '), text('s')], messages: [] } },
    { params: { ...system, ...own }, endpoint: 'messages', body: { system: [text('s')], messages: [] }, changed: { system: [text('P: '), text('s')], messages: [] } },
    { params: { ...system, onlyIfEmpty }, endpoint: 'messages', body: { system: '', messages: [] }, changed: { system: 'P: ', messages: [] } },
    { params: { prefix }, endpoint: 'messages', body: { messages: [user([text('one')])] }, changed: { messages: [user([text('P: one')])] } },
    {
      params: { prefix, ...own }, endpoint: 'messages', body: { messages: [user([{ type: 'tool_result', tool_use_id: 't', content: 'r' }])] },
      changed: { messages: [user([{ type: 'tool_result', tool_use_id: 't', content: 'r' }, text('P: ')])] },
    },
    { params: assistant, endpoint: 'messages', body: { messages: [user('one')] }, changed: { messages: [user('one'), { role: 'assistant', content: 'P:' }] } },
    { params: { prefix }, endpoint: 'countTokens', body: { messages: [user('one')] }, changed: { messages: [user('P: one')] } },
    // Responses.
    { params: { prefix }, endpoint: 'responses', body: { input: 'one' }, changed: { input: 'P: one' } },
    { params: { prefix, ...own }, endpoint: 'responses', body: { input: 'one' }, changed: { input: [item('user', 'P: '), item('user', 'one')] } },
    { params: { prefix }, endpoint: 'responses', body: {}, changed: { input: 'P: ' } },
    {
      params: { prefix }, endpoint: 'responses', body: { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }, { role: 'user', content: [{ type: 'input_text', text: 'one' }] }] },
      changed: { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }, { role: 'user', content: [{ type: 'input_text', text: 'P: one' }] }] },
    },
    {
      params: { prefix }, endpoint: 'responses', body: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'u' }] }] },
      changed: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'P: ' }, { type: 'input_image', image_url: 'u' }] }] },
    },
    { params: system, endpoint: 'responses', body: { input: 'one' }, changed: { input: 'one', instructions: 'P: ' } },
    { params: system, endpoint: 'responses', body: { instructions: 's', input: 'one' }, changed: { instructions: 'P: s', input: 'one' } },
    { params: { ...system, ...own }, endpoint: 'responses', body: { instructions: 's', input: 'one' }, changed: { instructions: 'P: \n\ns', input: 'one' } },
    { params: system, endpoint: 'responses', body: { input: [item('developer', 'd')] }, changed: { input: [item('developer', 'P: d')] } },
    { params: assistant, endpoint: 'responses', body: { input: 'one' }, changed: { input: [item('user', 'one'), item('assistant', 'P: ')] } },
    {
      params: assistant, endpoint: 'responses', body: { input: [item('assistant', [{ type: 'output_text', text: 'a', annotations: [] }])] },
      changed: { input: [item('assistant', [{ type: 'output_text', text: 'P: a', annotations: [] }])] },
    },
    // Completions.
    { params: { prefix }, endpoint: 'completions', body: { prompt: 'one' }, changed: { prompt: 'P: one' } },
    { params: system, endpoint: 'completions', body: { prompt: ['one', 'two'] }, changed: { prompt: ['P: one', 'P: two'] } },
    { params: assistant, endpoint: 'completions', body: { prompt: 'one' }, changed: { prompt: 'one' } },
    { params: { prefix, onlyIfEmpty }, endpoint: 'completions', body: { prompt: ['one', ''] }, changed: { prompt: ['one', 'P: '] } },
  ],
});

test('data says whether the prefix was put in', async () => {
  const check = await plugin.create(withDefaults(plugin.params, { prefix, onlyIfEmpty }) as never, fakeHost());
  const verdict = await check.evaluate(fakeCheckInput({ body: { messages: [user('one')] } }));
  assert.deepEqual(verdict, { pass: true, data: { prefix, applyToRole: 'user', addToExisting: true, onlyIfEmpty, applied: false, explanation: 'nothing was added: there is no user message that takes the prefix' } });
});
