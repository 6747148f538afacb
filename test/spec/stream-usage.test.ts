// Streams under limits of tokens or cost, whose clients did not ask for usage: the provider is asked, and the client sees what it would without.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
import type { ApiKeyRow } from '../../core/storage/tables/api-keys.js';
import { startTestGateway } from '../support/gateway.js';
import { withinOneDay } from '../support/one-day.js';
import { storedData } from '../support/stored.js';
import { answerChat, chatChunks, startUpstream, type Answer, type Received } from '../support/upstream.js';

const { rows, environment } = await storedData();
const upstream = await startUpstream();
await rows.integration('main', { key: 'sk-1' }, { customHost: `${upstream.url}/v1` });
await rows.integration('other', { key: 'sk-1' }, { customHost: `${upstream.url}/v1`, aiProviderId: 'ovhcloud' });
await rows.provider('free', 'main');
await rows.provider('other', 'other');
const tokensMax = 100_000;
let keys = 0;
const keyOf = async (changes: Partial<ApiKeyRow>): Promise<string> => {
  keys += 1;
  const key = `key-of-streams-${String(keys).padStart(8, '0')}`;
  await rows.key(key, { id: `00000000-0000-4000-8000-${String(keys).padStart(12, '0')}`, ...changes });
  return key;
};
const limited = (): Promise<string> => keyOf({ rateLimits: [{ type: 'tokens', unit: 'rpd', value: tokensMax }] });
const names = ['raw', 'cut', 'library', 'completions', 'explicit', 'beside', 'refused', 'dropped', 'unknown', 'messages', 'responses', 'cached', 'hooks', 'mock', 'fresh'] as const;
const limitedKeys = new Map<string, string>();
for (const name of names) limitedKeys.set(name, await limited());
const requestsOnly = await keyOf({ rateLimits: [{ type: 'requests', unit: 'rpd', value: 1_000 }] });
const plain = await keyOf({});
const gateway = await startTestGateway(environment);
await withinOneDay();
const keyFor = (name: (typeof names)[number]): string => limitedKeys.get(name) as string;

const words = ['Hel', 'lo', ' there'];
/** 9 tokens of input, as many of output as there are words. */
const tokensTold = 9 + words.length;
const isAsked = (received: Received): boolean => (received.json().stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
/** As OpenAI has it: usage in an event of its own when it is asked for, and null in the others. */
function eventsFor(received: Received): string[] {
  const events = chatChunks(words);
  if (!isAsked(received)) return events.filter((event) => !event.includes('"usage"'));
  return events.map((event) => (event.includes('"usage"') || event.endsWith('[DONE]') ? event : event.replace(/\}$/, ',"usage":null}')));
}
const streams = (end = '\n', isCut = false): Answer => (received, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const bytes = Buffer.from(eventsFor(received).map((event) => event + end + end).join(''));
  if (!isCut) {
    response.end(bytes);
    return;
  }
  response.socket?.setNoDelay(true);
  let at = 0;
  const next = (): void => {
    if (at === bytes.length) response.end();
    else response.write(bytes.subarray(at, at += 1), () => setImmediate(next));
  };
  next();
};
interface Asked { readonly key: string; readonly body?: object; readonly path?: string; readonly config?: object; readonly provider?: string }
const post = ({ key, body = {}, path = '/chat/completions', config, provider = 'free' }: Asked): Promise<Response> => fetch(`${gateway.url}/v1${path}`, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...(config === undefined ? { 'x-gateway-provider': `@${provider}` } : { 'x-gateway-config': JSON.stringify(config) }) },
  body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], stream: true, ...body }),
});
/** What the client reads, and what the provider was sent. */
async function stream(asked: Asked, answer: Answer = streams()): Promise<{ readonly text: string; readonly sent: Received }> {
  upstream.answer = answer;
  const response = await post(asked);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return { text, sent: upstream.received.at(-1) as Received };
}
/** Tokens by which less is left for the key than for a fresh one. */
async function used(key: string): Promise<number> {
  upstream.answer = answerChat;
  const response = await post({ key, body: { stream: false, max_tokens: 1 } });
  await response.text();
  return fresh - Number(response.headers.get('x-ratelimit-remaining-tokens'));
}
let fresh = 0;
fresh = -await used(keyFor('fresh'));
assert.ok(fresh > 0);

const bodyOf = (body: object = {}): string => JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], stream: true, ...body });
const asking = `${bodyOf().slice(0, -1)},"stream_options":{"include_usage":true}}`;
/** All that is said, but for the event of nothing but usage. */
const withoutUsage = (end: string): string => chatChunks(words).filter((event) => !event.includes('"usage"')).map((event) => (event.endsWith('[DONE]') ? event : event.replace(/\}$/, ',"usage":null}')) + end + end).join('');

