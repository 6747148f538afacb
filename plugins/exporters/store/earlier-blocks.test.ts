import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import type { LogFilter, LogReader, LogRecord, Store } from '@gateway/plugin-sdk';
import { fakeHost, sampleLogRecord, type FakeHost } from '@gateway/plugin-sdk/testing';
import { Packr } from 'msgpackr';
import { headKey, heads, keyOfHead, partKey, readHead, removalOf } from './block.js';
import plugin from './plugin.js';

const params = { bytesMax: 1_073_741_824, ageDaysMax: 30, bodiesBytesMax: 1024 ** 3, bodiesDaysMax: 7 };
const scope = { organisationId: 'organisation', workspaceIds: null };
const nowMs = Date.UTC(2030, 0, 16, 12);
const dayMs = 86_400_000;
const noSignal = (): AbortSignal => new AbortController().signal;

/** The rows of a block of 100 records, as the first version of the format was written: keys and values, compressed. */
const blockOfFormat1 = [
  'G7EdUZSS1nJEUaoHIUHHQU6Wa2p7zh1St6V00vNb0pYiPVuDTbXX/75dWAQ33MaJEQUDtQwS0k2N1AQEFmP6UNf+eOgQKvnHN2PI3ljjJvXHGq2Uz7eW2vvh+eFxEQ7YyAgfF+MIZgNLAeYiTU658t6rAgIHKGwVsJBsRIXwrAv/3x+pZvkn6/ueCQd3wGO56Em6Ctcq',
  'UNzVWnOsSTV3Yr8q5BE8eOq5mi5mg+2R3yo/u09fXQdYxYk+Nd2j/+E+15+k4J/hp49s4R1Mw2bZHErlmZoC9yBaVBsSOgrifUfpxgBmZJtYWfH9cm2nW0fR3QN90CLceMFKEaRhPYwvb05kSugB5q1RjT8ognf77nl9424M+BMvklJBPYta1zVfZ9moUjR6pwUyAhx7',
  'BdyN28lCSaJv5Ia6Qs2yGXcJ/YrxUosGLQLoSYVwpqAs1dmfRXEamOz2nb0LTpuwmWEQb3XHZgnxREljKHEsHoT0tLoy5DAziAd9DMc4isHR+Y4iicDvRbcusnEBJ0hLnQyKvCEDDyUnxwcF7sQa3eo+K3C7LnFWL6zy6/jdsmmG3i+ZqmJwHVMzl9m7tcTZt1/ymivJ',
  'fncoiToZhF14nq1cWQ/Mga0MvJcgvhHdWFGSPBhOLFqgg3Si6nbu8+ksh7mcTqwIN2GHrwIgXXclzo0kTzp8yvhLI21UqgDvdRcf4teXKq682QC9o0ZPlGzIBGhThDSy8ScGxqje7OyrvmBoMYJO6izv46k88uzzePEcZgng9lmRRp43et128wAADqqEnVj1/fXyfW33',
  'ddkYt3nPibOoAuVnMGrRCsZY/um4zsxauBc004eCrkXJeuwbxO+/5Z+P2yZz6Y/0EDWM2vaQTzm9s6fT3LyvDRn1W869CMQTC04zJ441hYqmim3aITnMUWvZhrOsk+jjkp4Cv+IQZwr6lirStl/eU9jYkgG2MHR7Rpy9s9F8rDHQtQ5Bm2nRLPqUE3ksR1agkkHforys',
  'BHAaTlTIomm5lun0Q3FURlrMiMYfOhuVslFanfuJQfxk7FCrIDSsSDsK3F1FeKcF0ywqjTycNk4SzZLFM8OolsAf2fIMdDNBUgpCzDJt0xG24zuupZP2CuInFRziIJo17uaKQ5GVmjBNAJT5KWmkOhBwCIpg6bPZdfTjZd1qsf502Fh371ZKDjTsDCMbJdVxDkatPc9k',
  'qd7Hg2iWv2s1NlaUNKHdee9rxtdgrr5Quc3NsCkGo89X/2IXuMP2emqNBQmr89AIg1NnR1E/mWknX3hq2FmSpnGhEhw47eK6t5N1d3Xyk1tEdKgqozTg8bwh/Xkwtpl8VYHLPolEwDnEgxWERRu2E8UpbJcu2L08U1rOsd0Yp0hSf/ryhWn5nni5Qrp8KOoiC4TNE/Tl',
  '5X3J5KY42T9UPwuTc9xRLUkxgVApn5zSuFyJmJRmMm21Rwx/nZpKxamWqp2CH2Eprb7t2NwU5pwy8Ow6OdrFitLQj1I/hjH0hw+7wsFCBE2nky+6a/IDB+meR0aGgI+tBNhZX23Cvjp4BFCBee7myIG+TH8XM52rmeEK96JoO4f9ATSdlJ18zuy+unnkK9n77j6wHAAM',
  '/cqfYQeaOuddtNsIb4xPzukTMNORiTw81jWNdvHV3tDdPC/p7S2W63j0jX710NoXay+VKM+uRhL1tI2m38fLj5lzePgHxZRI39zX+Ydwp5eW8pXXcx0Ob/66PNYh69/dvr2guXhVUe63SO7xztUXavVz3oWgsIhusOV/fXT/qsJvDZfkqlOPe8xeTJen4es7a2VgsSbp',
  'KkC7yUJCxi77AltSasTq4/M/VF900naWRcnQ1WVMRGeXpseY55Ej7ew8Q3tEM6awGfdD8srpM2JOXVJ1Zw8mTgwzjWYtId6YZYGy1z3C2X5t342Ve4jfzo+grt6HKM7sU/3ef7x9Z7dyFZ7L563m1lrN/lfTZ5O9X5es3r/+3Ue1k89rrK2dPym7Doo3hP2zyOwyuXiB',
  'ciiJWvzl/XQug3p/Ksp4+cUv9fDcuGEfK62tyLsxvOtSm1gvc0suwSXb3BNZ/sjxrt0uVPVHqTpfJ/ndlj43pVKcpsUrU1/8Li910pbBXxGYWjUP5EtUbz/4Ommwe5lv7aCmys3/nPAN6+NyaFtG8zaob+E9kduLWp62Sar8knpRpkiRCneSLXXlKUdXtu/2LFLvEXUT',
  'pj7UtP0VRf3Ox2Hyw6Pxialc3O0ZpTttxm7y78uu2P7JnnzoPDcdxlubnlclO/rSfoxzZW9SM076vdpW8VK+hpBJG+//NMhbfbolzcf5dtTM/Di5r1u6c/MrunSdp7OdZ+ZLoVsvX2FS/owS9/O7MXXvZ/mLv76v9+Oy31bbIDOa7h7+8kzun3WKnHK1WE1XsrnJOgkE',
  'q63XqdkxePmjHOu5fHETTegPkPv8sPmPhEUBbMbFSd9l1EHlMlFFT2Irtkh+MpqOGs3WqecsEUgetZCYA7b4NRO23LRwKtdvrnss0c2vf4W3VKAhp/bE4D+SH4+xGLqWdAccO+tOfM4e9I7T02Gz3UjvsdlOYr5GIs7giiywpndmTGhHiq85Bd8XvYb9nGVjLvXeWB68',
  'B+vIlm/9OBHsF23HJmpudVkHk5Wy2fL9RvvHKw63XzrVngrnIlXDq8zj7XF8urMLO0hGpb+4wapw+N+rbpAOVRsCWFg7Hx/bHOCg+Nt8/DgAWADDQ2lN75r0Xpc1NQiIlGDI7OSumasEluyiZVDBXU9ceaU7oXMUbQl8bOo5QxEahBEq6uyumUCcRGkZZRiCUhUn5WU6',
  'YXIGjZQ+NzUO4CuJi679cNfcVkGBUF1WeW6JTh15tOrKdsLmZMoZfGtqOKBRx6R7d+6aeWvmqVe5ZbgCVRofzc9eHPDQrfPVD08+unVkKfjy0a2z1Y5AAbp19tI46ohunZXWHMVhYkVIEAoXh8EuIUxGhWWEglIVB1kVORFxBo04dpsaMfhKwlfQ47vmtgoDcIXPSRhI',
  'MDAuIbGSSp1IOZlyMp+aGhlo1FGo7NldM2/NVLrUqYyTQJXGv8RzHgZyTMxLSON2oL791Lt8DruZhN7xp+IngM96YaMvSiZD6Az2DwKfNb+6EdKOEJQ+vML59k7M9qkfCZJoOf/WhA4JRmsWsmtzwI7aMgt/r5UcpiEv0S1UhULx+7RCcmEBAB4A6ABAcBBhkHDkDszX',
  'Ew+gAgDrpOgc2K8fEhhtFzt3DzDjvOCEVB5QCEJTxxstui6EEozDIiKyGZ6G5LqRECkNgdzEKVbzSBe1SnCgM1FGECRPnDUcWl1+oeAkW14hZkDTIHoFjKhpCVhES2t2OXpNcCAhBtoCFXGrdHqVmOhwjCbusZiBp4Znrxc8DvMjIYCtxAeYNR1lERxgxJeegEf8XB9l',
  'gyzhc+QmlEjMQKVhW1Z0JnZUCGCU2EPMcGeUPV8OiVjxKKD5wXq2moTE4GQWKTCTeS7DpEFCYjAUIgcOHghnAExMKnCyrtyJIMiecDXEkw5+PGJOtjUCd/YA0wAQPinBSEImAhZJzGR2OSYtOI0EmUQqRAWcNGSTGoVExsUIo3RHDxhPAKSa9AVuWOR+Jgx9/BMnzcSi',
  'AKfJ0EjkQnjYZuteG+FdLPSRaQMgLfvgVHbhSfnvYTVRicr1U9bAaRnD276HALeayWrxyFi0CNveKy3QIxZ4Ok3dQb3nG7Qx4o/dcUdUEI8yQHsPmUHXY3E/1LRIZtGtPkAlgeUTf2SDSwnciROnxeQr7oNQywJraaOXtwJpeTxsrEgWyLRY7t2ozrc5/rXVFsvlvWvx',
  'IpXKMsC+EHRnfgi1tPGggvTjbUzCDd4kQPR8IO8Fh0WdSXRvJ/aZlm1ihpyQXU6+RZzauKF1LzRAPckAW9cC15y4XVMzml8wFMRvGUYzB3iSX31/YPcnRZARB24dx088ljUjiVH+wI7twsYbBYX0SPd+HE8jb233plWGq9cNlzPgezgZBAT4Mb/O2V+Gw5tG7yOyII1N',
  'gfRbgHZBQIbEOF1zVBVMs1Pnrk3Xy+59VHX+xDcXVKznjSmPYSSCEg8Gw+bxejZVFMN+400n04MCd5RwXQkJZjoeANYD3Wl0PXgCVoohJ02QWMJ+cYov3IovO0y1g/geO/npGgwebHPxufNtSwqtRbKWPX6H2p79+v0Bsrl+KY235XWpK+pZJDPdzTPbTT3QIo92oh+V',
  'yDd5wtOdwtv9orSRvTYjtXJ4Fr56SxqfmphcN0F9mUAg+66Jd/ZiPbEMN5fMW+IqtpKM2qmuSxaiWpg2vsCcnx8fxmfdbAy5VxtIx8HlN//8Aw==',
].join('');

