import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conformGuardrail, fakeCheckInput, fakeHost, bodyWithText, type FakeAnswer } from '@gateway/plugin-sdk/testing';
import type { OutboundRequest } from '@gateway/plugin-sdk';
import { findUrls } from './urls.js';
import plugin from './plugin.js';

const web = {
  fetch: ({ url, method }: OutboundRequest): FakeAnswer => {
    const { pathname, hostname } = new URL(url);
    if (hostname === '10.0.0.1' || hostname === 'gone.example') throw new Error('refused');
    if (pathname === '/get-only') return { status: method === 'HEAD' ? 405 : 206 };
    if (pathname === '/get-missing') return { status: method === 'HEAD' ? 501 : 404 };
    return { status: pathname === '/missing' ? 404 : pathname === '/broken' ? 500 : pathname === '/moved' ? 301 : 200 };
  },
  addresses: { 'a.example': ['192.0.2.1'], '::1': ['::1'] },
};
const dns = { onlyDNS: true };

conformGuardrail(plugin, {
  passes: [
    { text: 'no address here', stage: 'output' },
    { text: 'see https://a.example/page.', stage: 'output', host: web },
    { text: 'see (http://a.example/moved), and https://a.example/get-only!', stage: 'output', host: web },
    { text: 'see https://a.example/', host: web },
    { params: dns, text: 'https://a.example/missing', stage: 'output', host: web },
    { params: dns, text: 'https://[::1]/missing', stage: 'output', host: web },
    { params: { not: true }, text: 'https://a.example/missing', stage: 'output', host: web },
  ],
  fails: [
    { text: 'https://a.example/missing', stage: 'output', host: web },
    { text: 'https://a.example/ and https://a.example/broken', stage: 'output', host: web },
    { text: 'https://a.example/get-missing', stage: 'output', host: web },
    { text: 'http://10.0.0.1/admin', stage: 'output', host: web },
    { text: 'https://gone.example', stage: 'output', host: web },
    { text: 'https://user:password@a.example/', stage: 'output', host: web },
    { text: 'the prefix https:// alone', stage: 'output', host: web },
    { params: dns, text: 'https://b.example', stage: 'output', host: web },
    { params: { not: true }, text: 'https://a.example', stage: 'output', host: web },
    { params: { not: true }, text: 'nothing', stage: 'output', host: web },
  ],
});

test('the punctuation around a URL is not part of it', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['Go to https://a.example/x, https://b.example; or https://c.example!', ['https://a.example/x', 'https://b.example', 'https://c.example']],
    ['(https://a.example/x)', ['https://a.example/x']],
    ['https://en.example/wiki/Name_(place)', ['https://en.example/wiki/Name_(place)']],
    ['(see https://en.example/Name_(place).)', ['https://en.example/Name_(place)']],
    ['[text](https://a.example/x)[more](https://b.example/y).', ['https://a.example/x', 'https://b.example/y']],
    ['<a href="https://a.example/x?y=1&z=2">', ['https://a.example/x?y=1&z=2']],
    ['`https://a.example` **https://b.example**', ['https://a.example', 'https://b.example']],
    ['{"u":"https://a.example/x","v":1}', ['https://a.example/x']],
    ['\u201chttps://a.example/x\u201d, \u300chttps://b.example\u300d', ['https://a.example/x', 'https://b.example']],
    ['https://a.example/x,y;z?q=a.b#c', ['https://a.example/x,y;z?q=a.b#c']],
    ['HTTPS://A.example/X', ['HTTPS://A.example/X']],
    ['xhttps://a.example ftp://b.example http:/c.example', []],
    ['https://a.example https://a.example. https://a.example', ['https://a.example']],
  ];
  for (const [text, expected] of cases) assert.deepEqual([...findUrls(text)], expected, text);
});

test('a long text of beginnings takes linear time', () => {
  const started = process.cpuUsage().user;
  findUrls('http://'.repeat(15_000));
  findUrls(`https://a.example/${'('.repeat(100_000)}`);
  assert.ok(process.cpuUsage().user - started < 1_000_000);
});

test('each URL is asked once, at most twenty of them, with HEAD and a few at a time', async () => {
  let running = 0;
  let runningMax = 0;
  const host = fakeHost({
    fetch: async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await Promise.resolve();
      running -= 1;
      return {};
    },
  });
  const text = Array.from({ length: 60 }, (_, index) => `https://a.example/${index % 30}`).join(' ');
  const verdict = await (await plugin.create({ onlyDNS: false, not: false }, host)).evaluate(fakeCheckInput({ answer: bodyWithText('chatCompletions', text, 'output') }));
  assert.equal(host.requests.length, 20);
  assert.ok(host.requests.every(({ method, timeoutMs }) => method === 'HEAD' && timeoutMs === 3000));
  assert.ok(runningMax > 1 && runningMax <= 5, `${runningMax} at once`);
  assert.equal(verdict.pass, true);
  assert.match(JSON.stringify(verdict.data), /all 20 URLs answer; 10 more were not looked at.*"urlsNotChecked":10/);
});

test('the verdict counts what answers and what does not', async () => {
  const check = await plugin.create({ onlyDNS: false, not: false }, fakeHost(web));
  const verdict = await check.evaluate(fakeCheckInput({ answer: bodyWithText('chatCompletions', 'https://a.example/missing https://a.example/', 'output') }));
  assert.deepEqual(verdict.data, {
    explanation: '1 of 2 URLs do not answer', validCount: 1, invalidCount: 1, validationMethod: 'http', urlsNotChecked: 0,
  });
});

test('names are resolved by the host and nobody is called', async () => {
  const host = fakeHost(web);
  await (await plugin.create({ onlyDNS: true, not: false }, host)).evaluate(fakeCheckInput({ answer: bodyWithText('chatCompletions', 'https://a.example', 'output') }));
  assert.equal(host.requests.length, 0);
});

test('an aborted check is not a verdict about the URL', async () => {
  const check = await plugin.create({ onlyDNS: false, not: false }, fakeHost({ fetch: () => { throw new Error('aborted'); } }));
  await assert.rejects(async () => check.evaluate(fakeCheckInput({ answer: bodyWithText('chatCompletions', 'https://a.example', 'output'), signal: AbortSignal.abort() })), /aborted/);
});
