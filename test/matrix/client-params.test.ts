// Parameters that real clients send to everybody, over the families that cannot take them: what is mapped, what is told, what is refused.

import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateObject, jsonSchema } from 'ai';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { anthropic } from './anthropic.js';
import { bedrock } from './bedrock.js';
import { cohere } from './cohere.js';
import type { Family } from './family.js';
import { google } from './google.js';
import { ollama } from './ollama.js';
import { groq, openai } from './openai.js';
import { startStage } from './stage.js';

const stage = await startStage(openai);
const gateway = await startTestGateway();
const usage = { input: 3, output: 4 };
const plain = { text: 'Fine.', finish: 'stop', usage } as const;
const messages = [{ role: 'user' as const, content: 'Hello' }];
const weather = { type: 'function' as const, function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } } };
const left = 'x-gateway-unsupported-params';

const headersFor = (family: Family, config: object = {}, more: Record<string, string> = {}): Record<string, string> =>
  ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ ...family.target(stage.origin), ...config }), ...more });
const openaiFor = (family: Family, config: object = {}, more: Record<string, string> = {}): OpenAI =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(family, config, more) });

async function ask(family: Family, members: object, config: object = {}, more: Record<string, string> = {}): Promise<{ text: string | null | undefined; told: string | null }> {
  stage.play(family, [plain]);
  const body: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: family.model, messages, ...members };
  const { data, response } = await openaiFor(family, config, more).chat.completions.create(body).withResponse();
  assert.deepEqual(stage.faults, []);
  return { text: data.choices[0]?.message.content, told: response.headers.get(left) };
}

describe('a structured answer of the ai package over messages', () => {
  for (const family of [google, cohere, ollama]) {
    it(family.name, async () => {
      stage.play(family, [{ toolCalls: [{ id: 'call00001', name: 'json', args: { city: 'Köln' } }], finish: 'tool_calls', usage }]);
      const model = createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', headers: headersFor(family) })(family.model);
      const schema = jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
      const result = await generateObject({ model, schema, prompt: 'Where?', maxRetries: 0 });
      assert.deepEqual([stage.faults, result.object], [[], { city: 'Köln' }]);
      assert.match(String(result.response.headers?.[left]), /tool_choice\.disable_parallel_tool_use/);
    });
  }
});

describe('a report', () => {
  it('names what was left out once, as the client wrote it', async () => {
    assert.equal((await ask(google, { tools: [weather], parallel_tool_calls: false })).told, 'parallel_tool_calls');
    assert.equal((await ask(ollama, { tools: [weather], tool_choice: 'required' })).told, 'tool_choice');
    assert.equal((await ask(anthropic, { reasoning_effort: 'low', temperature: 0.5 })).told, 'reasoning_effort');
    assert.equal((await ask(cohere, { web_search_options: {} })).told, 'web_search_options');
  });

  it('has the words of the messages and the responses dialect', async () => {
    stage.play(cohere, [plain]);
    const client = new Anthropic({ baseURL: gateway.url, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(cohere) });
    const body = { model: cohere.model, max_tokens: 50, messages, metadata: { user_id: 'u' }, output_config: { effort: 'low' as const } };
    const answer = await client.messages.create(body).withResponse();
    assert.deepEqual(answer.response.headers.get(left)?.split(',').sort(), ['metadata.user_id', 'output_config.effort']);
    stage.play(cohere, [plain]);
    const responded = await openaiFor(cohere).responses.create({ model: cohere.model, input: 'Hello', reasoning: { effort: 'low' }, text: { verbosity: 'low' }, store: false }).withResponse();
    assert.deepEqual(responded.response.headers.get(left)?.split(',').sort(), ['reasoning.effort', 'text.verbosity']);
  });
});