/** What was written then. */
function recordOf(index: number): LogRecord {
  const digits = index.toString(16).padStart(8, '0');
  return sampleLogRecord({
    id: `${digits}-0000-4000-8000-${digits}abcd`, traceId: index % 3 === 0 ? `trace-${index % 5}` : `${digits}-0000-4000-8000-${digits}abcd`, spanId: `${digits}${digits}`, organisationId: 'organisation', workspaceId: 'workspace', keyId: `k${index % 40}`,
    provider: index % 2 === 0 ? 'openai' : 'anthropic', model: `m${index % 7}`, status: index % 10 === 0 ? 500 : 200, errorCode: index % 10 === 0 ? 'UPSTREAM' : '', isStream: index % 3 === 0, cacheStatus: index % 4 === 0 ? 'HIT' : 'MISS',
    startedAtMs: nowMs + index * 37, tookMs: index * 12.375, firstByteMs: index / 8, upstreamMs: index % 6, inputTokens: index * 13, outputTokens: index % 300, totalTokens: index * 13 + index % 300, cost: index / 1e6, requestBytes: index * 70_000, responseBytes: 200,
    metadata: index % 9 === 0 ? '' : index % 11 === 0 ? '{"_user":"\\u0061"}' : JSON.stringify({ _user: `u${index % 50}`, team: `t${index % 3}` }), hookResults: index === 4 ? '[]' : '', path: `/v1/${index % 4}`,
  });
}
const written = Array.from({ length: 100 }, (_, index) => recordOf(index));