describe('a stream under a limit of tokens whose client did not ask for usage', () => {
  it('is asked for it, the rest of the body as it came, and the client gets no event of nothing but usage', async () => {
    for (const end of ['\n', '\r\n']) {
      const { text, sent } = await stream({ key: keyFor('raw') }, streams(end));
      assert.equal(sent.body.toString(), asking);
      assert.equal(text, withoutUsage(end));
    }
    assert.equal(await used(keyFor('raw')), 2 * tokensTold);
  });

  it('may come byte by byte', async () => {
    for (const end of ['\n', '\r\n']) assert.equal((await stream({ key: keyFor('cut') }, streams(end, true))).text, withoutUsage(end));
    assert.equal(await used(keyFor('cut')), 2 * tokensTold);
  });

  it('is to the client library of OpenAI what it would be without the limit', async () => {
    upstream.answer = streams();
    const read = async (key: string): Promise<object[]> => {
      const client = new OpenAI({ apiKey: 'sk', baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: { 'x-gateway-api-key': key, 'x-gateway-provider': '@free' } });
      const seen: object[] = [];
      for await (const { usage, ...chunk } of await client.chat.completions.create({ model: 'gpt-test', stream: true, messages: [{ role: 'user', content: 'hi' }] })) {
        assert.equal(usage ?? null, null);
        seen.push(chunk);
      }
      return seen;
    };
    const seen = await read(keyFor('library'));
    assert.equal(seen.length, words.length + 2);
    assert.deepEqual(seen, await read(plain));
    assert.equal(await used(keyFor('library')), tokensTold);
  });

  it('is asked on the route of text completions, too', async () => {
    const { text, sent } = await stream({ key: keyFor('completions'), path: '/completions', body: { messages: undefined, prompt: 'hi' } });
    assert.deepEqual([isAsked(sent), text], [true, withoutUsage('\n')]);
    assert.equal(await used(keyFor('completions')), tokensTold);
  });

  it('of the mock provider is asked as well', async () => {
    const response = await post({ key: keyFor('mock'), config: { provider: 'mock' } });
    const text = await response.text();
    assert.match(text, /\[DONE\]/);
    assert.doesNotMatch(text, /total_tokens/);
  });
});

describe('what the call or its config says of stream_options', () => {
  it('wins: usage that the client asked for comes as it was sent', async () => {
    const body = { stream_options: { include_usage: true } };
    const { text, sent } = await stream({ key: keyFor('explicit'), body });
    assert.equal(sent.body.toString(), bodyOf(body));
    assert.match(text, /"choices":\[\],"usage":\{/);
    assert.equal(await used(keyFor('explicit')), tokensTold);
  });

  it('wins: usage that it says it does not want is not asked for, and estimated', async () => {
    const body = { stream_options: { include_usage: false } };
    const { sent } = await stream({ key: keyFor('refused'), body });
    assert.equal(sent.body.toString(), bodyOf(body));
    assert.ok(await used(keyFor('refused')) > 0);
  });

  it('stays beside what is asked', async () => {
    const { text, sent } = await stream({ key: keyFor('beside'), body: { stream_options: { include_obfuscation: false } } });
    assert.deepEqual(sent.json().stream_options, { include_obfuscation: false, include_usage: true });
    assert.equal(text, withoutUsage('\n'));
  });

  it('by drop_params: the provider does not know it', async () => {
    const { sent } = await stream({ key: keyFor('dropped'), config: { provider: '@free', drop_params: ['stream_options'] } });
    assert.equal(sent.body.toString(), bodyOf());
  });
});

describe('nobody is asked', () => {
  it('where no limit counts tokens or cost', async () => {
    for (const key of [plain, requestsOnly]) assert.equal((await stream({ key })).sent.body.toString(), bodyOf());
  });

  it('whose documentation does not say that it would answer', async () => {
    assert.equal((await stream({ key: keyFor('unknown'), provider: 'other' })).sent.body.toString(), bodyOf());
  });
});

describe('usage that was asked for', () => {
  it('is told in the dialect of the client where it is another one', async () => {
    const messages = await stream({ key: keyFor('messages'), provider: 'other', path: '/messages', body: { max_tokens: 50 } });
    assert.deepEqual([isAsked(messages.sent), /"output_tokens":3/.test(messages.text)], [true, true]);
    const responses = await stream({ key: keyFor('responses'), provider: 'other', path: '/responses', body: { messages: undefined, input: 'hi' } });
    assert.deepEqual([isAsked(responses.sent), /"output_tokens":3/.test(responses.text)], [true, true]);
    assert.deepEqual([await used(keyFor('messages')), await used(keyFor('responses'))], [tokensTold, tokensTold]);
  });

  it('is kept with the answer in a cache, for those who ask for it', async () => {
    const config = { provider: '@free', cache: { mode: 'simple' } };
    const first = await stream({ key: keyFor('cached'), config });
    assert.equal(isAsked(first.sent), true);
    assert.doesNotMatch(first.text, /total_tokens/);
    const before = upstream.received.length;
    const again = await post({ key: keyFor('cached'), config });
    assert.doesNotMatch(await again.text(), /total_tokens/);
    const asked = await post({ key: keyFor('cached'), config, body: { stream_options: { include_usage: true } } });
    assert.match(await asked.text(), /"total_tokens":12/);
    assert.deepEqual([again.headers.get('x-gateway-cache-status'), asked.headers.get('x-gateway-cache-status'), upstream.received.length], ['HIT', 'HIT', before]);
    assert.equal(await used(keyFor('cached')), tokensTold);
  });

  it('is seen by hooks, and not by the client, whether they look on, hold the stream or write it anew', async () => {
    const lookBack = { 'default.regexMatch': { rule: 'zzz+', not: true }, deny: true };
    const whole = { 'default.regexMatch': { rule: 'Hello|Bye' }, deny: true };
    const redacts = { 'default.regexReplace': { rule: 'Hello', redactText: 'Bye' } };
    const said: readonly (readonly [readonly object[], string])[] = [[[lookBack], 'Hello there'], [[whole], 'Hello there'], [[redacts, whole], 'Bye there']];
    for (const [guardrails, expected] of said) {
      const { text, sent } = await stream({ key: keyFor('hooks'), config: { provider: '@free', output_guardrails: guardrails } });
      assert.equal(isAsked(sent), true);
      assert.doesNotMatch(text, /total_tokens/);
      assert.equal([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join(''), expected, text);
    }
    assert.equal(await used(keyFor('hooks')), said.length * tokensTold);
  });
});
