// More than a thousand calls with hooks at once: services that answer late or never, clients that vanish at any moment. Every answer is right for
// its own question, and when all is over nothing is left open at the gateway, its providers and its services.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { testSeed } from '../support/seed.js';
import { chatChunks, sendJson, startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const requestCount = 1200;
const atOnce = 100;
/** How long a stop waits for open calls; there are none. */
const stopDeadlineMs = 20_000;
const closeWaitMs = 10_000;
const seed = testSeed;

/** mulberry32 */
let state = seed >>> 0;
function random(): number {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

const upstream = await startUpstream();
const judge = await startUpstream();
const gateway = await startTestGateway();

/** Answers that have not ended, at the provider and at the service. */
const open = new Set<ServerResponse>();
let noteClosed = (): void => undefined;
const track = (response: ServerResponse): void => {
  open.add(response);
  response.once('close', () => { open.delete(response); noteClosed(); });
};
const later = (work: () => void): void => { setTimeout(work, Math.floor(random() * 8)); };

/** The number that a text asks about. */
const numberIn = (text: string): number => Number(/n=(\d+);/.exec(text)?.[1]);
/** The service never speaks about these. */
const isMute = (n: number): boolean => n % 60 === 7;
const isFlagged = (n: number): boolean => n % 3 === 0;

const answerTo = (n: number): string => `answer ${n}; pin 1234${isFlagged(n) ? ' flagged' : ''} done`;

upstream.answer = (received, response) => {
  track(response);
  const body: any = received.json();
  const text = answerTo(numberIn(body.messages[0].content));
  later(() => {
    if (body.stream !== true) {
      sendJson(response, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } });
      return;
    }
    const chunks = chatChunks(text.match(/.{1,5}/g) ?? []).map((chunk) => `${chunk}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (): void => {
      if (response.destroyed) return;
      response.write(chunks.splice(0, 1 + Math.floor(random() * 5)).join(''));
      if (chunks.length === 0) response.end();
      else later(write);
    };
    write();
  });
};

judge.answer = (received, response) => {
  track(response);
  const asked: any = received.json();
  const n = numberIn(asked.request.text);
  if (isMute(n)) return;
  const isOutput = asked.eventType === 'afterRequestHook';
  const json = isOutput ? JSON.parse(JSON.stringify(asked.response.json).replace('1234', 'hidden')) : undefined;
  later(() => sendJson(response, 200, { verdict: !isFlagged(n), ...(isOutput ? { transformedData: { response: { json } } } : {}) }));
};

/** The deadline of a call is for the calls that the service leaves without an answer; the others may take what a busy machine takes. */
const serviceOf = (n: number): object => ({ 'default.webhook': { webhookURL: `${judge.url}/judge`, timeout: isMute(n) ? 400 : 25_000 } });
const flagged = { 'default.regexMatch': { rule: 'flagged', not: true } };

interface Expected { readonly status: number; readonly text: RegExp | null; readonly isDenied: boolean }
interface Kind { readonly config: (n: number) => object; readonly expected: (n: number, isStream: boolean) => Expected }

const whole = (n: number, pin = '1234'): RegExp => new RegExp(`^answer ${n}; pin ${pin}${isFlagged(n) ? ' flagged' : ''} done$`);
const fine = (n: number, status = 200, pin = '1234'): Expected => ({ status, text: whole(n, pin), isDenied: false });
const denied = (status = 446): Expected => ({ status, text: null, isDenied: true });

const kinds: readonly Kind[] = [
  { config: () => ({}), expected: (n) => fine(n) },
  { config: () => ({ input_guardrails: [flagged] }), expected: (n) => fine(n, isFlagged(n) ? 246 : 200) },
  { config: () => ({ input_guardrails: [{ ...flagged, deny: true }] }), expected: (n) => (isFlagged(n) ? denied() : fine(n)) },
  { config: () => ({ output_mutators: [{ 'default.regexReplace': { rule: '1234', redactText: 'hidden', lookBack: 16 } }] }), expected: (n) => (n === 1234 ? { status: 200, text: /hidden/, isDenied: false } : fine(n, 200, 'hidden')) },
  { config: () => ({ output_guardrails: [{ ...flagged, deny: true }] }), expected: (n, isStream) => (isFlagged(n) ? denied(isStream ? 200 : 446) : fine(n)) },
  { config: () => ({ output_guardrails: [{ 'default.regexMatch': { rule: 'flagged' }, deny: true }] }), expected: (n) => (isFlagged(n) ? fine(n) : denied()) },
  { config: (n) => ({ input_guardrails: [{ ...serviceOf(n), deny: true }] }), expected: (n) => (isFlagged(n) && !isMute(n) ? denied() : fine(n)) },
  { config: (n) => ({ input_guardrails: [serviceOf(n)] }), expected: (n) => fine(n, isFlagged(n) && !isMute(n) ? 246 : 200) },
  {
    config: (n) => ({ output_guardrails: [{ ...serviceOf(n), deny: true }] }),
    expected: (n) => (isMute(n) ? fine(n) : isFlagged(n) ? denied() : n === 1234 ? { status: 200, text: /hidden/, isDenied: false } : fine(n, 200, 'hidden')),
  },
  { config: (n) => ({ input_guardrails: [{ ...serviceOf(n), async: true }], output_guardrails: [{ ...serviceOf(n), async: true }] }), expected: (n) => fine(n) },
  { config: (n) => ({ input_guardrails: [serviceOf(n), flagged], output_guardrails: [{ 'default.pii': { redact: true, categories: ['EMAIL_ADDRESS'] } }, flagged] }), expected: (n) => fine(n, isFlagged(n) ? 246 : 200) },
];

const question = (n: number, isStream: boolean): string => JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `n=${n};${isFlagged(n) ? ' flagged' : ''}` }], stream: isStream });
const headersOf = (n: number, kind: Kind): Record<string, string> => ({
  'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...kind.config(n) }),
});

async function ask(n: number, kind: Kind, isStream: boolean): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: headersOf(n, kind), body: question(n, isStream) });
  const raw = await response.text();
  const { status, text, isDenied } = kind.expected(n, isStream);
  const where = `n=${n}, kind ${kinds.indexOf(kind)}, ${isStream ? 'streamed' : 'plain'}: ${raw.slice(0, 2000)}`;
  assert.equal(response.status, status, where);
  if (isDenied) {
    assert.match(raw, /guardrail checks/, where);
    assert.doesNotMatch(raw, /\[DONE\]|" done/, where);
    return;
  }
  const isEventStream = response.headers.get('content-type') === 'text/event-stream';
  assert.equal(isEventStream, isStream, where);
  const content = isEventStream
    ? raw.split('\n\n').filter((part) => part.startsWith('data: {')).map((part) => JSON.parse(part.slice(6)).choices[0]?.delta?.content ?? '').join('')
    : JSON.parse(raw).choices[0].message.content;
  if (text !== null) assert.match(content, text, where);
  if (isEventStream) assert.match(raw, /data: \[DONE\]\n\n$/, where);
}

/** Sends a call and is gone: at once, when so much has come, or a moment later. */
async function vanish(n: number, kind: Kind, isStream: boolean): Promise<void> {
  const wire = await openWire(gateway.port);
  const body = question(n, isStream);
  const lines = Object.entries({ host: 'g', ...headersOf(n, kind), 'content-length': String(body.length) });
  const bytes = `POST /v1/chat/completions HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
  const way = random();
  if (way < 0.1) wire.write(bytes.slice(0, Math.floor(random() * bytes.length)));
  else wire.write(bytes);
  if (way < 0.5) await new Promise<void>((resolve) => { setTimeout(resolve, Math.floor(random() * 25)); });
  else await wire.until((text) => text.length > 0 && (random() < 0.5 || /\}\s*$|\r\n0\r\n\r\n$|\[DONE\]/.test(text))).catch(() => undefined);
  wire.destroy();
}

describe(`a thousand calls with hooks (seed ${seed})`, () => {
  it('are each answered right, though clients vanish and services are late or silent', async (t) => {
    const left = Array.from({ length: requestCount }, (_, index) => index);
    let vanished = 0;
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (let n = left.pop(); n !== undefined; n = left.pop()) {
        const kind = kinds[Math.floor(random() * kinds.length)]!;
        const isStream = random() < 0.5;
        if (random() < 0.25) {
          vanished += 1;
          await vanish(n, kind, isStream);
        } else {
          await ask(n, kind, isStream);
        }
      }
    }));
    t.diagnostic(`seed ${seed}: ${requestCount} calls, ${vanished} of them left by their clients`);
  });

  it('leave nothing open behind them, and the gateway serves on', async () => {
    await ask(1, kinds[0]!, false);
    const from = performance.now();
    await gateway.stop(stopDeadlineMs);
    assert.ok(performance.now() - from < stopDeadlineMs, 'a call was still open at the gateway');
    // Ends of connections arrive a moment after they were made.
    const until = performance.now() + closeWaitMs;
    const deadline = setTimeout(() => noteClosed(), closeWaitMs);
    while (open.size > 0 && performance.now() < until) await new Promise<void>((resolve) => { noteClosed = resolve; });
    clearTimeout(deadline);
    assert.equal(open.size, 0, 'calls to the provider or the service are still open');
  });
});
