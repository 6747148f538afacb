import assert from 'node:assert/strict';
import { pbkdf2 } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { AddressPolicy } from '../../../core/upstream/address-policy.js';
import { Egress } from '../../../core/upstream/egress.js';
import { NameResolver } from '../../../core/upstream/resolver.js';
import { namesToTry, parseHosts, parseSearchList, SystemNames } from '../../../core/upstream/system-names.js';
import { HttpClient } from '../../../core/upstream/http/http-client.js';
import { Heard } from './heard.js';
import { startNameServer } from './name-server.js';
import { startRawServer } from './raw-server.js';

const folder = mkdtempSync(join(tmpdir(), 'gateway-names-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const names = await startNameServer();
const upstream = await startRawServer();
let files = 0;

function system(hosts = '', resolv = '', now?: () => number): SystemNames {
  files += 1;
  const [hostsFile, resolvFile] = [join(folder, `hosts-${files}`), join(folder, `resolv-${files}`)];
  writeFileSync(hostsFile, hosts);
  writeFileSync(resolvFile, resolv);
  return new SystemNames({ hostsFile, resolvFile, servers: [names.address], ...(now === undefined ? {} : { now }) });
}

const answerOf = (from: SystemNames, name: string): Promise<string> => new Promise((resolve) => {
  from.ask(name, (fault, addresses, ttlMs) => resolve(fault === null ? `${addresses.map(({ address }) => address).join()} ${ttlMs}` : `${'code' in fault ? String(fault.code) : fault.message}`));
});

describe('the names of the machine', () => {
  it('are those of the hosts file first, both families, and are read again when it changes', async () => {
    let nowMs = 0;
    const from = system('127.0.0.5 db.example Db2 # comment\n::1\tdb.example\n#127.0.0.6 no.example\nnonsense db.example\n', '', () => nowMs);
    names.asked.length = 0;
    assert.equal(await answerOf(from, 'db.example'), '127.0.0.5,::1 0');
    assert.equal(await answerOf(from, 'db2'), '127.0.0.5 0');
    assert.deepEqual(names.asked, []);
    writeFileSync(join(folder, `hosts-${files}`), '127.0.0.77 db.example other.example\n');
    nowMs = 1000;
    assert.equal(await answerOf(from, 'db.example'), '127.0.0.77 0');
  });

  it('have localhost among them without being asked for it', async () => {
    names.asked.length = 0;
    assert.equal(await answerOf(system(), 'localhost'), '127.0.0.1,::1 0');
    assert.equal(await answerOf(system(), 'a.localhost'), '127.0.0.1,::1 0');
    assert.deepEqual(names.asked, []);
  });

  it('come from the name server with all their addresses and the shortest life of them', async () => {
    names.zone = { 'both.example': { a: ['127.0.0.1', '127.0.0.2'], aaaa: ['::1'], ttl: 7 }, 'four.example': { a: ['127.0.0.1'], ttl: 0 }, 'six.example': { aaaa: ['::1'] } };
    assert.equal(await answerOf(system(), 'both.example'), '127.0.0.1,127.0.0.2,::1 7000');
    assert.equal(await answerOf(system(), 'four.example'), '127.0.0.1 1000');
    assert.equal(await answerOf(system(), 'six.example'), '::1 60000');
    assert.equal(await answerOf(system(), 'none.example'), 'ENOTFOUND');
  });

  it('are completed by the search list as in a cluster: short ones first there, long ones at last', async () => {
    names.zone = { 'ollama.team.svc.cluster.local': { a: ['127.0.0.3'] }, 'ollama.team': { a: ['127.0.0.66'] }, 'models.example.com': { a: ['127.0.0.4'] } };
    const from = system('', 'search shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5 timeout:1\nnameserver 127.0.0.1\n');
    names.asked.length = 0;
    assert.equal(await answerOf(from, 'ollama.team'), '127.0.0.3 60000');
    assert.deepEqual([...new Set(names.asked)].filter((line) => line.startsWith('A ')), ['A ollama.team.shop.svc.cluster.local', 'A ollama.team.svc.cluster.local']);
    assert.equal(await answerOf(from, 'models.example.com'), '127.0.0.4 60000');
  });

  it('are not taken from further down the list because the name server fails to answer for one above', async () => {
    names.zone = { 'a.one.example': 'failing', 'a.two.example': { a: ['127.0.0.9'] }, b: 'failing' };
    assert.equal(await answerOf(system('', 'search one.example two.example'), 'a'), '127.0.0.9 60000', 'a failure of one zone hides no other, as in the C library');
    assert.equal(await answerOf(system(), 'b'), 'ESERVFAIL');
  });

  it('do not wait long for the other family', async () => {
    names.zone = { 'half.example': 'half-silent' };
    assert.equal(await answerOf(system(), 'half.example'), '127.0.0.1 60000');
  });

  it('that never resolve keep nobody else from theirs', async () => {
    names.zone = { 'upstream.example': { a: ['127.0.0.1'] } };
    const silent = Array.from({ length: 40 }, (_, index) => `silent-${index}.example`);
    names.zone = { ...names.zone, ...Object.fromEntries(silent.map((name) => [name, 'silent' as const])) };
    const resolver = new NameResolver({ ask: system().ask, deadlineMs: 2_000 });
    const egress = new Egress({ policy: new AddressPolicy(['upstream.example', ...silent]), resolve: resolver.resolve, connectTimeoutMs: 20_000 });
    const client = new HttpClient({ egress, connectionsMax: 100, firstByteTimeoutMs: 20_000, idleTimeoutMs: 20_000 });
    const send = (name: string, caller: string): Heard => {
      const heard = new Heard();
      client.origin(new URL(`http://${name}:${upstream.url.port}`), 'request').send({ method: 'GET', path: '/', headers: [], body: null, caller }, heard);
      return heard;
    };
    const stuck = silent.map((name) => send(name, 'greedy'));
    const heard = send('upstream.example', 'modest');
    await heard.over();
    assert.deepEqual(heard.story, ['head', 'chunk', 'end']);
    assert.ok(stuck.some((other) => !other.isOver), 'some are still being looked up');
    for (const other of stuck) await other.over();
    assert.equal(stuck.filter(({ story }) => story[0] === 'LOOKUPS_BUSY').length, 24);
    assert.equal(stuck.filter(({ story }) => story[0] === 'UPSTREAM_UNREACHABLE').length, 16);
    await client.close();
  });

  it('need no thread that something else may hold', async () => {
    const egress = new Egress({ policy: new AddressPolicy([]), connectTimeoutMs: 5000 });
    const order: string[] = [];
    // As many as libuv has threads, and as many waiting behind them.
    const work = Array.from({ length: 8 }, () => new Promise<void>((resolve) => {
      pbkdf2('password', 'salt', 100_000, 64, 'sha512', () => { order.push('work'); resolve(); });
    }));
    const addresses = await egress.addresses('localhost');
    order.push('name');
    await Promise.all(work);
    assert.ok(addresses.includes('127.0.0.1'));
    assert.equal(order[0], 'name');
  });
});

describe('the search list', () => {
  it('is read from the last line that has one, with its limits', () => {
    assert.deepEqual(parseSearchList(''), { domains: [], ndots: 1 });
    assert.deepEqual(parseSearchList('domain one.example\n; search no.example\nsearch A.example. b.example # c\noptions rotate ndots:3\n'), { domains: ['a.example', 'b.example'], ndots: 3 });
    assert.deepEqual(parseSearchList('search .\noptions ndots:0'), { domains: [], ndots: 0 });
    assert.deepEqual(parseSearchList(`search ${Array.from({ length: 50 }, (_, index) => `d${index}`).join(' ')}\noptions ndots:99`).domains.length, 6);
  });

  it('gives the names in the order of the C library', () => {
    const list = { domains: ['x', 'y'], ndots: 2 };
    assert.deepEqual(namesToTry('a', list), ['a.x', 'a.y', 'a']);
    assert.deepEqual(namesToTry('a.b', list), ['a.b.x', 'a.b.y', 'a.b']);
    assert.deepEqual(namesToTry('a.b.c', list), ['a.b.c', 'a.b.c.x', 'a.b.c.y']);
    assert.deepEqual(namesToTry('a.', list), ['a']);
    assert.deepEqual(namesToTry('a', { domains: [], ndots: 1 }), ['a']);
  });
});

describe('a hosts file', () => {
  it('may hold anything', () => {
    assert.deepEqual([...parseHosts('\n\n  \n127.0.0.1\n1.2.3 x\n127.0.0.1 a a\r\nfe80::1%lo0 b\n').keys()].filter((name) => name !== 'b'), ['a']);
  });
});
