// Answers that many clients share while they are on their way: clients that stop reading, that vanish, that come late, first ones that leave
// at every event. Whoever stays gets the whole answer, the same for all, from one call to the provider.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { chatChunks, sendJson, startUpstream } from '../support/upstream.js';

const upstream = await startUpstream();
const gateway = await startTestGateway();

/** mulberry32 */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words = ['one ', 'two ', 'three ', 'pin 12', '34 ', 'four ', 'five'];
const events = chatChunks(words).map((chunk) => `${chunk}\n\n`);
/** Waits for the end of the provider's answer where it may be kept. */
const last = events.at(-1);
const shared = { cache: { mode: 'simple', share_in_flight: true } };

let questions = 0;
const fresh = (stream = true): object => { questions += 1; return { model: 'm', messages: [{ role: 'user', content: `shared question ${questions}` }], stream }; };

class Reader {
  text = '';
  readonly #leaving = new AbortController();
  readonly #response: Promise<Response>;
  #body: ReadableStreamDefaultReader<Uint8Array> | null = null;

  constructor(body: object, config: object = shared) {
    this.#response = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST', body: JSON.stringify(body), signal: this.#leaving.signal,
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': apiKey, 'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk', custom_host: `${upstream.url}/v1`, ...config }) },
    });
    this.#response.catch(() => undefined);
  }

  async head(): Promise<{ status: number; cache: string | null }> {
    const response = await this.#response;
    return { status: response.status, cache: response.headers.get('x-gateway-cache-status') };
  }

  /** Reads on until the text fits, or ends. */
  async until(fits: (text: string) => boolean): Promise<string> {
    this.#body ??= (await this.#response).body!.getReader();
    while (!fits(this.text)) {
      const { done, value } = await this.#body.read();
      if (done) break;
      this.text += Buffer.from(value).toString();
    }
    return this.text;
  }

  whole(): Promise<string> { return this.until(() => false); }
  leave(): void { this.#leaving.abort(); }
}

interface Open { readonly response: ServerResponse; readonly closed: Promise<void> }

/** The next calls to the provider, which answers them by hand. */
function byHand(): { readonly calls: Open[]; readonly next: () => Promise<Open> } {
  const calls: Open[] = [];
  const waiting: ((call: Open) => void)[] = [];
  upstream.answer = (_, response) => {
    const call = { response, closed: new Promise<void>((resolve) => { response.once('close', () => resolve()); }) };
    calls.push(call);
    waiting.shift()?.(call);
  };
  return { calls, next: () => new Promise((resolve) => { waiting.push(resolve); }) };
}

