import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Buffer } from 'node:buffer';
import type { Json, OutboundRequest } from '@gateway/plugin-sdk';
import { conformGuardrail, fakeCheckInput, fakeHost, type FakeAnswer } from '@gateway/plugin-sdk/testing';
import { imageTypeOf } from './media-type.js';
import plugin from './plugin.js';

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const base64 = png.toString('base64');
const dataUrl = `data:image/png;base64,${base64}`;

const host = {
  fetch: ({ url }: OutboundRequest): FakeAnswer => {
    const { pathname } = new URL(url);
    switch (pathname) {
      case '/a.png': return { headers: { 'content-type': 'image/png; charset=x' }, body: png };
      case '/untyped': return { body: png };
      case '/moved': return { status: 302, headers: { location: '/a.png' } };
      case '/circle': return { status: 302, headers: { location: '/circle' } };
      case '/away': return { status: 302, headers: { location: 'file:///etc/passwd' } };
      case '/page': return { headers: { 'content-type': 'text/html' }, body: '<html>' };
      case '/big': return { headers: { 'content-type': 'image/png' }, body: Buffer.alloc(200) };
      case '/empty': return { headers: { 'content-type': 'image/png' } };
      case '/private': throw new Error('10.0.0.7 may not be called');
      default: return { status: 404 };
    }
  },
};
const at = (path: string): string => `https://img.example${path}`;
const chat = (url: string) => ({ model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'look' }, { type: 'image_url', image_url: { url, detail: 'low' } }] }] });
const block = (source: Json) => ({ type: 'image', source });
const messages = (source: Json) => ({
  model: 'm', messages: [{ role: 'user', content: [block(source), { type: 'tool_result', tool_use_id: 't', content: [block(source), { type: 'text', text: 'x' }] }] }],
});
const responses = (url: string) => ({ model: 'm', input: [
  { role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }, { type: 'input_text', text: 'x' }] },
  { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: url }] },
] });
const inlined = { type: 'base64', media_type: 'image/png', data: base64 };
const bad = ['/missing', '/circle', '/away', '/page', '/empty', '/private'];

conformGuardrail(plugin, {
  passes: [
    { text: 'no image', host },
    ...bad.map((path) => ({ body: chat(at(path)), host })),
    { params: { maxSizeBytes: 100 }, body: chat(at('/big')), host },
    { params: { failOnError: true }, body: chat(at('/a.png')), host },
    { params: { failOnError: true, providers: ['bedrock'] }, body: chat(at('/missing')), provider: 'openai', host },
    { params: { failOnError: true, providers: ['bedrock'] }, body: chat(at('/missing')), host },
  ],
  fails: [
    ...bad.map((path) => ({ params: { failOnError: true }, body: chat(at(path)), host })),
    { params: { failOnError: true, maxSizeBytes: 100 }, body: chat(at('/big')), host },
    { params: { failOnError: true }, body: chat('https://user:password@img.example/a.png'), host },
    { params: { failOnError: true }, body: chat('https://'), host },
  ],
  changes: [
    { body: chat(at('/a.png')), host, changed: chat(dataUrl) },
    { body: chat(at('/untyped')), host, changed: chat(dataUrl) },
    { body: chat(at('/moved')), host, changed: chat(dataUrl) },
    { body: chat('HTTP://img.example/a.png'), host, changed: chat(dataUrl) },
    { body: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: at('/a.png') }] }] }, host, changed: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: dataUrl }] }] } },
    { endpoint: 'messages', body: messages({ type: 'url', url: at('/a.png') }), host, changed: messages(inlined) },
    { endpoint: 'responses', body: responses(at('/a.png')), host, changed: responses(dataUrl) },
    { params: { providers: ['Bedrock'] }, provider: 'bedrock', body: chat(at('/a.png')), host, changed: chat(dataUrl) },
    // What is left alone.
    { params: { providers: ['bedrock'] }, provider: 'openai', body: chat(at('/a.png')), host, changed: chat(at('/a.png')) },
    { body: chat(dataUrl), host, changed: chat(dataUrl) },
    { body: chat('gs://bucket/a.png'), host, changed: chat('gs://bucket/a.png') },
    { body: chat(at('/missing')), host, changed: chat(at('/missing')) },
    { endpoint: 'messages', body: messages(inlined), host, changed: messages(inlined) },
    { endpoint: 'messages', body: messages({ type: 'file', file_id: 'f' }), host, changed: messages({ type: 'file', file_id: 'f' }) },
    { endpoint: 'embeddings', body: { input: at('/a.png') }, host, changed: { input: at('/a.png') } },
  ],
  refuses: [{ providers: [''] }],
});

