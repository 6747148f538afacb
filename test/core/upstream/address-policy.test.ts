import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { AddressPolicy } from '../../../core/upstream/address-policy.js';

const strict = new AddressPolicy([]);
const decide = (policy: AddressPolicy, address: string, port = 443): string | undefined => policy.decideAddress(address, isIP(address), 'models.example.com', port);

/** kind -> addresses at both edges of each of its ranges. */
const refused: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0', '127.0.0.1', '127.0.0.2', '127.255.255.255', '::1'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fec0::', 'feff::1'],
  'link-local': ['169.254.0.0', '169.254.255.255', 'fe80::', 'febf:ffff::1'],
  'carrier NAT': ['100.64.0.0', '100.127.255.255'],
  unspecified: ['0.0.0.0', '0.255.255.255', '::'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  documentation: ['192.0.2.0', '192.0.2.255', '198.51.100.7', '203.0.113.255', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:fff::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  tunnel: ['2001::', '2001:0:ffff::1', '2002::', '2002:808:808::1', '2002:7f00:1::1', '192.88.99.1', '64:ff9b:1::808:808'],
  reserved: ['192.0.0.0', '192.0.0.255', '240.0.0.0', '255.255.255.254', '255.255.255.255', '2001:1ff::1', '100::1', '64:ff9b::1:0:0', '200::1', '4000::1', '5f00::1', '1::', '::1:0:0:0'],
};

const accepted = ['1.0.0.0', '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0',
  '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0',
  '203.0.112.255', '203.0.114.0', '223.255.255.255', '2001:200::1', '2001:4860:4860::8888', '2001:db7:ffff::1', '2001:db9::', '2003::1', '2606:4700::1111', '2a00:1450::1', '3ffe::1'];

test('refuses every special range at both its edges and names the kind, not the address', () => {
  for (const [kind, addresses] of Object.entries(refused)) {
    for (const address of addresses) {
      const reason = decide(strict, address);
      assert.match(reason ?? '', new RegExp(`^it resolves to a ${kind} address; the operator can allow it in GATEWAY_TRUSTED_HOSTS$`), address);
      assert.ok(address === '::' || !reason?.includes(address), address);
    }
  }
});

test('accepts public addresses, also those right beside a refused range', () => {
  for (const address of accepted) assert.equal(decide(strict, address), undefined, address);
});

test('an IPv4 address inside an IPv6 one gets the answer of the IPv4 address', () => {
  const addresses = [...Object.values(refused).flat(), ...accepted].filter((address) => isIP(address) === 4 && !address.startsWith('0.'));
  assert.ok(addresses.length > 40);
  for (const address of addresses) {
    const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
    const hexadecimal = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    const wrapped = [`::ffff:${address}`, `::FFFF:${hexadecimal}`, `0:0:0:0:0:ffff:${hexadecimal}`, `::${address}`, `::ffff:0:${address}`, `64:ff9b::${address}`, `64:ff9b::${hexadecimal}`];
    for (const spelling of wrapped) assert.equal(decide(strict, spelling), decide(strict, address), spelling);
  }
});

const metadata = ['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.169.123', '169.254.0.23', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd00:ec2::23',
  'fd20:ce::254', 'fd00:c1::a9fe:a9fe', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', 'fe80::a9fe:a9fe', 'FD00:0EC2:0:0::0254'];

test('cloud metadata addresses are refused whoever wrote the host and whatever range or name is trusted', () => {
  const open = new AddressPolicy(['0.0.0.0/0', '::/0', 'models.example.com', '169.254.169.254:8080']);
  for (const address of metadata) {
    for (const policy of [strict, open]) {
      for (const trust of ['request', 'operator'] as const) {
        assert.equal(policy.decideAddress(address, isIP(address), 'models.example.com', 443, trust), 'it resolves to a cloud metadata address', `${address} ${trust}`);
      }
    }
  }
});

test('a metadata address listed by itself is allowed, in every spelling of it', () => {
  const policy = new AddressPolicy(['169.254.169.254', '[fd00:ec2::254]:80']);
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe']) assert.equal(decide(policy, address), undefined, address);
  assert.equal(decide(policy, 'fd00:ec2:0:0::254', 80), undefined);
  assert.match(decide(policy, 'fd00:ec2::254', 81) ?? '', /metadata/);
  assert.match(decide(policy, '169.254.170.2') ?? '', /metadata/);
  assert.equal(policy.decideHost('169.254.169.254', 80), 'trusted');
});

test('the operator may use private and loopback addresses', () => {
  for (const address of ['127.0.0.1', '10.1.2.3', '192.168.1.1', '::1', 'fd12::1', '100.64.0.1']) {
    assert.equal(strict.decideAddress(address, isIP(address), 'ollama', 11_434, 'operator'), undefined, address);
  }
  assert.equal(strict.decideHost('ollama.internal', 80, 'operator'), 'check');
  assert.equal(strict.decideHost('localhost', 80, 'operator'), 'check');
  assert.deepEqual(strict.decideHost('169.254.169.254', 80, 'operator'), { refused: 'it is a cloud metadata address' });
});

test('refuses names that never are public, in any case and with the dot at the end', () => {
  const names = ['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'a.b.localhost.', 'printer.local', 'box.localdomain', 'db.internal', 'wiki.intranet', 'nas.lan', 'pi.home', 'ad.corp',
    'abc.onion', 'x.invalid', 'x.test', 'internal', 'Corp.'];
  for (const name of names) {
    const decision = strict.decideHost(name, 443);
    assert.ok(typeof decision === 'object', name);
    assert.match(decision.refused, /^names under \.\w+ are not public; the operator can allow it in GATEWAY_TRUSTED_HOSTS$/);
  }
});

test('refuses names of cloud metadata services, to the operator too', () => {
  for (const name of ['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'metadata.goog', 'instance-data', 'metadata.tencentyun.com', 'api.metadata.cloud.ibm.com']) {
    for (const trust of ['request', 'operator'] as const) assert.deepEqual(strict.decideHost(name, 80, trust), { refused: 'it is a cloud metadata service' }, name);
  }
});

test('other names are decided by their addresses', () => {
  for (const name of ['models.example.com', 'ollama', 'localhost.example.com', 'mylocal', 'test.example.org', 'xn--mnchen-3ya.example']) assert.equal(strict.decideHost(name, 443), 'check', name);
});

test('refuses what is not a host name', () => {
  for (const name of ['', '.', '..', 'a..b', '.example.com', 'example.com..']) assert.deepEqual(strict.decideHost(name, 443), { refused: 'it is not a host name' }, name);
});

test('address literals are decided at once, with and without brackets', () => {
  assert.equal(strict.decideHost('1.1.1.1', 443), 'check');
  assert.equal(strict.decideHost('[2606:4700::1111]', 443), 'check');
  for (const [host, kind] of [['127.0.0.1', 'loopback'], ['127.0.0.1.', 'loopback'], ['[::1]', 'loopback'], ['::1', 'loopback'], ['[::ffff:7f00:1]', 'loopback'], ['10.0.0.1', 'private'], ['[::]', 'unspecified']] as const) {
    assert.deepEqual(strict.decideHost(host, 443), { refused: `it is a ${kind} address; the operator can allow it in GATEWAY_TRUSTED_HOSTS` }, host);
  }
});

test('addresses that are none, of another family or with a zone are refused', () => {
  for (const [address, family] of [['', 4], ['localhost', 4], ['1.1.1', 4], ['0x1.1.1.1', 4], ['1.1.1.1', 6], ['2606:4700::1111', 4], ['1.1.1.1', 0], ['fe80::1%eth0', 6], ['2606:4700::1%lo', 6], ['/run/a.sock', 0]] as const) {
    for (const trust of ['request', 'operator'] as const) assert.equal(strict.decideAddress(address, family, 'models.example.com', 443, trust), 'it has no usable address', address);
  }
});

test('a trusted name makes its addresses good, on its port only when one is given', () => {
  const policy = new AddressPolicy(['Ollama.Internal', 'vllm:8000', ' bücher.example ', 'my_service:80']);
  assert.equal(policy.decideHost('ollama.internal', 1), 'trusted');
  assert.equal(policy.decideHost('OLLAMA.internal.', 65_535), 'trusted');
  assert.equal(policy.decideHost('vllm', 8000), 'trusted');
  assert.equal(policy.decideHost('vllm', 8001), 'check');
  assert.equal(policy.decideHost('xn--bcher-kva.example', 443), 'trusted');
  assert.equal(policy.decideHost('my_service', 80), 'trusted');
  assert.ok(typeof policy.decideHost('sub.ollama.internal', 1) === 'object');
  assert.equal(policy.decideAddress('10.0.0.7', 4, 'ollama.internal', 1), undefined);
  assert.equal(policy.decideAddress('10.0.0.7', 4, 'vllm', 8000), undefined);
  assert.match(policy.decideAddress('10.0.0.7', 4, 'vllm', 8001) ?? '', /private/);
  assert.match(policy.decideAddress('10.0.0.7', 4, 'other', 8000) ?? '', /private/);
});

test('trusted addresses and ranges hold for names that resolve to them and for their other spellings', () => {
  const policy = new AddressPolicy(['127.0.0.1:11434', '10.20.0.0/16', 'fd12:3456::/32', '192.168.7.7', '[::1]:9000', '::ffff:192.168.8.8', '0x7f.3']);
  assert.equal(decide(policy, '127.0.0.1', 11_434), undefined);
  assert.match(decide(policy, '127.0.0.1', 11_435) ?? '', /loopback/);
  assert.match(decide(policy, '127.0.0.2', 11_434) ?? '', /loopback/);
  assert.equal(decide(policy, '::ffff:127.0.0.1', 11_434), undefined);
  assert.equal(policy.decideHost('[::ffff:7f00:1]', 11_434), 'trusted');
  for (const address of ['10.20.0.0', '10.20.255.255', '::ffff:10.20.1.1', 'fd12:3456::1', 'fd12:3456:ffff::', '192.168.7.7', '192.168.8.8', '127.0.0.3']) assert.equal(decide(policy, address), undefined, address);
  for (const address of ['10.19.255.255', '10.21.0.0', 'fd12:3457::', '192.168.7.8', '192.168.8.9']) assert.match(decide(policy, address) ?? '', /private/, address);
  assert.equal(decide(policy, '0:0:0:0:0:0:0:1', 9000), undefined);
  assert.match(decide(policy, '::1', 9001) ?? '', /loopback/);
  assert.equal(policy.decideHost('10.20.3.4', 80), 'trusted');
  // A trusted range says nothing about names under .internal: they are listed as names.
  assert.ok(typeof policy.decideHost('db.internal', 80) === 'object');
});

test('ranges may have any prefix length', () => {
  for (const [range, inside, outside] of [['10.0.0.128/25', '10.0.0.255', '10.0.0.127'], ['10.1.2.3/32', '10.1.2.3', '10.1.2.4'], ['172.16.0.0/13', '172.23.255.255', '172.24.0.0'], ['fd00::/9', 'fd7f::1', 'fd80::1'],
    ['fd00::4/126', 'fd00::7', 'fd00::8'], ['10.9.8.7/8', '10.255.0.1', '192.168.0.1']] as const) {
    const policy = new AddressPolicy([range]);
    assert.equal(decide(policy, inside), undefined, range);
    assert.match(decide(policy, outside) ?? '', /private/, range);
  }
});

test('an entry that cannot be read is refused at start, by name', () => {
  const entries = ['', ' ', 'http://a.example', 'a.example/v1', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0/8', 'fd00::/129', '[fd00::]/8', 'a.example:0', 'a.example:65536', 'a.example:x', 'a.example:',
    '::1:80x', '[::1', '[::1]:', '[::1]x', 'user@a.example', 'a b', '*.example.com', 'a..b', '.example', 'fe80::1%eth0', '::ffff:10.0.0.0/104', '256.1.1.1', 'a\\b', '/run/a.sock'];
  for (const entry of entries) {
    assert.throws(() => new AddressPolicy(['good.example', entry]), (thrown: unknown) => {
      assert.ok(isGatewayError(thrown), entry);
      assert.equal(thrown.code, 'SETTINGS_INVALID');
      assert.ok(thrown.message.includes(JSON.stringify(entry.trim())), thrown.message);
      assert.match(thrown.message, /give a host, host:port, IP address, \[IPv6\]:port or CIDR$/);
      return true;
    }, entry);
  }
});
