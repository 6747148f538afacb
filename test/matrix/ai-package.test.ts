// The `ai` package with its own loop of tools, as applications use it, over every family.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { families } from './families.js';
import type { Family } from './family.js';
import { openai } from './openai.js';
import { startStage } from './stage.js';

const stage = await startStage(openai);
const gateway = await startTestGateway();
const calls = [
  { id: 'call00001', name: 'get_weather', args: { city: 'Köln' } },
  { id: 'call00002', name: 'get_time', args: { zone: 'Europe/Berlin' } },
] as const;
const usage = { input: 30, output: 12 };
const object = (name: string) => jsonSchema<Record<string, string>>({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
const tools = {
  get_weather: tool({ inputSchema: object('city'), execute: ({ city }) => `weather in ${city}` }),
  get_time: tool({ inputSchema: object('zone'), execute: ({ zone }) => `time in ${zone}` }),
};
const headersFor = (family: Family): Record<string, string> => ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify(family.target(stage.origin)) });

const clients: readonly { name: string; model: (family: Family) => LanguageModel; options?: { openai: { store: boolean } }; isStored?: boolean }[] = [
  {
    name: '@ai-sdk/openai-compatible',
    model: (family) => createOpenAICompatible({ name: 'gateway', baseURL: `${gateway.url}/v1`, headers: headersFor(family), includeUsage: true })(family.model),
  },
  { name: '@ai-sdk/anthropic', model: (family) => createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', headers: headersFor(family) })(family.model) },
  {
    name: '@ai-sdk/openai (responses)', options: { openai: { store: false } },
    model: (family) => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', headers: headersFor(family) }).responses(family.model),
  },
  {
    // Without `store: false` it sends references to the items of earlier answers, and no previous_response_id.
    name: '@ai-sdk/openai (responses, stored)', isStored: true,
    model: (family) => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', headers: headersFor(family) }).responses(family.model),
  },
];

for (const client of clients) {
  describe(client.name, () => {
    for (const family of families) {
      // Its own responses endpoint keeps nothing.
      if (client.isStored === true && family.name === 'groq') continue;
      for (const isStream of [false, true]) {
        it(`runs two tools over ${family.name}${isStream ? ', streamed' : ''}`, async () => {
          stage.play(family, [{ text: 'Looking.', toolCalls: calls, finish: 'tool_calls', usage }, { text: 'Sunny, noon.', finish: 'stop', usage }]);
          const settings = { model: client.model(family), prompt: 'Weather and time?', tools, stopWhen: stepCountIs(3), maxRetries: 0, maxOutputTokens: 500, providerOptions: client.options ?? {} };
          const faults: unknown[] = [];
          const result = isStream ? streamText({ ...settings, onError: ({ error }) => { faults.push(error); } }) : await generateText(settings);
          let text = '';
          try {
            text = await result.text;
          } catch (error) {
            faults.push(error);
          }
          assert.deepEqual(stage.faults, []);
          assert.deepEqual(faults.map(String), []);
          assert.equal(text, 'Sunny, noon.');
          assert.equal(await result.finishReason, 'stop');
          const total = await result.totalUsage;
          assert.deepEqual([total.inputTokens, total.outputTokens], [60, 24]);
          const turns = stage.seen[1]?.turns ?? [];
          assert.deepEqual(turns.map(({ role }) => role), ['user', 'assistant', 'tool', 'tool']);
          assert.deepEqual(turns.slice(2).map((turn) => [turn.toolName, turn.text]), [['get_weather', 'weather in Köln'], ['get_time', 'time in Europe/Berlin']]);
        });
      }
    }
  });
}
