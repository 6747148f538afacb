// Clients that speak a provider's own language, through the proxy: the gateway only routes and signs. First straight to the simulators, which
// shows that these speak as the official clients expect.

import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, type ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI, type GenerateContentParameters } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { anthropic } from './anthropic.js';
import { accessKeyId, bedrockClaude, secretAccessKey } from './bedrock.js';
import type { Family, Reply } from './family.js';
import { google } from './google.js';
import { startStage } from './stage.js';

const stage = await startStage(google);
const gateway = await startTestGateway();
const text = 'Grüße aus Köln 👋.';
const reply: Reply = {
  thinking: { text: 'Hm, the weather.', signature: 'c2lnbmF0dXJl' }, text, finish: 'tool_calls', usage: { input: 50, output: 9, cached: 20 },
  toolCalls: [{ id: 'tooluse_1', name: 'get_weather', args: { city: 'Köln' } }],
};
const headersFor = (family: Family): Record<string, string> => ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(family.target(stage.origin)) });

const routes = [{ name: 'straight', isGateway: false }, { name: 'through the gateway', isGateway: true }];

for (const { name, isGateway } of routes) {
  describe(`@google/genai, ${name}`, () => {
    const client = new GoogleGenAI({
      apiKey: isGateway ? 'unused' : 'AIza-matrix',
      httpOptions: isGateway ? { baseUrl: `${gateway.url}/v1/proxy`, apiVersion: '', headers: headersFor(google) } : { baseUrl: stage.origin },
    });
    const question: GenerateContentParameters = {
      model: google.model, contents: 'Weather?',
      config: { systemInstruction: 'Be brief.', tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } } }] }] },
    };
    it('generates content', async () => {
      stage.play(google, [reply]);
      const answer = await client.models.generateContent(question);
      assert.deepEqual(stage.faults, []);
      assert.equal(answer.text, text);
      assert.deepEqual(answer.functionCalls, [{ name: 'get_weather', args: { city: 'Köln' } }]);
      assert.equal(answer.usageMetadata?.promptTokenCount, 50);
      assert.deepEqual([stage.seen[0]?.system, stage.seen[0]?.tools], ['Be brief.', ['get_weather']]);
    });
    it('streams content', async () => {
      stage.play(google, [reply]);
      let heard = '';
      const called: unknown[] = [];
      for await (const chunk of await client.models.generateContentStream(question)) {
        heard += chunk.candidates?.[0]?.content?.parts?.filter((part) => part.thought !== true).map((part) => part.text ?? '').join('') ?? '';
        called.push(...(chunk.functionCalls ?? []));
      }
      assert.deepEqual(stage.faults, []);
      assert.equal(heard, text);
      assert.deepEqual(called, [{ name: 'get_weather', args: { city: 'Köln' } }]);
      assert.equal(stage.seen[0]?.isStream, true);
    });
  });

  describe(`@aws-sdk/client-bedrock-runtime, ${name}`, () => {
    const client = new BedrockRuntimeClient({
      region: 'us-east-1', maxAttempts: 1, requestHandler: new NodeHttpHandler(),
      endpoint: isGateway ? `${gateway.url}/v1/proxy` : stage.origin,
      credentials: isGateway ? { accessKeyId: 'AKIADUMMY', secretAccessKey: 'dummy' } : { accessKeyId, secretAccessKey },
    });
    if (isGateway) {
      client.middlewareStack.add((next) => (given) => {
        Object.assign((given.request as { headers: Record<string, string> }).headers, headersFor(bedrockClaude));
        return next(given);
      }, { step: 'build', name: 'gateway' });
    }
    const question: ConverseCommandInput = {
      modelId: bedrockClaude.model, system: [{ text: 'Be brief.' }], messages: [{ role: 'user', content: [{ text: 'Weather?' }] }],
      toolConfig: { tools: [{ toolSpec: { name: 'get_weather', inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } } } }] },
    };
    it('converses', async () => {
      stage.play(bedrockClaude, [reply]);
      const answer = await client.send(new ConverseCommand(question));
      assert.deepEqual(stage.faults, []);
      const content = answer.output?.message?.content ?? [];
      assert.equal(content[0]?.reasoningContent?.reasoningText?.signature, 'c2lnbmF0dXJl');
      assert.equal(content[1]?.text, text);
      assert.deepEqual(content[2]?.toolUse, { toolUseId: 'tooluse_1', name: 'get_weather', input: { city: 'Köln' } });
      assert.deepEqual([answer.stopReason, answer.usage?.cacheReadInputTokens], ['tool_use', 20]);
      assert.deepEqual([stage.seen[0]?.system, stage.seen[0]?.tools], ['Be brief.', ['get_weather']]);
    });
    it('converses in a stream', async () => {
      stage.play(bedrockClaude, [reply]);
      const answer = await client.send(new ConverseStreamCommand(question));
      let heard = '';
      let input = '';
      let stop: string | undefined;
      for await (const event of answer.stream ?? []) {
        heard += event.contentBlockDelta?.delta?.text ?? '';
        input += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
        stop = event.messageStop?.stopReason ?? stop;
      }
      assert.deepEqual(stage.faults, []);
      assert.deepEqual([heard, input, stop], [text, '{"city":"Köln"}', 'tool_use']);
    });
    it('hears of an error inside the stream', async () => {
      stage.play(bedrockClaude, [{ ...reply, streamError: { afterText: 'Once', message: 'too many tokens' } }]);
      const answer = await client.send(new ConverseStreamCommand(question));
      await assert.rejects(async () => { for await (const event of answer.stream ?? []) void event; }, /too many tokens/);
    });
  });
}

describe('@anthropic-ai/sdk, straight', () => {
  it('understands the simulator', async () => {
    const client = new Anthropic({ baseURL: stage.origin, apiKey: 'sk-ant-matrix', maxRetries: 0 });
    for (const isStream of [false, true]) {
      stage.play(anthropic, [reply]);
      const question = { model: anthropic.model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Weather?' }] };
      const answer = isStream ? await client.messages.stream(question).finalMessage() : await client.messages.create(question);
      assert.deepEqual(answer.content.map((block) => block.type), ['thinking', 'text', 'tool_use']);
      assert.deepEqual(answer.content[2]?.type === 'tool_use' && answer.content[2].input, { city: 'Köln' });
    }
  });
});
