import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExporterPlugin } from '../src/kinds/exporter.js';
import type { ProcessFigures } from '../src/kinds/figures.js';
import type { LogRecord } from '../src/kinds/log-record.js';
import type { Maybe } from '../src/shared.js';
import { fakeHost, type FakeHost, type FakeHostOptions } from './fake-host.js';

export interface ConformExporterOptions {
  readonly host?: FakeHostOptions;
  /** What the exporter has put out through this host and these parameters, oldest first; leave out what cannot be read back. */
  readonly exported?: (host: FakeHost, params: object) => Maybe<readonly LogRecord[]>;
}

/** A whole record; `changes` go over it. */
export const sampleLogRecord = (changes: Partial<LogRecord> = {}): LogRecord => ({
  id: '0b6c2f0e-6f0f-4f5c-9a39-0d7c3f0c5a11', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7',
  parentSpanId: '', spanName: 'llm', organisationId: 'organisation', workspaceId: 'workspace', keyId: 'key',
  endpoint: 'chatCompletions', method: 'POST', path: '/v1/chat/completions', provider: 'mock', model: 'mock-1', targetPath: 'config',
  status: 200, ended: 'complete', errorCode: '', isStream: false, attempts: 1, cacheStatus: 'DISABLED', finishReason: 'stop',
  inputTokens: 12, outputTokens: 34, totalTokens: 46, cachedTokens: -1, reasoningTokens: -1, requestBytes: 321, responseBytes: 654,
  startedAtMs: 1_700_000_000_000, firstByteMs: 12.5, tookMs: 80.25, upstreamMs: 11.75, metadata: '{"_user":"ünï😀"}', hookResults: '',
  providerSlug: 'main', configId: '0190f1d2-7a4b-7c3d-8e5f-0123456789ab', configVersionId: '0190f1d2-7a4b-7c3d-8e5f-0123456789ac',
  isFinal: true, targetIndex: 0, retries: 0, cacheWriteTokens: -1, inputAudioTokens: -1, inputImageTokens: -1, outputAudioTokens: -1, outputImageTokens: -1,
  cost: 0.25, saved: 0, isPriced: true, decision: '', bodies: null, source: 'call',
  promptSlug: 'pp-main', promptId: '0190f1d2-7a4b-7c3d-8e5f-0123456789ad', promptVersionId: '0190f1d2-7a4b-7c3d-8e5f-0123456789ae',
  ...changes,
});

/** What a process of one thread says of itself; `changes` go over it. */
export const sampleFigures = (changes: Partial<ProcessFigures> = {}): ProcessFigures => ({
  threads: [{ name: 'serve-0', isAnswering: true, counts: { 'refused.KEY_INVALID': 1 }, openCalls: 2, loopDelay: { p50: 1, p99: 20, max: 250 }, busyMs: 1500, heapBytes: 1000, broken: [] }],
  exporters: [{ name: 'store', waiting: 0, waitingBytes: 0, exported: 10, dropped: 0 }],
  rings: [{ thread: 'serve-0', waitingBytes: 0, sizeBytes: 1024 }],
  breakers: { closed: 1, open: 0, probing: 0 },
  ...changes,
});

/** Registers the tests that every exporter has to pass. `params` are given to each `create()`; a function is called for each instance. */
export function conformExporter(plugin: ExporterPlugin, params: object | (() => object), options: ConformExporterOptions = {}): void {
  const nextParams = (): object => (typeof params === 'function' ? params() : params);
  const signal = (): AbortSignal => new AbortController().signal;

  describe(`exporter plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description and an object schema', () => {
      assert.equal(plugin.kind, 'exporter');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
    });

    it('takes batches one after the other and puts out every record whole and in order', async () => {
      const host = fakeHost(options.host);
      const values = nextParams();
      const exporter = await plugin.create(values, host);
      const batches = [1, 0, 3, 200].map((count, batch) => Array.from({ length: count }, (_, index) => sampleLogRecord({ id: `${batch}-${index}` })));
      for (const batch of batches) {
        await exporter.export(batch, signal());
        host.advance(5);
      }
      const exported = await options.exported?.(host, values);
      if (exported !== undefined) assert.deepEqual(exported, batches.flat());
      await exporter.close?.();
    });

    it('does not change, and does not keep, the batch it is given', async () => {
      const host = fakeHost(options.host);
      const values = nextParams();
      const exporter = await plugin.create(values, host);
      const batch = [sampleLogRecord({ id: 'kept' })];
      await exporter.export(Object.freeze(batch.map((record) => Object.freeze(record))), signal());
      batch.length = 0;
      const exported = await options.exported?.(host, values);
      if (exported !== undefined) assert.equal(exported.at(-1)?.id, 'kept');
      await exporter.close?.();
    });

    it('rejects a batch whose signal is aborted already', async () => {
      const exporter = await plugin.create(nextParams(), fakeHost(options.host));
      await assert.rejects(async () => exporter.export([sampleLogRecord()], AbortSignal.abort()));
      await exporter.close?.();
    });

    it('tells metrics before the first record, and after, when it has any', async () => {
      const exporter = await plugin.create(nextParams(), fakeHost(options.host));
      for (const batch of [[], [sampleLogRecord()]]) {
        await exporter.export(batch, signal());
        // A thread that gives no answer has no figures.
        const silent = { name: 'serve-1', isAnswering: false, counts: {}, openCalls: 0, loopDelay: null, busyMs: 0, heapBytes: 0, broken: [] };
        const { threads } = sampleFigures();
        const told = await exporter.scrape?.(sampleFigures({ threads: [...threads, silent] }));
        if (told === undefined) break;
        assert.match(told.contentType, /^[\w.+-]+\/[\w.+-]+/);
        assert.equal(typeof told.text, 'string');
      }
      await exporter.close?.();
    });

    it('may be closed twice', async () => {
      const exporter = await plugin.create(nextParams(), fakeHost(options.host));
      await exporter.close?.();
      await exporter.close?.();
    });
  });
}
