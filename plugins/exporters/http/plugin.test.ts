import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { LogBodies, LogRecord, OutboundRequest } from '@gateway/plugin-sdk';
import { conformExporter, fakeHost, sampleLogRecord } from '@gateway/plugin-sdk/testing';
import plugin from './plugin.js';

const params = { url: 'https://logs.example/in', format: 'array', compression: 'gzip', bodies: false, timeoutMs: 1000, retriesMax: 0 } as const;
const signal = new AbortController().signal;
const textOf = ({ body, headers }: OutboundRequest): string => (headers?.['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(body ?? '')) : Buffer.from(body ?? '')).toString();
const arrays = (requests: readonly OutboundRequest[]): LogRecord[] => requests.flatMap((request) => JSON.parse(textOf(request)) as LogRecord[]);
const bodies: LogBodies = { requestHeaders: '{}', request: 'question', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: 'answer' };

conformExporter(plugin, params, { host: { fetch: () => ({}) }, exported: (host) => arrays(host.requests) });

describe('http exporter', () => {
  it('posts lines, with headers, uncompressed when asked', async () => {
    const host = fakeHost({ fetch: () => ({}), secrets: { 'env:KEY': 'k' } });
    const exporter = await plugin.create({ ...params, format: 'lines', compression: 'none', headers: { 'X-Key': '${env:KEY}' } }, host);
    await exporter.export(['a', 'b'].map((id) => sampleLogRecord({ id })), signal);
    const [request] = host.requests;
    assert.deepEqual(request?.headers, { 'x-key': 'k', 'content-type': 'application/x-ndjson' });
    assert.deepEqual(String(request?.body).split('\n').map((line) => (line === '' ? '' : JSON.parse(line).id)), ['a', 'b', '']);
  });

  it('leaves bodies out unless it is told', async () => {
    for (const [isAsked, expected] of [[false, null], [true, bodies]] as const) {
      const host = fakeHost({ fetch: () => ({}) });
      const exporter = await plugin.create({ ...params, bodies: isAsked }, host);
      await exporter.export([sampleLogRecord({ bodies })], signal);
      assert.deepEqual(arrays(host.requests)[0]?.bodies, expected);
    }
  });

  it('cuts a batch of long records into requests', async () => {
    const host = fakeHost({ fetch: () => ({}) });
    const exporter = await plugin.create({ ...params, bodies: true }, host);
    const long = { ...bodies, request: 'x'.repeat(1_500_000) };
    await exporter.export(Array.from({ length: 5 }, (_, index) => sampleLogRecord({ id: String(index), bodies: long })), signal);
    assert.deepEqual(host.requests.map((request) => (JSON.parse(textOf(request)) as LogRecord[]).map(({ id }) => id)), [['0', '1'], ['2', '3'], ['4']]);
  });

  it('tells the queue that a batch is lost', async () => {
    const exporter = await plugin.create(params, fakeHost({ fetch: () => ({ status: 500 }) }));
    await assert.rejects(async () => exporter.export([sampleLogRecord()], signal), /logs\.example did not take it: status 500/);
  });
});
