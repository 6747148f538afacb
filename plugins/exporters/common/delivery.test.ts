import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { OutboundRequest } from '@gateway/plugin-sdk';
import { fakeHost, type FakeAnswer } from '@gateway/plugin-sdk/testing';
import { Delivery, type DeliveryOptions } from './delivery.js';
import { readHeaders, readUrl } from './destination.js';

const signal = new AbortController().signal;

/** Each answer once, the last for ever; an Error: nobody is there. Time goes on by what is waited. */
function setUp(answers: readonly (FakeAnswer | Error)[], options: Partial<DeliveryOptions> = {}) {
  let at = 0;
  const host = fakeHost({
    random: () => 1,
    fetch: () => {
      const answer = answers[Math.min(at, answers.length - 1)];
      at += 1;
      if (answer instanceof Error) throw answer;
      return answer ?? {};
    },
  });
  const waits: number[] = [];
  const wait = async (ms: number, aborted: AbortSignal): Promise<void> => {
    aborted.throwIfAborted();
    waits.push(ms);
    host.advance(ms);
  };
  const delivery = new Delivery(host, { url: new URL('https://collector.example/v1'), headers: { authorization: 'Bearer x' }, isCompressed: true, timeoutMs: 1000, retriesMax: 3, wait, ...options });
  return { host, waits, delivery };
}

const bytesOf = ({ body }: OutboundRequest): Buffer => Buffer.from(body ?? '');

describe('a delivery', () => {
  it('posts the body with its headers, compressed where that gains something', async () => {
    const { host, delivery } = setUp([{ status: 202 }]);
    const long = Buffer.from('abc'.repeat(1000));
    assert.equal((await delivery.send(Buffer.from('short'), 'text/plain', signal)).status, 202);
    await delivery.send(long, 'application/json', signal);
    const [first, second] = host.requests;
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual([first.method, first.url, first.headers, String(bytesOf(first))], ['POST', 'https://collector.example/v1', { authorization: 'Bearer x', 'content-type': 'text/plain' }, 'short']);
    assert.equal(second.headers?.['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(bytesOf(second)), long);
  });

  it('is tried again, with longer waits, while nobody is there or the far end has no room', async () => {
    const { host, waits, delivery } = setUp([new Error('refused'), { status: 503 }, { status: 502 }, {}]);
    await delivery.send(Buffer.from('x'), 'text/plain', signal);
    assert.deepEqual(waits, [250, 500, 1000]);
    assert.deepEqual([host.requests.length, host.counts.get('retries')], [4, 3]);
  });

  it('waits as long as it is told to, in seconds or until a date', async () => {
    const date = new Date(1_700_000_007_000 + 4_000).toUTCString();
    const { waits, delivery } = setUp([{ status: 429, headers: { 'retry-after': '7' } }, { status: 503, headers: { 'retry-after': date } }, {}]);
    await delivery.send(Buffer.from('x'), 'text/plain', signal);
    assert.deepEqual(waits, [7_000, 4_000]);
  });

  it('does not come back before the time it was told, also with the next body, and for five minutes at the most', async () => {
    const { waits, delivery } = setUp([{ status: 503, headers: { 'retry-after': '86400' } }, {}], { retriesMax: 0 });
    await assert.rejects(delivery.send(Buffer.from('x'), 'text/plain', signal), /collector\.example did not take it: status 503$/);
    await delivery.send(Buffer.from('y'), 'text/plain', signal);
    assert.deepEqual(waits, [300_000]);
  });

  it('goes by the status: what the answer says beyond that is no reason to send a body again', async () => {
    const { host, delivery } = setUp([{ status: 200, body: 'x'.repeat(3_000_000) }]);
    const answer = await delivery.send(Buffer.from('x'), 'text/plain', signal);
    assert.ok(answer.status === 200 && (await answer.bytes()).length < 100_000);
    assert.deepEqual(host.requests.map(({ isHeadEnough }) => isHeadEnough), [true]);
  });

  it('is given up after so many tries, at once when the body is at fault, and when its time is over', async () => {
    const down = setUp([new Error('refused')]);
    await assert.rejects(down.delivery.send(Buffer.from('x'), 'text/plain', signal), /did not take it: refused \(tried 4 times\)/);
    const wrong = setUp([{ status: 400 }]);
    await assert.rejects(wrong.delivery.send(Buffer.from('x'), 'text/plain', signal), /status 400$/);
    const moved = setUp([{ status: 302, headers: { location: 'http://169.254.169.254/' } }]);
    await assert.rejects(moved.delivery.send(Buffer.from('x'), 'text/plain', signal), /status 302$/);
    assert.deepEqual([down.host.requests.length, wrong.host.requests.length, moved.host.requests.length], [4, 1, 1]);
    const ended = setUp([{}]);
    await assert.rejects(ended.delivery.send(Buffer.from('x'), 'text/plain', AbortSignal.abort(new Error('over'))), /over/);
    const over = new AbortController();
    const late = setUp([{ status: 503 }], { wait: async (_, aborted) => { over.abort(new Error('over')); aborted.throwIfAborted(); } });
    await assert.rejects(late.delivery.send(Buffer.from('x'), 'text/plain', over.signal), /over/);
    assert.equal(late.host.requests.length, 1);
  });
});

describe('a destination', () => {
  const host = fakeHost({ secrets: { 'env:TOKEN': 's3cret', 'env:BROKEN': 'a\nb' } });

  it('has secrets of the operator in its headers', async () => {
    assert.deepEqual(await readHeaders({ Authorization: 'Bearer ${env:TOKEN}', 'x-a': '${env:TOKEN}-${env:TOKEN}', 'x-b': '$TOKEN {env:TOKEN}' }, 'headers', host),
      { authorization: 'Bearer s3cret', 'x-a': 's3cret-s3cret', 'x-b': '$TOKEN {env:TOKEN}' });
    await assert.rejects(readHeaders({ a: '${env:NONE}' }, 'headers', host), /no secret env:NONE/);
  });

  it('refuses headers and addresses that no request may have', async () => {
    for (const headers of [{ 'a b': 'x' }, { 'Content-Length': '1' }, { a: 'b\r\nc: d' }, { a: '${env:BROKEN}' }]) await assert.rejects(readHeaders(headers, 'headers', host), { name: 'ParameterError' });
    for (const url of ['collector', 'ftp://a.example', 'https://user:pass@a.example']) assert.throws(() => readUrl(url, 'url'), { name: 'ParameterError' });
  });
});