const begin = (call: Open, count: number): void => {
  call.response.writeHead(200, { 'content-type': 'text/event-stream' });
  call.response.write(events.slice(0, count).join(''));
};
/** All that was under way on the loop has happened: calls that came before this one are where they have to wait. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 2; turn += 1) await (await fetch(`${gateway.url}/health`)).arrayBuffer();
};

describe('fifty readers of one stream', () => {
  const seeds = Array.from({ length: 12 }, (_, index) => 1000 + index);
  for (const seed of seeds) {
    it(`each get all of it, though others leave and do not read (seed ${seed})`, async () => {
      const random = chance(seed);
      const { calls, next } = byHand();
      const body = fresh();
      const call = next();
      const readers = [new Reader(body)];
      const open = await call;
      begin(open, 2);
      await readers[0]!.until((text) => text.includes('one'));
      for (let index = 1; index < 50; index += 1) readers.push(new Reader(body));
      await Promise.all(readers.map((reader) => reader.until((text) => text.includes('one'))));
      const staying = new Set(readers);
      const idle = new Set(readers.filter(() => random() < 0.2));
      for (const event of events.slice(2)) {
        for (const reader of staying) {
          if (staying.size === 1 || random() >= 0.12) continue;
          staying.delete(reader);
          reader.leave();
        }
        if (random() < 0.3) {
          const late = new Reader(body);
          // Before it has joined, the others could all be gone.
          await late.until((text) => text.includes('one'));
          staying.add(late);
        }
        if (random() < 0.5) await settle();
        open.response.write(event);
        if (event !== last) await Promise.all([...staying].filter((reader) => !idle.has(reader)).slice(0, 3).map((reader) => reader.until((text) => text.includes(event))));
      }
      open.response.end();
      const texts = await Promise.all([...staying].map((reader) => reader.whole()));
      for (const text of texts) assert.equal(text, events.join(''));
      assert.equal(calls.length, 1);
    });
  }

  it('each get all of it where a check changes it, and the same results', async () => {
    const { calls, next } = byHand();
    const body = fresh();
    const config = { ...shared, output_mutators: [{ 'default.regexReplace': { rule: '[0-9]{4}', redactText: '[PIN]', lookBack: 16 } }] };
    const call = next();
    const first = new Reader(body, config);
    const open = await call;
    begin(open, 3);
    const readers = [first, ...Array.from({ length: 49 }, () => new Reader(body, config))];
    await settle();
    first.leave();
    for (const event of events.slice(3)) open.response.write(event);
    open.response.end();
    const texts = await Promise.all(readers.slice(1).map((reader) => reader.whole()));
    assert.equal(new Set(texts).size, 1);
    assert.doesNotMatch(texts[0]!, /1234|"content":"12"/);
    assert.match(texts[0]!, /\[PIN\]/);
    assert.match(texts[0]!, /"transformed":true/);
    assert.match(texts[0]!, /\[DONE\]/);
    assert.equal(calls.length, 1);
  });

  it('are all denied by one call, plain and held', async () => {
    for (const stream of [false, true]) {
      const { calls, next } = byHand();
      const body = fresh(stream);
      const config = { ...shared, output_guardrails: [{ deny: true, 'default.regexMatch': { rule: 'nowhere' } }] };
      const call = next();
      const readers = [new Reader(body, config)];
      const open = await call;
      for (let index = 1; index < 50; index += 1) readers.push(new Reader(body, config));
      await settle();
      if (stream) {
        begin(open, events.length);
        open.response.end();
      } else {
        sendJson(open.response, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }] });
      }
      const texts = await Promise.all(readers.map((reader) => reader.whole()));
      for (const reader of readers) assert.equal((await reader.head()).status, 446);
      assert.equal(new Set(texts).size, 1);
      assert.equal(calls.length, 1);
    }
  });

  it('are all told when the provider breaks off, and nothing is kept', async () => {
    const { calls, next } = byHand();
    const body = fresh();
    for (let round = 1; round <= 2; round += 1) {
      const call = next();
      const readers = [new Reader(body)];
      const open = await call;
      begin(open, 3);
      for (let index = 1; index < 50; index += 1) readers.push(new Reader(body));
      await Promise.all(readers.map((reader) => reader.until((text) => text.includes('two'))));
      open.response.destroy();
      const texts = await Promise.all(readers.map((reader) => reader.whole()));
      for (const text of texts) assert.match(text, /broke off/);
      assert.equal(calls.length, round);
    }
  });
});

describe('the first reader', () => {
  for (let at = 1; at < events.length; at += 1) {
    it(`leaves after event ${at}: the others go on, and who comes then gets everything`, async () => {
      const { calls, next } = byHand();
      const body = fresh();
      const call = next();
      const first = new Reader(body);
      const open = await call;
      begin(open, at);
      await first.until((text) => text.endsWith(events[at - 1]!));
      const second = new Reader(body);
      await second.until((text) => text.endsWith(events[at - 1]!));
      first.leave();
      await settle();
      const third = new Reader(body);
      await third.until((text) => text.endsWith(events[at - 1]!));
      assert.equal((await third.head()).cache, 'SHARED');
      for (const event of events.slice(at)) open.response.write(event);
      open.response.end();
      assert.equal(await second.whole(), events.join(''));
      assert.equal(await third.whole(), events.join(''));
      assert.equal(calls.length, 1);
    });
  }

  it('leaves before the provider has answered: the others get all', async () => {
    const { calls, next } = byHand();
    const body = fresh();
    const call = next();
    const first = new Reader(body);
    const open = await call;
    const others = Array.from({ length: 10 }, () => new Reader(body));
    await settle();
    first.leave();
    await settle();
    begin(open, events.length);
    open.response.end();
    for (const reader of others) assert.equal(await reader.whole(), events.join(''));
    assert.equal(calls.length, 1);
  });

  it('leaves while its call waits for another try: the others get the answer of that try', async () => {
    let tries = 0;
    let release = (): void => undefined;
    const firstTry = new Promise<void>((resolve) => { release = resolve; });
    upstream.answer = (_, response) => {
      tries += 1;
      if (tries === 1) {
        release();
        sendJson(response, 503, { error: { message: 'busy' } });
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.join(''));
    };
    const body = fresh();
    const config = { ...shared, retry: { attempts: 1, use_retry_after_headers: false } };
    const first = new Reader(body, config);
    const second = new Reader(body, config);
    await firstTry;
    first.leave();
    assert.equal(await second.whole(), events.join(''));
    assert.ok(tries <= 3);
  });

  it('and all the others leave: the call is ended, and the next one asks anew', async () => {
    const { calls, next } = byHand();
    const body = fresh();
    const call = next();
    const readers = [new Reader(body)];
    const open = await call;
    begin(open, 2);
    for (let index = 1; index < 50; index += 1) readers.push(new Reader(body));
    await Promise.all(readers.map((reader) => reader.until((text) => text.includes('one'))));
    for (const reader of readers) reader.leave();
    await open.closed;
    const again = next();
    const late = new Reader(body);
    const second = await again;
    begin(second, events.length);
    second.response.end();
    assert.equal(await late.whole(), events.join(''));
    assert.deepEqual([(await late.head()).cache, calls.length], ['MISS', 2]);
  });
});

describe('a reader that stops reading', () => {
  const long = chatChunks(['x'.repeat(16 * 1024)]).map((chunk) => `${chunk}\n\n`);
  const count = 700;

  it('keeps nobody from the whole answer, and gets all of it when it reads on', async () => {
    upstream.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(long[0]!);
      let sent = 0;
      const pump = (): void => {
        while (sent < count) {
          sent += 1;
          if (!response.write(long[1]!)) {
            response.once('drain', pump);
            return;
          }
        }
        response.end(long.slice(2).join(''));
      };
      pump();
    };
    const before = upstream.received.length;
    const body = fresh();
    const stalled = new Reader(body);
    await stalled.until((text) => text.length > 0);
    const others = Array.from({ length: 5 }, () => new Reader(body));
    const texts = await Promise.all(others.map((reader) => reader.whole()));
    const expected = long[0]!.length + count * long[1]!.length + long.slice(2).join('').length;
    for (const text of texts) assert.equal(text.length, expected);
    assert.equal((await stalled.whole()).length, expected);
    assert.equal(upstream.received.length - before, 1);
  });
});

describe('afterwards', () => {
  it('nothing is open any more', async () => {
    const from = performance.now();
    await gateway.stop(20_000);
    assert.ok(performance.now() - from < 20_000, 'a call was still open');
  });
});