/** A store of then, and a reader that has read nothing. */
async function stageOf(): Promise<{ readonly host: FakeHost; readonly store: Store; readonly key: string; reader(): Promise<LogReader> }> {
  const rows: readonly (readonly [string, string])[] = JSON.parse(brotliDecompressSync(Buffer.from(blockOfFormat1, 'base64')).toString());
  const host = fakeHost({ nowMs: nowMs + dayMs });
  const store = await host.store('logs');
  await store.write(rows.map(([key, value]) => ({ op: 'put', key, value: Buffer.from(value, 'base64') })));
  return {
    host, store, key: keyOfHead(rows[0]?.[0] ?? ''),
    reader: async () => {
      const reader = await plugin.reader?.(params, host);
      assert.ok(reader !== undefined);
      return reader;
    },
  };
}

async function exported(reader: LogReader): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const page of reader.export({ scope }, noSignal())) records.push(...page);
  return records;
}

async function formatsIn(store: Store): Promise<readonly number[]> {
  const formats: number[] = [];
  for await (const { value } of store.range({ from: heads.from, to: heads.to, limit: 10 })) formats.push(readHead(value).format);
  return formats;
}

/** The keys of a block that are rows. */
async function rowsOf(store: Store, key: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { key: row } of removalOf(key)) if (await store.get(row) !== undefined) found.push(row);
  return found;
}