describe('response_format json_object', () => {
  for (const family of [anthropic, bedrock]) {
    it(`gives plain JSON over ${family.name}`, async () => {
      const json = '{"city":"Köln","note":"} {"}';
      const said = { text: `Here you are:\n\`\`\`json\n${json}\n\`\`\``, finish: 'stop', usage } as const;
      const body = { model: family.model, messages, response_format: { type: 'json_object' as const } };
      stage.play(family, [said, said]);
      const answer = await openaiFor(family).chat.completions.create(body);
      assert.equal(answer.choices[0]?.message.content, json);
      let streamed = '';
      for await (const chunk of await openaiFor(family).chat.completions.create({ ...body, stream: true })) streamed += chunk.choices[0]?.delta.content ?? '';
      assert.equal(streamed, json);
      assert.deepEqual(stage.faults, []);
      for (const seen of stage.seen) assert.match(seen.system, /one JSON object/);
    });
  }
});

describe('web_search_options', () => {
  it('become the tool of the provider', async () => {
    assert.deepEqual(await ask(anthropic, { web_search_options: { search_context_size: 'medium' } }), { text: 'Fine.', told: null });
    assert.deepEqual(stage.seen[0]?.tools, ['web_search']);
  });
});

describe('unsupported_params', () => {
  const refusal = async (run: () => Promise<unknown>): Promise<{ status: number; message: string }> => {
    try {
      await run();
    } catch (error) {
      assert.ok(error instanceof OpenAI.APIError);
      assert.equal(stage.seen.length, 0, 'nothing was sent');
      return { status: Number(error.status), message: error.message };
    }
    return assert.fail('it was not refused');
  };

  it('refuse: nothing is left out', async () => {
    for (const [config, header] of [[{ unsupported_params: 'refuse' }, {}], [{}, { [left]: 'refuse' }], [{ unsupported_params: 'omit' }, { [left]: 'refuse' }]] as const) {
      const { status, message } = await refusal(() => ask(anthropic, { seed: 5 }, config, header));
      assert.equal(status, 400);
      assert.match(message, /seed: anthropic: cannot take it/);
    }
    assert.deepEqual(await ask(anthropic, {}, { unsupported_params: 'refuse' }), { text: 'Fine.', told: null });
  });

  it('omit: all that can be left out is left out and told', async () => {
    for (const [config, header] of [[{ unsupported_params: 'omit' }, {}], [{}, { [left]: 'omit' }], [{ unsupported_params: 'refuse' }, { [left]: 'omit' }]] as const) {
      const { text, told } = await ask(anthropic, { n: 2, logprobs: true, seed: 5 }, config, header);
      assert.deepEqual([text, told?.split(',').sort()], ['Fine.', ['logprobs', 'n', 'seed']]);
    }
    const relayed = await ask(groq, { logit_bias: { 5: 1 }, n: 2 }, { unsupported_params: 'omit' });
    assert.deepEqual([relayed.text, relayed.told?.split(',').sort()], ['Fine.', ['logit_bias', 'n']]);
  });

  it('is inherited by targets, and refused when it is another word', async () => {
    const target = anthropic.target(stage.origin) as object;
    const group = { 'x-gateway-config': JSON.stringify({ strategy: { mode: 'fallback' }, unsupported_params: 'omit', targets: [target] }) };
    assert.equal((await ask(anthropic, { n: 2 }, {}, group)).told, 'n');
    stage.play(anthropic, []);
    assert.match((await refusal(() => ask(anthropic, {}, {}, { [left]: 'drop' }))).message, /x-gateway-unsupported-params: must be refuse or omit/);
    assert.match((await refusal(() => ask(anthropic, {}, { unsupported_params: 'drop' }))).message, /unsupported_params: must be one of refuse, omit/);
  });

  it('absent: what would change the answer is refused', async () => {
    assert.equal((await refusal(() => ask(anthropic, { n: 2 }))).status, 400);
    assert.equal((await refusal(() => ask(groq, { logit_bias: { 5: 1 } }))).status, 400);
  });
});
