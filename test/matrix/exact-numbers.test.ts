// Numbers with more digits than JavaScript holds: tool arguments, schemas and seeds, in every dialect over providers with formats of their
// own, there and back, plain and streamed. Compared as text, for JSON.parse would hide what is lost.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();
const id = '9007199254740993';
const input = `{"id":${id},"ids":[${id},12345678901234567890],"text":"${id}"}`;
const schema = `{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807}}}`;
const models: Record<string, string> = { anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash', ollama: 'qwen3', bedrock: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', cohere: 'command-a', groq: 'm' };

const config = (provider: string): string => JSON.stringify({
  provider, custom_host: provider === 'google' || provider === 'ollama' || provider === 'bedrock' || provider === 'cohere' ? upstream.url : `${upstream.url}/v1`,
  ...(provider === 'bedrock' ? { cloud1_access_key_id: 'a', cloud1_secret_access_key: 's', cloud1_region: 'us-east-1' } : { api_key: 'k' }),
});
const headersFor = (provider: string): Record<string, string> => ({ 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': config(provider) });

function play(body: string, type = 'application/json'): void {
  upstream.received.length = 0;
  upstream.answer = (_, response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
}

const toolUse = `{"type":"tool_use","id":"call00001","name":"get","input":${input}}`;
const anthropicAnswer = `{"id":"m","type":"message","role":"assistant","model":"c","content":[${toolUse}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`;
const googleAnswer = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"get","args":${input}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`;
const ollamaLine = `{"model":"q","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get","arguments":${input}}}]},"done":false}`;
const ollamaAnswer = ollamaLine.replace('"done":false', '"done":true,"done_reason":"stop"');
const bedrockAnswer = `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"call00001","name":"get","input":${input}}}]}},"stopReason":"tool_use"}`;
const answers: Record<string, string> = { anthropic: anthropicAnswer, google: googleAnswer, ollama: ollamaAnswer, bedrock: bedrockAnswer };
const streams: Record<string, readonly [string, string]> = {
  google: [`data: ${googleAnswer}\n\n`, 'text/event-stream'],
  ollama: [`${ollamaLine}\n{"model":"q","message":{"content":""},"done":true,"done_reason":"stop"}\n`, 'application/x-ndjson'],
};

const chatHistory = (model: string): OpenAI.ChatCompletionCreateParamsNonStreaming => ({
  model,
  messages: [
    { role: 'user', content: 'Get it' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'call00001', type: 'function', function: { name: 'get', arguments: input } }] },
    { role: 'tool', tool_call_id: 'call00001', content: 'done' },
  ],
});

for (const provider of Object.keys(answers)) {
  const model = models[provider] ?? '';
  describe(provider, () => {
    it('gets and gives the digits of tool arguments, over the openai client', async () => {
      play(answers[provider] ?? '');
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(provider) });
      const answer = await client.chat.completions.create(chatHistory(model));
      const call = answer.choices[0]?.message.tool_calls?.[0];
      assert.ok(call?.type === 'function');
      assert.equal(call.function.arguments, input);
      assert.ok(String(upstream.received[0]?.body).includes(input), String(upstream.received[0]?.body));
    });

    it('gets and gives them over messages, schemas included', async () => {
      play(answers[provider] ?? '');
      const body = `{"model":"${model}","max_tokens":50,"tools":[{"name":"get","input_schema":${schema}}],"messages":[{"role":"user","content":"Get"},{"role":"assistant","content":[${toolUse}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":"x"}]}]}`;
      const answer = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers: headersFor(provider), body });
      const text = await answer.text();
      assert.ok(text.includes(`"input":${input}`), text);
      const sent = String(upstream.received[0]?.body);
      assert.ok(sent.includes(input) && sent.includes('9223372036854775807'), sent);
    });

    const stream = streams[provider];
    if (stream === undefined) return;
    it('gives them in streams', async () => {
      play(...stream);
      const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(provider) });
      let written = '';
      for await (const chunk of await client.chat.completions.create({ ...chatHistory(model), stream: true })) written += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
      assert.equal(written, input);
    });
  });
}

describe('chat that is relayed', () => {
  const chatAnswer = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function","function":{"name":"get","arguments":${JSON.stringify(input)}}}]},"finish_reason":"tool_calls"}]}`;

  it('becomes messages with the digits, and comes back with them', async () => {
    play(chatAnswer);
    const body = `{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"Get"},{"role":"assistant","content":[${toolUse}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call00001","content":"x"}]}]}`;
    const text = await (await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers: headersFor('groq'), body })).text();
    assert.ok(text.includes(`"input":${input}`), text);
    assert.ok(String(upstream.received[0]?.body).includes(JSON.stringify(input)));
  });
});

describe('a kept answer', () => {
  it('is replayed with the digits', async () => {
    play(anthropicAnswer);
    const headers = { ...headersFor('anthropic'), 'x-gateway-config': JSON.stringify({ ...JSON.parse(config('anthropic')), cache: { mode: 'simple' } }) };
    const ask = async (isStream: boolean): Promise<Response> => fetch(`${gateway.url}/v1/messages`, {
      method: 'POST', headers, body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'Get' }], ...(isStream ? { stream: true } : {}) }),
    });
    assert.ok((await (await ask(false)).text()).includes(input));
    const hit = await ask(true);
    assert.equal(hit.headers.get('x-gateway-cache-status'), 'HIT');
    const events = (await hit.text()).split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
    assert.equal(events.map((event) => event.delta?.partial_json ?? '').join(''), input);
  });
});

describe('a seed', () => {
  for (const [provider, sent] of [['google', `"seed":${id}`], ['ollama', `"seed":${id}`], ['cohere', `"seed":${id}`]] as const) {
    it(`keeps its digits at ${provider}, and a limit is still a number`, async () => {
      play('{}');
      const body = `{"model":"${models[provider] ?? ''}","messages":[{"role":"user","content":"Hi"}],"seed":${id},"max_tokens":99999999999999999999}`;
      await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: headersFor(provider), body })).text();
      const text = String(upstream.received[0]?.body);
      assert.ok(text.includes(sent) && text.includes('100000000000000000000'), text);
    });
  }
});
