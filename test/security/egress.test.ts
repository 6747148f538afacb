// Whatever a test here finds broken, its traffic stays on loopback: sockets are opened only where the name server (always injected) gives
// loopback addresses; all other ranges are put to the decision itself.
import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, isIP, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client, type buildConnector } from 'undici';
import { isGatewayError, type GatewayError } from '../../core/errors/gateway-error.js';
import { AddressPolicy } from '../../core/upstream/address-policy.js';
import type { Trust } from '../../core/upstream/client.js';
import { parseCustomHost } from '../../core/upstream/custom-host.js';
import { checkedLookup, Egress, peerFaultOf, type Resolver } from '../../core/upstream/egress.js';

const connectTimeoutMs = 2000;

/** Counts what reaches it. */
class Target {
  connections = 0;
  requests = 0;
  readonly server: Server;
  constructor() {
    const server = createHttpServer((_, response) => {
      this.requests += 1;
      response.end('reached');
    });
    server.on('connection', () => { this.connections += 1; });
    this.server = server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async listen(host: string, port: number): Promise<boolean> {
    this.server.listen(port, host);
    return Promise.race([once(this.server, 'listening').then(() => true), once(this.server, 'error').then(() => false)]);
  }
}

// One port on both addresses, so that every spelling below has somebody to reach.
let first = new Target();
let second = new Target();
const open = new Target();

before(async () => {
  await open.listen('127.0.0.1', 0);
  for (let round = 0; round < 20; round += 1) {
    await first.listen('127.0.0.1', 0);
    if (await second.listen('127.0.0.2', first.port)) return;
    first.server.close();
    first = new Target();
    second = new Target();
  }
  assert.fail('no port is free on both 127.0.0.1 and 127.0.0.2');
});

after(() => {
  for (const { server } of [first, second, open]) server.close();
});

const reached = (): number => first.connections + second.connections;

/** Answers in turn; fails the test when it is asked once more. Only loopback addresses may be given where a socket could open. */
const resolverOf = (...answers: readonly (readonly string[])[]) => {
  const asked: string[] = [];
  const resolve: Resolver = (hostname, callback) => {
    const answer = answers[asked.length];
    asked.push(hostname);
    if (answer === undefined) callback(new Error(`asked once more than expected, for ${hostname}`), []);
    else callback(null, answer.map((address): LookupAddress => ({ address, family: isIP(address) })));
  };
  return { resolve, asked };
};

async function get(egress: Egress, trust: Trust, url: URL): Promise<string> {
  const client = new Client(url.origin, { connect: egress.connector(trust) });
  try {
    const { body } = await client.request({ method: 'GET', path: '/' });
    return await body.text();
  } finally {
    await client.destroy();
  }
}

async function refusalOf(work: Promise<unknown>): Promise<GatewayError> {
  const thrown = await work.then((result) => assert.fail(`not refused: ${String(result)}`), (fault: unknown) => fault);
  assert.ok(isGatewayError(thrown), String(thrown));
  assert.equal(thrown.code, 'EGRESS_REFUSED');
  assert.equal(thrown.status, 403);
  return thrown;
}

const literals = ['127.0.0.2', '127.2', '127.0.2', '2130706434', '0x7f000002', '0x7f.2', '0177.0.0.2', '017700000002', '127.0.0.2.', '１２７.０.０.２', '%31%32%37.0.0.2', '[::ffff:127.0.0.2]',
  '[::ffff:7f00:2]', '[0:0:0:0:0:ffff:7f00:2]', '127.0.0.1', '2130706433', '0x7f.1', '127.1', '[::ffff:127.0.0.1]', '[::1]', '[::]', '0.0.0.0', '0', '0x0'];

test('no spelling of a loopback address gets a request-supplied host through', async () => {
  const { resolve, asked } = resolverOf();
  const egress = new Egress({ policy: new AddressPolicy([`127.0.0.1:${open.port}`]), resolve, connectTimeoutMs });
  for (const literal of literals) {
    const fault = await refusalOf(get(egress, 'request', parseCustomHost(`http://${literal}:${first.port}`)));
    assert.match(fault.message, /: it is an? (loopback|unspecified) address; the operator can allow it/, literal);
  }
  assert.deepEqual(asked, []);
  assert.equal(reached(), 0);
});

test('the same spellings do reach the server when the operator wrote them', async () => {
  const egress = new Egress({ policy: new AddressPolicy([]), resolve: resolverOf().resolve, connectTimeoutMs });
  const spellings = literals.filter((literal) => literal.includes('127') || literal.startsWith('0x7f') || literal.startsWith('2130'));
  for (const literal of spellings) assert.equal(await get(egress, 'operator', parseCustomHost(`http://${literal}:${first.port}`)), 'reached', literal);
  assert.equal(first.requests + second.requests, spellings.length);
  first.connections = second.connections = 0;
});

test('names for this machine are refused before they are resolved', async () => {
  const { resolve, asked } = resolverOf();
  const egress = new Egress({ policy: new AddressPolicy([]), resolve, connectTimeoutMs });
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ｌｏｃａｌｈｏｓｔ', '%6cocalhost', 'gateway.internal', 'metadata.google.internal']) {
    await refusalOf(get(egress, 'request', parseCustomHost(`http://${name}:${first.port}`)));
    // Also with the dot that parseCustomHost takes off.
    await refusalOf(get(egress, 'request', new URL(`http://${name.replace(/\.$/, '')}.:${first.port}`)));
  }
  assert.deepEqual(asked, []);
  assert.equal(reached(), 0);
});

