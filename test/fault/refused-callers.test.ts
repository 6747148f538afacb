// Callers without a key, as many as they like and with heads as large as they may be: the log stays within its room and loses nobody else's record.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import type { LogRecord } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { readLogBatch } from '../../plugins/exporters/store/log-batch.js';
import { allRows } from '../../plugins/exporters/store/partitions.js';
import lmdb from '../../plugins/storage/lmdb/plugin.js';
import { routed, startTestGateway } from '../support/gateway.js';
import { answerChat, startUpstream } from '../support/upstream.js';
import { openWire } from '../support/wire.js';

const bytesMax = 1024 * 1024;
const floodsAtOnce = 4;
const rounds = 20;
const callsOfRound = 8;

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-refused-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));
const upstream = await startUpstream(answerChat);
const gateway = await startTestGateway({ GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_STORE_BYTES_MAX: String(bytesMax) });

async function honest(name: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', 'x-gateway-trace-id': name, ...routed(upstream.url) }, body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] }),
  });
  assert.equal(response.status, 200, await response.text());
}

async function flood(): Promise<void> {
  const long = 'x'.repeat(12_000);
  const head = `GET /v1/proxy/${'p'.repeat(4000)} HTTP/1.1\r\nhost: g\r\nx-gateway-metadata: {"a":"${long}"}\r\nx-gateway-span-name: ${long}\r\nx-gateway-parent-span-id: ${long}\r\n\r\n`;
  for (let round = 0; round < rounds; round += 1) {
    const wire = await openWire(gateway.port);
    wire.write(head.repeat(callsOfRound));
    await wire.until((text) => text.split('HTTP/1.1 401').length > callsOfRound);
    wire.destroy();
  }
}

async function stored(): Promise<LogRecord[]> {
  const storage = await lmdb.create({ path: dataDir }, fakeHost());
  const store = await storage.open('exporter-store-logs');
  const records: LogRecord[] = [];
  for await (const { value } of store.range({ ...allRows, limit: 100_000 })) records.push(...readLogBatch(value));
  await storage.close?.();
  return records;
}

it('never push out the record of another, and take only their share of the log', async () => {
  const names: string[] = [];
  for (let index = 0; index < 10; index += 1) await honest(names[names.push(`before ${index}`) - 1] ?? '');
  const floods = Promise.all(Array.from({ length: floodsAtOnce }, flood));
  for (let index = 0; index < 10; index += 1) await honest(names[names.push(`during ${index}`) - 1] ?? '');
  await floods;
  for (let index = 0; index < 10; index += 1) await honest(names[names.push(`after ${index}`) - 1] ?? '');
  await gateway.stop(1000);

  const records = await stored();
  assert.deepEqual(records.filter(({ keyId }) => keyId !== '').map(({ traceId }) => traceId).sort(), names.sort());
  const refused = records.filter(({ keyId }) => keyId === '');
  assert.ok(refused.length > 0 && refused.length < (floodsAtOnce * rounds * callsOfRound) / 2, `${refused.length}`);
  assert.ok(refused.every(({ status, errorCode }) => status === 401 && errorCode === 'KEY_MISSING'));
  for (const record of refused) assert.ok(JSON.stringify(record).length < 4000);
  const { size } = statSync(join(dataDir, 'exporter-store-logs', 'data.mdb'));
  assert.ok(size < 2 * bytesMax, `${size}`);
});
