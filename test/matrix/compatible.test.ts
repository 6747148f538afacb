// Every provider whose bodies are relayed, as strict as the strictest of them: an unknown role or limit is a 400. Real clients on the other side.

import Anthropic from '@anthropic-ai/sdk';
import type { EndpointSpec, ProviderPlugin } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';
import OpenAI from 'openai';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';

const folder = new URL('../../providers/', import.meta.url);
const chats: { id: string; spec: EndpointSpec; hasMessages: boolean }[] = [];
for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (!entry.isDirectory() || entry.name === 'common') continue;
  const plugin = (await import(new URL(`${entry.name}/provider.js`, folder).href)).default as ProviderPlugin;
  const chat = plugin.endpoints.chatCompletions;
  if (chat === undefined || typeof chat === 'function' || plugin.transport !== undefined) continue;
  const spec: EndpointSpec = typeof chat === 'string' ? { path: chat } : chat;
  if (spec.request === undefined && plugin.auth.type === 'bearer') chats.push({ id: entry.name, spec, hasMessages: plugin.endpoints.messages !== undefined });
}

const upstream = await startUpstream();
const gateway = await startTestGateway();
const headersFor = (provider: string) => ({ 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider, api_key: 'k', custom_host: `${upstream.url}/v1` }) });

/** Known to answer 400 to the role `developer`. */
const rejecting: ReadonlySet<string> = new Set(['deepseek', 'dashscope', 'zhipu', 'z-ai', 'moonshot', 'deepinfra', 'groq']);
/** Known not to have `max_completion_tokens`. */
const shortLived: ReadonlySet<string> = new Set(['deepseek', 'zhipu', 'z-ai', 'deepinfra', 'dashscope', 'together-ai', 'perplexity-ai']);

/** A server that knows what the provider's data say, and nothing beyond it. */
function beStrict(id: string, spec: EndpointSpec): void {
  upstream.received.length = 0;
  upstream.answer = (received, response) => {
    const body = received.json();
    const roles = (body.messages as { role: string }[]).map(({ role }) => role);
    const unknown = roles.find((role) => spec.roles?.[role] !== undefined || (role === 'developer' && rejecting.has(id)));
    const limit = spec.params?.max_completion_tokens?.rename;
    if (unknown !== undefined) return sendJson(response, 400, { error: { message: `${unknown} is not one of system, user, assistant, tool` } });
    if ((limit !== undefined || shortLived.has(id)) && 'max_completion_tokens' in body) return sendJson(response, 400, { error: { message: 'unknown field max_completion_tokens' } });
    const refused = ['logprobs', 'top_logprobs', 'logit_bias'].find((name) => spec.params?.[name]?.refuse !== undefined && name in body);
    if (refused !== undefined) return sendJson(response, 400, { error: { message: `property ${refused} is unsupported` } });
    sendJson(response, 200, chatCompletion);
  };
}

it('there are enough of them', () => assert.ok(chats.length > 40, String(chats.length)));

for (const { id, spec, hasMessages } of chats) {
  it(`${id} takes what the clients of others write today`, async () => {
    beStrict(id, spec);
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(id) });
    const answer = await client.chat.completions.create({
      model: 'm', messages: [{ role: 'developer', content: 'Be brief.' }, { role: 'user', content: 'Hello' }], max_completion_tokens: 50, logprobs: false, logit_bias: {},
    });
    assert.equal(answer.choices[0]?.message.content, 'Hello there.');
    const body = upstream.received[0]?.json() ?? {};
    assert.equal(body.max_tokens ?? body.max_completion_tokens, 50);
    assert.deepEqual((body.messages as { content: string }[]).map(({ content }) => content), ['Be brief.', 'Hello']);
    if (hasMessages) return;
    const message = await new Anthropic({ baseURL: gateway.url, apiKey: 'unused', maxRetries: 0, defaultHeaders: headersFor(id) })
      .messages.create({ model: 'm', max_tokens: 60, system: 'Be brief.', messages: [{ role: 'user', content: 'Hello' }] });
    assert.equal(message.content[0]?.type, 'text');
    const translated = upstream.received[1]?.json() ?? {};
    assert.equal(translated.max_tokens ?? translated.max_completion_tokens, 60);
  });
}