test('a public-looking name that resolves to loopback is refused, and the message does not say to what', async () => {
  for (const address of ['127.0.0.2', '127.0.0.1', '::ffff:127.0.0.2', '::ffff:7f00:2', '::1', '0.0.0.0']) {
    const { resolve, asked } = resolverOf([address]);
    const egress = new Egress({ policy: new AddressPolicy([]), resolve, connectTimeoutMs });
    const fault = await refusalOf(get(egress, 'request', new URL(`http://models.example.com:${first.port}`)));
    assert.match(fault.message, new RegExp(`^refused to connect to models.example.com:${first.port}: it resolves to an? (loopback|unspecified) address;`));
    assert.ok(!fault.message.includes(address) || address.length < 3, fault.message);
    assert.deepEqual(asked, ['models.example.com']);
  }
  assert.equal(reached(), 0);
});

test('an answer that mixes a good address with a refused one is refused whole, in either order', async () => {
  for (const answer of [['127.0.0.1', '127.0.0.2'], ['127.0.0.2', '127.0.0.1'], ['127.0.0.1', '127.0.0.1', '::ffff:127.0.0.2']]) {
    const egress = new Egress({ policy: new AddressPolicy(['127.0.0.1']), resolve: resolverOf(answer).resolve, connectTimeoutMs });
    await refusalOf(get(egress, 'request', new URL(`http://models.example.com:${first.port}`)));
  }
  assert.equal(reached(), 0);
});

