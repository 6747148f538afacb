// The log store on a disk without room: what is there is read whole, each record once, whatever was being merged or written; what finds no room is told to
// who wrote it, and all goes on with the room.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Exporter, LogBodies, LogReader, LogRecord } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import plugin from '../../plugins/exporters/store/plugin.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { makeSmallDisk } from '../support/small-disk.js';

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1_073_741_824, bodiesDaysMax: 30 };
const scope = { organisationId: 'organisation', workspaceIds: null };
const dayMs = 86_400_000;
const { signal } = new AbortController();
const noBodies: LogBodies = { requestHeaders: '', request: '', upstreamUrl: '', upstreamHeaders: '', upstreamRequest: '', upstreamResponse: '', responseHeaders: '', response: '' };
const rowsOf = 12;
const writesMax = 500;
/** Of the store itself: when the last row arrived. */
const sequenceKey = 'sequence';

/** Text that cannot be made shorter. */
function noise(length: number, seed: number): string {
  let state = seed + 1;
  return Array.from({ length }, () => String.fromCharCode(33 + ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 16) % 90)).join('');
}

describe('the log store on a full disk', () => {
  const disk = makeSmallDisk();

  it('is read whole while nothing can be merged or written, loses what it says, and goes on with the room', async () => {
    const storage = await lmdb.create({ path: join(disk.folder, 'data') }, fakeHost());
    const host: FakeHost = { ...fakeHost({ nowMs: Date.UTC(2030, 0, 16, 12) }), store: async (name) => storage.open(name) };
    const exporter: Exporter = await plugin.create(params, host);
    const reader: LogReader | undefined = await plugin.reader?.(params, host);
    assert.ok(reader !== undefined);
    const written: string[] = [];
    const write = async (id: string, bodies: LogBodies | null = null): Promise<void> => {
      await exporter.export([sampleLogRecord({ id, metadata: JSON.stringify({ noise: noise(2000, written.length) }), bodies } satisfies Partial<LogRecord>)], signal);
      written.push(id);
    };
    const idsThere = async (): Promise<readonly string[]> => {
      const { records, cursor } = await reader.page({ scope }, { limit: 1000 });
      assert.equal(cursor, null);
      return records.map(({ id }) => id).sort();
    };
    for (let index = 0; index < rowsOf; index += 1) await write(`before-${index}`, { ...noBodies, request: noise(2000, index) });
    disk.fill();
    host.advance(dayMs);
    let refused = 0;
    for (let index = 0; refused < 3 && index < writesMax; index += 1) {
      // Pages that the file has free take some more.
      await write(`full-${index}`, { ...noBodies, request: noise(8000, index) }).catch((thrown: unknown) => {
        refused += 1;
        assert.match(String(thrown), /there is no room/);
      });
    }
    assert.equal(refused, 3);
    await assert.rejects(host.runEvery(), /there is no room/, 'a block of them all');
    assert.deepEqual(await idsThere(), [...written].sort());

    disk.empty();
    await host.runEvery();
    host.advance(2 * dayMs);
    await host.runEvery();
    await write('after', { ...noBodies, request: 'kept' });
    assert.deepEqual(await idsThere(), [...written].sort());
    const store = await storage.open('logs');
    let [rows, blocks] = [0, 0];
    for await (const { key } of store.range({ from: '0', to: 'y', limit: 1000 })) {
      if (key.startsWith('x')) blocks += 1;
      else if (key !== sequenceKey) rows += 1;
    }
    assert.ok(blocks > 0 && rows <= 1, `${rows} rows and ${blocks} blocks`);
    assert.equal((await reader.read(scope, 'after'))[0]?.bodies?.request, 'kept');
    await storage.close?.();
  });
});
