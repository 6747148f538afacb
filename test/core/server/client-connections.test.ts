import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressKey, ClientConnections, countTable, type ConnectionLimits } from '../../../core/server/client-connections.js';

const bytes = (...parts: number[]): Uint8Array => new Uint8Array(parts);
const ipv6 = (...words: number[]): Uint8Array => new Uint8Array(words.flatMap((word) => [word >> 8, word & 0xff]));

/** As the kernel prints it: /proc/net/tcp and tcp6 of a machine with little-endian words. */
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 17 1
   1: 0100007F:1F90 0201A8C0:D2F0 01 00000000:00000000 00:00000000 00000000  1000        0 18 1
   2: 0100007F:1F90 0201A8C0:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 18 1
   3: 0100007F:1F90 0201A8C0:D2F2 06 00000000:00000000 03:00000000 00000000     0        0  0 3
   4: 0100007F:1F91 0201A8C0:D2F3 01 00000000:00000000 00:00000000 00000000  1000        0 18 1
   5: 0201A8C0:D2F4 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 18 1
   6: 0100007F:1F90 0301A8C0:D2F5 08 00000000:00000000 00:00000000 00000000  1000        0 18 1
`;
const table6 = `  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:1F90 0000000000000000FFFF00000201A8C0:D2F6 01 00000000:00000000
   1: 00000000000000000000000000000000:1F90 B80D012001000000CDAB000001000000:D2F7 01 00000000:00000000
   2: 00000000000000000000000000000000:1F90 B80D012001000000CDAB000002000000:D2F8 01 00000000:00000000
`;

describe('the kernel\'s table', () => {
  it('counts the connections to the port that are held, by address, and IPv6 by its first half', () => {
    const counts = new Map<string, number>();
    countTable(table, 8080, counts);
    countTable(table6, 8080, counts);
    assert.deepEqual(Object.fromEntries(counts), {
      [addressKey(bytes(192, 168, 1, 2))]: 3,
      [addressKey(bytes(192, 168, 1, 3))]: 1,
      [addressKey(ipv6(0x2001, 0xdb8, 0, 1, 0, 0, 0, 7))]: 2,
    });
  });
});

describe('the limits of connections', () => {
  const limits: ConnectionLimits = { connectionsMax: 100, perAddressMax: 10, trustedProxies: ['10.0.0.0/8', 'fd00::/8', '192.168.1.9'] };
  const mine = bytes(192, 168, 1, 2);
  function bench(counted: () => ReadonlyMap<string, number> | undefined = () => new Map()) {
    const reports: string[] = [];
    let nowMs = 0;
    let readings = 0;
    const connections = new ClientConnections(limits, { refused: (reason, count) => reports.push(`${reason} ${count}`) },
      () => { readings += 1; return Promise.resolve(counted()); }, () => nowMs);
    const open = (address: Uint8Array, times = 1): number => Array.from({ length: times }, () => connections.onOpened(() => address)).filter(Boolean).length;
    return { connections, open, reports, readings: () => readings, pass: (ms: number) => { nowMs += ms; return new Promise<void>((resolve) => { setImmediate(resolve); }); } };
  }

  it('close what comes beyond the number in all, and take others when some have gone', () => {
    const { connections, open, reports } = bench();
    for (let host = 0; host < 20; host += 1) open(bytes(1, 1, 1, host), 5);
    assert.equal(connections.open, 100);
    assert.equal(open(bytes(2, 2, 2, 2)), 0);
    connections.onClosed();
    connections.onClosed();
    assert.equal(open(bytes(2, 2, 2, 2)), 1);
    assert.deepEqual(reports, ['all 1']);
  });

  it('close what comes beyond the number of one address at once, in a burst too', () => {
    const { open, reports } = bench();
    assert.equal(open(mine, 30), 10);
    assert.equal(open(bytes(192, 168, 1, 3)), 1);
    assert.deepEqual(reports, ['address 1']);
  });

  it('take an address again when the table says that it holds fewer', async () => {
    const key = addressKey(mine);
    let held = 10;
    const { open, pass } = bench(() => new Map([[key, held]]));
    open(mine, 10);
    await pass(1_000);
    assert.equal(open(mine), 0);
    await pass(1_000);
    held = 4;
    assert.equal(open(mine), 0, 'it begins to read the table again');
    await pass(0);
    assert.equal(open(mine, 20), 6);
  });

  it('do not count who opens and closes again and again', async () => {
    const { connections, open, pass } = bench();
    for (let count = 0; count < 50; count += 1) {
      assert.equal(open(mine), 1);
      connections.onClosed();
      await pass(200);
    }
  });

  it('read the table seldom, and not for addresses with few connections', async () => {
    const { open, readings, pass } = bench(() => new Map([[addressKey(mine), 10]]));
    for (let host = 0; host < 10; host += 1) open(bytes(1, 1, 1, host), 4);
    assert.equal(readings(), 0);
    for (let count = 0; count < 20; count += 1) {
      open(mine);
      await pass(100);
    }
    assert.ok(readings() >= 2 && readings() <= 5, String(readings()));
  });

  it('leave trusted proxies alone, and every address where there is no table', async () => {
    const { open } = bench();
    assert.equal(open(bytes(10, 1, 2, 3), 20), 20);
    assert.equal(open(ipv6(0, 0, 0, 0, 0, 0xffff, 0x0a01, 0x0203), 20), 20);
    assert.equal(open(ipv6(0xfd00, 0, 0, 1, 0, 0, 0, 7), 20), 20);
    assert.equal(open(bytes(192, 168, 1, 9), 20), 20);
    const none = bench(() => undefined);
    none.open(mine, 5);
    none.open(mine);
    await none.pass(0);
    assert.equal(none.open(mine, 20), 20);
  });
});