describe('a block of the first format', () => {
  it('is read, whatever is asked of it', async () => {
    const { store, reader } = await stageOf();
    assert.deepEqual(await formatsIn(store), [1]);
    const read = await reader();
    assert.deepEqual(await exported(read), written);
    const newestOf = async (filter: Omit<LogFilter, 'scope'>, isWanted: (record: LogRecord) => boolean): Promise<void> => {
      const wanted = written.filter(isWanted).reverse();
      assert.ok(wanted.length > 0);
      assert.deepEqual((await (await reader()).page({ scope, ...filter }, { limit: 100 })).records, wanted, JSON.stringify(filter));
    };
    await newestOf({ keyIds: ['k7'] }, ({ keyId }) => keyId === 'k7');
    await newestOf({ metadata: { _user: 'u7' } }, ({ metadata }) => metadata.includes('"u7"'));
    await newestOf({ metadata: { _user: 'a' } }, ({ metadata }) => metadata.includes('u0061'));
    await newestOf({ spanIds: ['0000000500000005'] }, ({ spanId }) => spanId === '0000000500000005');
    await newestOf({ traceIds: ['trace-4'] }, ({ traceId }) => traceId === 'trace-4');
    await newestOf({ cost: { min: 0.00009 } }, ({ cost }) => cost >= 0.00009);
    assert.deepEqual(await read.read(scope, recordOf(1).id), [recordOf(1)]);
    const { rows } = await read.aggregate({ filter: { scope }, bucket: null, groupBy: 'metadata.team', measures: ['count', 'totalTokens'] });
    const teams = new Map(rows.map(({ group, values }) => [group, values]));
    for (const team of ['t0', 't1', 't2', '']) {
      const of = written.filter(({ metadata }) => (team === '' ? !metadata.includes('team') : metadata.includes(`"${team}"`)));
      assert.deepEqual(teams.get(team), [of.length, of.reduce((sum, { totalTokens }) => sum + totalTokens, 0)], team);
    }
  });

  it('is one of the format of now once it is merged, and leaves no row behind', async () => {
    const { host, store, key, reader } = await stageOf();
    const exporter = await plugin.create(params, host);
    // A late one, of the same part of the day, that arrives a second after the block.
    const late = recordOf(100);
    host.advance(1000 - dayMs);
    await exporter.export([late], noSignal());
    host.advance(2 * dayMs);
    await host.runEvery();
    assert.deepEqual(await formatsIn(store), [2]);
    assert.deepEqual(await exported(await reader()), [...written, late]);
    const left: string[] = [];
    for await (const row of store.range({ from: 'x', to: 'z', limit: 100 })) left.push(row.key);
    const now = left.map((row) => row.slice(1, 1 + key.length));
    assert.equal(new Set(now).size, 1, left.join(' '));
    assert.ok(!left.some((row) => row.endsWith('f')), left.join(' '));
  });

  it('gets new prices, and is of the format of now with them', async () => {
    const { store, key, reader } = await stageOf();
    const { id, saved, isPriced } = recordOf(5);
    await (await reader()).reprice?.([{ id, cost: 7, saved, isPriced }]);
    assert.deepEqual(await exported(await reader()), written.map((record) => (record.id === id ? { ...record, cost: 7 } : record)));
    assert.deepEqual(await formatsIn(store), [2]);
    const rows = await rowsOf(store, key);
    assert.ok(rows.includes(headKey(key)) && !rows.some((row) => row.endsWith('f')), rows.join(' '));
  });

  it('is in an export whole, though it gets new prices meanwhile', async () => {
    const { id, saved, isPriced } = recordOf(5);
    const repriced = (cost: number): readonly LogRecord[] => written.map((record) => (record.id === id ? { ...record, cost } : record));
    const early = sampleLogRecord({ id: 'early', organisationId: 'organisation', startedAtMs: nowMs - 1 });
    for (const isLarge of [true, false]) {
      const { host, store, key, reader } = await stageOf();
      const exporter = await plugin.create(params, host);
      await exporter.export([early], noSignal());
      if (isLarge) {
        // One that is merged with nothing is read when its turn comes.
        const head = await store.get(headKey(key));
        assert.ok(head !== undefined);
        const packr = new Packr({ useRecords: false });
        await store.write([{ op: 'put', key: headKey(key), value: packr.pack({ ...Object(packr.unpack(head.value)), bytes: 4 * 1024 * 1024 }) }]);
      }
      // Between the list and the first of its parts.
      const get = store.get.bind(store);
      let isRepriced = false;
      const read = await reader();
      const other = await reader();
      store.get = async (row) => {
        if (row === partKey(key, 'facts') && !isRepriced) {
          isRepriced = true;
          await other.reprice?.([{ id, cost: 7, saved, isPriced }]);
        }
        return get(row);
      };
      assert.deepEqual(await exported(read), [early, ...repriced(7)], `${isLarge}`);
      assert.ok(isRepriced);
    }
  });
});