test('a name that turns to another address between two looks is refused at the second', async () => {
  const { resolve, asked } = resolverOf(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']);
  const egress = new Egress({ policy: new AddressPolicy([`127.0.0.1:${open.port}`]), resolve, connectTimeoutMs });
  const url = new URL(`http://models.example.com:${open.port}`);
  assert.equal(await get(egress, 'request', url), 'reached');
  await refusalOf(get(egress, 'request', url));
  assert.equal(await get(egress, 'request', url), 'reached');
  assert.equal(asked.length, 3, 'one look for each connection: the socket gets what was judged');
  assert.equal(reached(), 0);
});

test('trusted hosts work: by address and port, by name, by range, in any spelling', async () => {
  const { port } = open;
  const names = resolverOf(['127.0.0.1'], ['127.0.0.1']);
  const cases: readonly (readonly [trusted: string, url: string, resolve: Resolver])[] = [
    [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`, names.resolve],
    [`127.0.0.1:${port}`, `http://0x7f.1:${port}`, names.resolve],
    [`127.0.0.1:${port}`, `http://[::ffff:127.0.0.1]:${port}`, names.resolve],
    ['127.0.0.1', `http://127.0.0.1:${port}`, names.resolve],
    ['127.0.0.0/8', `http://127.0.0.1:${port}`, names.resolve],
    [`ollama.internal:${port}`, `http://ollama.internal:${port}`, names.resolve],
    ['localhost', `http://localhost:${port}`, names.resolve],
  ];
  for (const [trusted, url, resolve] of cases) {
    const egress = new Egress({ policy: new AddressPolicy([trusted]), resolve, connectTimeoutMs });
    assert.equal(await get(egress, 'request', parseCustomHost(url)), 'reached', `${trusted} ${url}`);
  }
  assert.deepEqual(names.asked, ['ollama.internal', 'localhost']);
});

test('trust in one port says nothing about another', async () => {
  const egress = new Egress({ policy: new AddressPolicy([`127.0.0.1:${open.port}`, `ollama.internal:${open.port}`]), resolve: resolverOf(['127.0.0.1']).resolve, connectTimeoutMs });
  for (const url of [`http://127.0.0.1:${first.port}`, `http://ollama.internal:${first.port}`]) await refusalOf(get(egress, 'request', new URL(url)));
  assert.equal(reached(), 0);
});

const lookUp = (policy: AddressPolicy, answer: readonly string[], options: { all?: boolean; family?: number } = { all: true }, trust: Trust = 'request', host = 'models.example.com') => {
  const results: unknown[][] = [];
  checkedLookup(policy, resolverOf(answer).resolve, 443, trust)(host, options, (...result) => { results.push(result); });
  assert.equal(results.length, 1, 'called back exactly once');
  return results[0]!;
};

test('the lookup refuses every special range, alone and behind a public address', () => {
  const policy = new AddressPolicy([]);
  const refused = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.1.1', '169.254.169.254', '100.64.0.1', '100.100.100.200', '168.63.129.16', '0.0.0.0', '224.0.0.1', '240.0.0.1',
    '255.255.255.255', '192.0.2.1', '198.18.0.1', '192.0.0.1', '::', '::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', '2001:db8::1', '2001::1', '2002:7f00:1::', '64:ff9b::7f00:1',
    '64:ff9b:1::1', '::ffff:10.0.0.1', '::10.0.0.1'];
  for (const address of refused) {
    for (const answer of [[address], ['93.184.215.14', address], [address, '93.184.215.14'], ['2606:4700::1111', '93.184.215.14', address]]) {
      for (const options of [{ all: true }, { all: false }, {}, { all: true, family: isIP(address) === 4 ? 6 : 4 }]) {
        const [fault, addresses] = lookUp(policy, answer, options);
        assert.ok(isGatewayError(fault), address);
        assert.equal(fault.code, 'EGRESS_REFUSED');
        assert.deepEqual(addresses, []);
        assert.ok(address.length < 3 || !fault.message.includes(address), fault.message);
      }
    }
  }
});

test('the lookup hands on exactly the judged addresses, in both forms that node asks for', () => {
  const policy = new AddressPolicy([]);
  const answer = ['2606:4700::1111', '93.184.215.14', '1.1.1.1'];
  const whole = answer.map((address) => ({ address, family: isIP(address) }));
  assert.deepEqual(lookUp(policy, answer, { all: true }), [null, whole]);
  assert.deepEqual(lookUp(policy, answer, { all: true, family: 4 }), [null, whole.slice(1)]);
  assert.deepEqual(lookUp(policy, answer, { all: false }), [null, '2606:4700::1111', 6]);
  assert.deepEqual(lookUp(policy, answer, { family: 4 }), [null, '93.184.215.14', 4]);
});

test('a name without an address, and a name server that fails, are faults of the network', () => {
  const policy = new AddressPolicy([]);
  const [none] = lookUp(policy, []);
  assert.ok(isGatewayError(none));
  assert.equal(none.code, 'UPSTREAM_UNREACHABLE');
  const results: unknown[] = [];
  checkedLookup(policy, (_, callback) => callback(new Error('no answer'), []), 443, 'request')('models.example.com', { all: true }, (fault) => { results.push(fault?.message); });
  assert.deepEqual(results, ['no answer']);
});

test('of very many addresses all are judged and sixteen are tried', () => {
  const many = Array.from({ length: 200 }, (_, index) => `8.8.${index}.8`);
  const [fault, addresses] = lookUp(new AddressPolicy([]), many);
  assert.equal(fault, null);
  assert.deepEqual((addresses as LookupAddress[]).map(({ address }) => address), many.slice(0, 16));
  assert.ok(isGatewayError(lookUp(new AddressPolicy([]), [...many, '10.0.0.1'])[0]));
});

test('the operator reaches private addresses through a name, never a metadata service', () => {
  const policy = new AddressPolicy([]);
  assert.equal(lookUp(policy, ['10.0.0.7'], { all: true }, 'operator')[0], null);
  for (const address of ['169.254.169.254', 'fd00:ec2::254', '::ffff:169.254.169.254', '100.100.100.200', '168.63.129.16', '169.254.170.2']) {
    const [fault] = lookUp(policy, ['10.0.0.7', address], { all: true }, 'operator');
    assert.ok(isGatewayError(fault), address);
    assert.match(fault.message, /cloud metadata/);
  }
  assert.ok(isGatewayError(lookUp(policy, ['10.0.0.7'], { all: true }, 'operator', 'metadata.google.internal')[0]));
});

test('the address really connected to is judged too', () => {
  const policy = new AddressPolicy(['127.0.0.1:80']);
  const faultAt = (remoteAddress: string | undefined, port = 443): string | undefined => {
    const fault = peerFaultOf(policy, { hostname: 'models.example.com', port, trust: 'request' }, { remoteAddress });
    return fault === undefined || !isGatewayError(fault) ? undefined : fault.code;
  };
  assert.equal(faultAt('93.184.215.14'), undefined);
  assert.equal(faultAt('127.0.0.1', 80), undefined);
  assert.equal(faultAt('::ffff:127.0.0.1', 80), undefined);
  for (const address of ['127.0.0.1', '127.0.0.2', '::ffff:10.0.0.1', '::1', '']) assert.equal(faultAt(address), 'EGRESS_REFUSED', address);
  assert.equal(faultAt(undefined), 'UPSTREAM_UNREACHABLE');
});

/** Calls the connector by itself, with options that undici never sends. */
const connectBy = (egress: Egress, trust: Trust, options: buildConnector.Options): Promise<Socket> => new Promise((resolve, reject) => {
  egress.connector(trust)(options, (...[fault, socket]) => { if (socket === null) reject(fault); else resolve(socket); });
});

test('a Unix socket cannot be opened, not even for the operator', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'));
  const path = join(folder, 'secret.sock');
  let opened = 0;
  const server = createServer((socket) => { opened += 1; socket.destroy(); });
  server.listen(path);
  await once(server, 'listening');
  try {
    const egress = new Egress({ policy: new AddressPolicy([`127.0.0.1:${open.port}`]), resolve: resolverOf().resolve, connectTimeoutMs });
    for (const trust of ['request', 'operator'] as const) {
      for (const hostname of [path, `/${path}`, `.${path}`, '', 'a b', 'a\\b', 'a\0b']) await refusalOf(connectBy(egress, trust, { hostname, protocol: 'http:', port: String(open.port) }));
      for (const port of [path, '-1', '0', '65536', '1.5', 'x']) await refusalOf(connectBy(egress, trust, { hostname: '127.0.0.1', protocol: 'http:', port }));
      for (const protocol of ['unix:', 'file:', 'ftp:', '']) await refusalOf(connectBy(egress, trust, { hostname: '127.0.0.1', protocol, port: String(open.port) }));
      const socket = await connectBy(egress, trust, { hostname: '127.0.0.1', protocol: 'http:', port: String(open.port), socketPath: path });
      assert.equal(socket.remotePort, open.port);
      socket.destroy();
    }
    assert.equal(opened, 0);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

test('the server name in TLS is the host name of the URL, whatever the request says', async () => {
  let hello = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      hello = Buffer.concat([hello, chunk]);
      socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const egress = new Egress({ policy: new AddressPolicy([`models.example.com:${port}`]), resolve: resolverOf(['127.0.0.1']).resolve, connectTimeoutMs });
    await assert.rejects(connectBy(egress, 'request', { hostname: 'models.example.com', host: 'other.example.com', servername: 'other.example.com', protocol: 'https:', port: String(port) }));
    assert.ok(hello.includes('models.example.com'));
    assert.ok(!hello.includes('other.example.com'));
  } finally {
    server.close();
  }
});

test('a name server that never answers ends in the connect timeout', async () => {
  const egress = new Egress({ policy: new AddressPolicy([]), resolve: () => {}, connectTimeoutMs: 20 });
  await assert.rejects(get(egress, 'request', new URL('http://models.example.com')), { code: 'UPSTREAM_UNREACHABLE', message: 'could not reach models.example.com:80: connect timeout' });
});

test('added certificates that are none are refused at start', () => {
  for (const ca of ['', 'not a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']) {
    assert.throws(() => new Egress({ policy: new AddressPolicy([]), connectTimeoutMs, ca }), (thrown: unknown) => isGatewayError(thrown) && thrown.code === 'SETTINGS_INVALID' && /PEM/.test(thrown.message));
  }
});

test('nothing refused above ever reached a server', () => {
  assert.equal(reached(), 0);
});