const make = (params: { maxSizeBytes?: number; timeoutMs?: number }, given: Parameters<typeof fakeHost>[0]) => {
  const made = fakeHost(given);
  return { made, check: plugin.create({ maxSizeBytes: 20_971_520, timeoutMs: 30_000, failOnError: false, ...params }, made) };
};
const many = (urls: readonly string[]) => ({ messages: [{ role: 'user', content: urls.map((url) => ({ type: 'image_url', image_url: { url } })) }] });

test('errors are listed without the query of the URL or its address', async () => {
  const { check } = make({}, host);
  const verdict = await (await check).evaluate(fakeCheckInput({ body: many([at('/a.png'), at('/a.png'), `${at('/missing')}?signature=secret`, at('/private')]) }));
  const { imagesConverted, errors } = verdict.data as { imagesConverted: number; errors: unknown };
  assert.equal(imagesConverted, 2);
  assert.deepEqual(errors, [
    { url: at('/missing'), error: 'answered with status 404' },
    { url: at('/private'), error: 'could not be fetched within 30000 ms and 20971520 bytes, or may not be called' },
  ]);
});

test('the same image is fetched once, with the limits of the parameters', async () => {
  const { made, check } = make({ maxSizeBytes: 5000, timeoutMs: 700 }, host);
  await (await check).evaluate(fakeCheckInput({ body: many([at('/a.png'), at('/a.png')]) }));
  assert.deepEqual(made.requests.map(({ bytesMax, timeoutMs }) => [bytesMax, timeoutMs]), [[5000, 700]]);
});

test('a few images are fetched at a time, and no more than fifty', async () => {
  let running = 0;
  let runningMax = 0;
  const { made, check } = make({}, {
    fetch: async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await Promise.resolve();
      running -= 1;
      return { body: png };
    },
  });
  const verdict = await (await check).evaluate(fakeCheckInput({ body: many(Array.from({ length: 53 }, (_, index) => at(`/${index}`))) }));
  assert.equal(made.requests.length, 50);
  assert.ok(runningMax > 1 && runningMax <= 4, `${runningMax} at once`);
  assert.equal((verdict.data as { errors: unknown[] }).errors.length, 3);
});

test('all images together have one deadline and one size', async () => {
  const slow = make({ timeoutMs: 100 }, { fetch: () => { slow.made.advance(60); return { body: png }; } });
  const verdict = await (await slow.check).evaluate(fakeCheckInput({ body: many(Array.from({ length: 8 }, (_, index) => at(`/${index}`))) }));
  assert.ok((verdict.data as { errors: unknown[] }).errors.length >= 4);
  const large = make({}, { fetch: () => ({ headers: { 'content-type': 'image/png' }, body: Buffer.alloc(20_000_000) }) });
  const data = (await (await large.check).evaluate(fakeCheckInput({ body: many([at('/1'), at('/2'), at('/3')]) }))).data as { imagesConverted: number; errors: unknown[] };
  assert.deepEqual([data.imagesConverted, data.errors.length], [2, 1]);
});

test('the type of an image comes from the server, the first bytes or the ending', () => {
  const of = (text: string): Buffer => Buffer.from(text, 'latin1');
  const nothing = of('????????????');
  for (const [type, bytes, path, expected] of [
    ['image/webp', png, '/x.gif', 'image/webp'], ['IMAGE/JPG', nothing, '/', 'image/jpeg'], [undefined, of('\xff\xd8\xff\xe0'), '/x.png', 'image/jpeg'],
    ['application/octet-stream', of('GIF89a...'), '/', 'image/gif'], [undefined, of('RIFF0000WEBPVP8 '), '/', 'image/webp'], ['', nothing, '/x.JPG', 'image/jpeg'],
    [undefined, of('0000ftypavif'), '/', 'image/avif'], [undefined, nothing, '/x', undefined], ['text/html', png, '/x.png', undefined], ['image/', png, '/x.png', undefined],
    ['image/png", "x', png, '/', undefined], ['application/pdf', png, '/x.png', undefined],
  ] as const) assert.equal(imageTypeOf(type, bytes, path), expected, `${type} ${path}`);
});

test('an aborted check gives up', async () => {
  const { check } = make({}, { fetch: () => { throw new Error('aborted'); } });
  await assert.rejects(async () => (await check).evaluate(fakeCheckInput({ body: chat(at('/a.png')), signal: AbortSignal.abort() })), /aborted/);
});
