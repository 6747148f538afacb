// The official clients with a base URL and one key, the gateway's, and nothing else: where calls go is stored, at the key or before the model.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { anthropic } from '../matrix/anthropic.js';
import type { Family, Reply } from '../matrix/family.js';
import { openai } from '../matrix/openai.js';
import { startStage } from '../matrix/stage.js';
import { startTestGateway } from '../support/gateway.js';
import { noDefaults, storedData } from '../support/stored.js';

const stage = await startStage(openai);
const { rows, environment } = await storedData();
const families = [openai, anthropic];
for (const family of families) {
  const { provider, api_key: key, custom_host: customHost } = family.target(stage.origin);
  await rows.integration(`of-${family.name}`, { key: String(key) }, { aiProviderId: String(provider), customHost: String(customHost), models: [
    { slug: family.model, name: null, enabled: true, is_custom: true, is_finetune: false, base_model_slug: null, custom_host: null, header_names: [], pricing_config: null },
  ] });
  await rows.provider(family.name, `of-${family.name}`);
  await rows.config(`pc-${family.name}`, { retry: { attempts: 1 }, strategy: { mode: 'fallback' }, targets: [{ provider: `@${family.name}` }] });
  await rows.key(`one-key-provider-${family.name}`, { defaults: { ...noDefaults, provider: `@${family.name}` } });
  await rows.key(`one-key-config-${family.name}`, { defaults: { ...noDefaults, config_id: `pc-${family.name}` } });
}
await rows.key('one-key-nothing-000');
const gateway = await startTestGateway(environment);

/** The ways in which stored rows route a call that brings one key and a model. */
const routes: readonly { readonly name: string; readonly keyOf: (family: Family) => string; readonly modelOf: (family: Family) => string }[] = [
  { name: 'the default provider of its key', keyOf: ({ name }) => `one-key-provider-${name}`, modelOf: ({ model }) => model },
  { name: 'the default config of its key', keyOf: ({ name }) => `one-key-config-${name}`, modelOf: ({ model }) => model },
  { name: 'the slug before its model', keyOf: () => 'one-key-nothing-000', modelOf: ({ name, model }) => `@${name}/${model}` },
];

const usage = { input: 30, output: 12 };
const hello: Reply = { text: 'Hello there.', finish: 'stop', usage };
const weather: Reply = { text: 'Looking.', toolCalls: [{ id: 'call00001', name: 'get_weather', args: { city: 'Köln' } }], finish: 'tool_calls', usage };
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

describe('the openai client with one key', () => {
  for (const family of families) {
    for (const { name, keyOf, modelOf } of routes) {
      it(`gets plain answers, streams and tools of ${family.name} by ${name}`, async () => {
        const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: keyOf(family), maxRetries: 0 });
        const model = modelOf(family);
        stage.play(family, [hello, hello, weather, hello]);
        const plain = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 50 });
        assert.equal(plain.choices[0]?.message.content, 'Hello there.');
        let text = '';
        for await (const chunk of await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 50, stream: true })) text += chunk.choices[0]?.delta.content ?? '';
        assert.equal(text, 'Hello there.');
        const asked = await client.chat.completions.create({
          model, messages: [{ role: 'user', content: 'Weather?' }], max_completion_tokens: 50, tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
        });
        const [call] = asked.choices[0]?.message.tool_calls ?? [];
        assert.ok(call?.type === 'function');
        assert.deepEqual(JSON.parse(call.function.arguments), { city: 'Köln' });
        const response = await client.responses.create({ model, input: 'Hi', max_output_tokens: 50, store: false });
        assert.equal(response.output_text, 'Hello there.');
        assert.deepEqual(stage.faults, []);
      });
    }
  }

  it('lists the models that its key may use, and calls one of them by that id', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'one-key-nothing-000', maxRetries: 0 });
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    assert.deepEqual(ids.toSorted(), families.map(({ name, model }) => `@${name}/${model}`).toSorted());
    stage.play(anthropic, [hello]);
    const answer = await client.chat.completions.create({ model: ids.find((id) => id.startsWith('@anthropic/')) ?? '', messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 50 });
    assert.equal(answer.choices[0]?.message.content, 'Hello there.');
  });
});

describe('the anthropic client with one key', () => {
  for (const family of families) {
    for (const { name, keyOf, modelOf } of routes) {
      it(`gets plain answers, streams and tools of ${family.name} by ${name}`, async () => {
        const client = new Anthropic({ baseURL: gateway.url, apiKey: keyOf(family), maxRetries: 0 });
        const model = modelOf(family);
        stage.play(family, [hello, hello, weather]);
        const asked = { model, max_tokens: 50, messages: [{ role: 'user' as const, content: 'Hi' }] };
        const plain = await client.messages.create(asked);
        assert.deepEqual(plain.content.map((part) => (part.type === 'text' ? part.text : part.type)), ['Hello there.']);
        assert.equal(await client.messages.stream(asked).finalText(), 'Hello there.');
        const tools = await client.messages.create({ ...asked, tools: [{ name: 'get_weather', input_schema: { ...schema, required: [...schema.required] } }] });
        const use = tools.content.find((part) => part.type === 'tool_use');
        assert.deepEqual(use?.input, { city: 'Köln' });
        assert.deepEqual(stage.faults, []);
      });
    }
  }
});

describe('the ai package with one key', () => {
  const clients: readonly { readonly name: string; readonly make: (key: string, model: string) => LanguageModel; readonly options?: { readonly openai: { readonly store: boolean } } }[] = [
    { name: 'openai (responses)', make: (apiKey, model) => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey }).responses(model), options: { openai: { store: false } } },
    { name: 'openai (chat)', make: (apiKey, model) => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey }).chat(model) },
    { name: 'anthropic', make: (apiKey, model) => createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey })(model) },
    { name: 'openai-compatible', make: (apiKey, model) => createOpenAICompatible({ name: 'gateway', baseURL: `${gateway.url}/v1`, apiKey })(model) },
  ];
  const tools = { get_weather: tool({ inputSchema: jsonSchema<{ city: string }>({ ...schema, required: [...schema.required] }), execute: ({ city }) => `weather in ${city}` }) };
  for (const client of clients) {
    for (const { name, keyOf, modelOf } of routes) {
      it(`runs a tool over ${client.name} by ${name}, plain and streamed`, async () => {
        for (const family of families) {
          for (const isStream of [false, true]) {
            stage.play(family, [weather, hello]);
            const settings = { model: client.make(keyOf(family), modelOf(family)), prompt: 'Weather?', tools, stopWhen: stepCountIs(3), maxRetries: 0, maxOutputTokens: 50, providerOptions: client.options ?? {} };
            const result = isStream ? streamText({ ...settings, onError: () => {} }) : await generateText(settings);
            assert.equal(await result.text, 'Hello there.', stage.faults.join());
            assert.deepEqual(stage.faults, []);
            assert.deepEqual(stage.seen[1]?.turns.filter(({ role }) => role === 'tool').map(({ text }) => text), ['weather in Köln']);
          }
        }
      });
    }
  }
});
