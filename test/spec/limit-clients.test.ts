// Limits as the official clients meet them: when they try again, when they give up at once and what they say then, and streams under a budget.

import { createOpenAI } from '@ai-sdk/openai';
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { APICallError, generateText, streamText } from 'ai';
import OpenAI, { APIError } from 'openai';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import { startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { storedData } from '../support/stored.js';
import { answerChat, answerStream, startUpstream } from '../support/upstream.js';

type Limits = Pick<Partial<ApiKeyRow>, 'rateLimits' | 'usageLimits'>;
type Client = 'openai' | 'anthropic' | 'ai';

const stored = await storedData();
const { rows } = stored;
const upstream = await startUpstream((received, response, request) =>
  ((received.json() as { stream?: boolean }).stream === true ? answerStream(['Hello ', 'there.']) : answerChat)(received, response, request));
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.provider('stored', 'main');

let keyCount = 0;
/** A key for each client. */
async function makeKeys(limits: Limits): Promise<Readonly<Record<Client, string>>> {
  const keys = { openai: '', anthropic: '', ai: '' };
  for (const client of ['openai', 'anthropic', 'ai'] as const) {
    keyCount += 1;
    keys[client] = `key-of-a-client-${String(keyCount).padStart(4, '0')}`;
    await rows.key(keys[client], { id: `00000000-0000-4000-8000-00000000${String(keyCount).padStart(4, '0')}`, name: 'My app', scopes: ['completions.write'], ...limits });
  }
  return keys;
}
const perSecond = await makeKeys({ rateLimits: [{ type: 'requests', unit: 'rps', value: 1 }] });
const perDay = await makeKeys({ rateLimits: [{ type: 'requests', unit: 'rpd', value: 0 }, { type: 'requests', unit: 'rpw', value: 1 }] });
const perWeek = await makeKeys({ rateLimits: [{ type: 'tokens', unit: 'rpw', value: 20 }] });
const budget = await makeKeys({ usageLimits: { type: 'tokens', credit_limit: 200, periodic_reset: 'monthly' } });
const gateway = await startTestGateway(stored.environment);
await withinOneDay();

let asked = 0;
const counted: typeof fetch = (...given) => {
  asked += 1;
  return fetch(...given);
};
const model = '@stored/gpt-test';
const messages = [{ role: 'user' as const, content: 'hi' }];
/** Resolve with the text of an answer. The clients try again by themselves as ever. */
const asks: Readonly<Record<Client, (key: string, isStream: boolean) => Promise<unknown>>> = {
  openai(apiKey, isStream) {
    const { completions } = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, fetch: counted }).chat;
    return isStream ? completions.stream({ model, messages }).finalContent() : completions.create({ model, messages }).then(({ choices }) => choices[0]?.message.content);
  },
  anthropic(apiKey, isStream) {
    const api = new Anthropic({ apiKey, baseURL: gateway.url, fetch: counted }).messages;
    const body = { model, messages, max_tokens: 20 };
    return isStream ? api.stream(body).finalText() : api.create(body).then(({ content: [part] }) => (part?.type === 'text' ? part.text : undefined));
  },
  async ai(apiKey, isStream) {
    const given = { model: createOpenAI({ apiKey, baseURL: `${gateway.url}/v1`, fetch: counted }).chat(model), messages };
    if (!isStream) return (await generateText(given)).text;
    const errors: unknown[] = [];
    let text = '';
    for await (const piece of streamText({ ...given, onError: ({ error }) => { errors.push(error); } }).textStream) text += piece;
    if (errors.length > 0) throw errors[0];
    return text;
  },
};
const errorOf = async (work: Promise<unknown>): Promise<unknown> => work.then(() => assert.fail('there is an answer'), (thrown: unknown) => thrown);

describe('limits and official clients', () => {
  it('they come again when a short window is over', async () => {
    const texts = await Promise.all((['openai', 'anthropic', 'ai'] as const).map(async (name) => [await asks[name](perSecond[name], false), await asks[name](perSecond[name], false)]));
    assert.deepEqual(texts.flat(), Array<string>(6).fill('Hello there.'));
  });

  it('they do not wait for days and weeks, nor for what never opens', { timeout: 120_000 }, async () => {
    for (const keys of [perDay, perWeek]) {
      if (keys === perWeek) for (const name of ['openai', 'anthropic'] as const) await asks[name](keys[name], false).catch(() => undefined);
      asked = 0;
      const ofOpenai = await errorOf(asks.openai(keys.openai, false));
      const ofAnthropic = await errorOf(asks.anthropic(keys.anthropic, true));
      assert.equal(asked, 2);
      assert.ok(ofOpenai instanceof APIError && ofAnthropic instanceof AnthropicError);
      assert.deepEqual([ofOpenai.status, ofOpenai.code, ofAnthropic.status], [429, 'key_rate_limited', 429]);
      for (const { message } of [ofOpenai, ofAnthropic]) {
        assert.match(message, keys === perDay ? /^429 the API key "My app" allows 0 requests a day, and no call passes until the limit is raised/ : /^429 the API key "My app" allows 20 tokens a week, and \d+ (?:is|are) left; this call needs \d+; try again in \d+ s/);
      }
      assert.equal(ofOpenai.headers?.get('retry-after') === null, keys === perDay);
    }
  });

  it('streams go on under a budget, and when it is used they say so, and what to do', async () => {
    for (const name of ['openai', 'anthropic', 'ai'] as const) {
      let thrown: unknown = null;
      for (let call = 0; thrown === null && call < 30; call += 1) {
        thrown = await asks[name](budget[name], true).then((text) => {
          assert.equal(text, 'Hello there.');
          return null;
        }, (error: unknown) => error);
        assert.ok(call > 0 || thrown === null, String(thrown));
      }
      assert.ok(thrown instanceof APIError || thrown instanceof AnthropicError || thrown instanceof APICallError);
      assert.equal(thrown instanceof APICallError ? thrown.statusCode : thrown.status, 412);
      // Their errors have no code; the type alone tells a budget from a faulty request.
      if (thrown instanceof AnthropicError) assert.equal(thrown.type, 'billing_error');
      assert.match(thrown.message, /^(?:412 )?the API key "My app" may use 200 tokens a month, and \d+ (?:is|are) left; this call needs \d+; raise the limit or wait for its reset/);
    }
  });
});
