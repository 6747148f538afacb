// Which hosts and addresses an outbound connection may go to. Pure decisions: no socket, no name resolution; egress.ts asks before each
// connection. Every address is brought to one form first, so that a second spelling of it never gets a second answer. Reasons may reach the
// client: they name the kind of range, never the address that a name resolved to.

import { BlockList, isIP } from 'node:net';
import { fail } from '../errors/gateway-error.js';
import type { Trust } from './client.js';

export type HostDecision = 'trusted' | 'check' | { readonly refused: string };

/** IANA special-purpose registries, with what clouds add. The first kind that holds an address is named. */
const refusedRanges: readonly (readonly [kind: string, ...ranges: string[]])[] = [
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  ['link-local', '169.254.0.0/16', 'fe80::/10'],
  ['carrier NAT', '100.64.0.0/10'],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  ['benchmarking', '198.18.0.0/15', '2001:2::/48'],
  // Teredo and 6to4 carry an IPv4 address that a relay elsewhere would connect to.
  ['tunnel', '2001::/32', '2002::/16', '192.88.99.0/24', '64:ff9b:1::/48'],
  ['reserved', '192.0.0.0/24', '240.0.0.0/4', '2001::/23'],
];

/** Where clouds hand credentials to whoever asks; refused even to the operator's own addresses unless one is listed by itself. */
const metadataRanges = [
  '169.254.169.0/24', '169.254.170.0/24', '169.254.0.23/32', '169.254.42.42/32', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32',
  'fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128', 'fd00:c1::a9fe:a9fe/128', 'fd00:a9fe:a9fe::/48', 'fe80::a9fe:a9fe/128',
];
const metadataNames = new Set([
  'metadata', 'instance-data', 'metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal', 'metadata.azure.internal',
  'metadata.azure.com', 'metadata.tencentyun.com', 'api.metadata.cloud.ibm.com', 'metadata.packet.net', 'metadata.platformequinix.com',
]);

const refusedTopLevelNames = new Set(['local', 'localdomain', 'internal', 'intranet', 'lan', 'home', 'corp', 'localhost', 'onion', 'invalid', 'test']);

/** All that IANA has given out as global unicast; the rest of IPv6 is nowhere. */
const globalUnicast = blockList(['2000::/3']);
const metadata = blockList(metadataRanges);
const refused = refusedRanges.map(([kind, ...ranges]) => ({ kind, ranges: blockList(ranges) }));

const settingHint = 'the operator can allow it in GATEWAY_TRUSTED_HOSTS';

export class AddressPolicy {
  readonly #names = new Map<string, Set<number>>();
  readonly #addresses = new Map<string, Set<number>>();
  readonly #ranges = new BlockList();

  /** `trusted`: host, host:port, IP, IP:port, [IPv6]:port or CIDR, as the operator wrote them. */
  constructor(trusted: readonly string[]) {
    for (const entry of trusted) this.#trust(entry.trim());
  }

  /** The host of a URL, before anything is resolved. `check`: decide on its addresses. */
  decideHost(host: string, port: number, trust: Trust = 'request'): HostDecision {
    const name = plainName(host);
    const family = isIP(name);
    if (family !== 0) {
      const reason = this.decideAddress(name, family, host, port, trust);
      if (reason !== undefined) return { refused: reason };
      return this.#isTrustedAddress(canonical(name), name, port) ? 'trusted' : 'check';
    }
    if (isTrustedIn(this.#names, name, port)) return 'trusted';
    if (name === '' || name.startsWith('.') || name.endsWith('.') || name.includes('..')) return { refused: 'it is not a host name' };
    if (metadataNames.has(name)) return { refused: 'it is a cloud metadata service' };
    if (trust === 'operator') return 'check';
    const topLevel = name.slice(name.lastIndexOf('.') + 1);
    return refusedTopLevelNames.has(topLevel) ? { refused: `names under .${topLevel} are not public; ${settingHint}` } : 'check';
  }

  /** One address that `host` resolved to, or is. Gives why it is refused, or undefined. */
  decideAddress(address: string, family: number, host: string, port: number, trust: Trust = 'request'): string | undefined {
    if (isIP(address) === 0 || isIP(address) !== family || address.includes('%')) return 'it has no usable address';
    const form = canonical(address);
    if (isTrustedIn(this.#addresses, form.key, port)) return undefined;
    const verb = isIP(plainName(host)) === 0 ? 'resolves to' : 'is';
    if (isMetadata(form)) return `it ${verb} a cloud metadata address`;
    if (trust === 'operator' || isTrustedIn(this.#names, plainName(host), port) || this.#isTrustedAddress(form, address, port)) return undefined;
    const kind = refusedKind(form);
    return kind === undefined ? undefined : `it ${verb} a ${kind} address; ${settingHint}`;
  }

  #isTrustedAddress(form: Form, address: string, port: number): boolean {
    return isTrustedIn(this.#addresses, form.key, port) || this.#ranges.check(form.address, form.family)
      || (form.family === 'ipv4' && isIP(address) === 6 && this.#ranges.check(address, 'ipv6'));
  }

  #trust(entry: string): void {
    const invalid = (why: string): Error => fail('SETTINGS_INVALID', {
      reason: `trusted host ${JSON.stringify(entry)}: ${why}; give a host, host:port, IP address, [IPv6]:port or CIDR`,
    });
    const range = /^([^/]*)\/(.*)$/.exec(entry);
    if (range !== null) {
      const [, base = '', prefix = ''] = range;
      const family = isIP(base);
      const bitsMax = family === 6 ? 128 : 32;
      if (family === 0 || base.includes('%')) throw invalid('what stands before the slash is not an IP address');
      if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bitsMax) throw invalid(`the prefix length must be a number from 0 to ${bitsMax}`);
      if (canonical(base).family !== familyName(family)) throw invalid('write a range of IPv4 addresses as IPv4');
      this.#ranges.addSubnet(base, Number(prefix), familyName(family));
      return;
    }
    if (isIP(entry) !== 0) {
      if (entry.includes('%')) throw invalid('an address with a zone cannot be used');
      add(this.#addresses, canonical(entry).key, anyPort);
      return;
    }
    const parts = /^(\[[0-9a-fA-F:.]+\]|[^\s:/?#@%\\[\]]+)(?::(\d{1,5}))?$/.exec(entry);
    if (parts === null) throw invalid('it is not a host');
    const [, host = '', portText] = parts;
    const port = portText === undefined ? anyPort : Number(portText);
    if (portText !== undefined && (port < 1 || port > 65_535)) throw invalid('the port must be a number from 1 to 65535');
    if (!URL.canParse(`http://${host}`)) throw invalid('it is not a host');
    const name = plainName(new URL(`http://${host}`).hostname);
    if (isIP(name) !== 0) add(this.#addresses, canonical(name).key, port);
    else if (/^[\w-]+(\.[\w-]+)*$/.test(name)) add(this.#names, name, port);
    else throw invalid('it is not a host');
  }
}

const anyPort = 0;

function add(entries: Map<string, Set<number>>, key: string, port: number): void {
  const ports = entries.get(key);
  if (ports === undefined) entries.set(key, new Set([port]));
  else ports.add(port);
}

function isTrustedIn(entries: ReadonlyMap<string, ReadonlySet<number>>, key: string, port: number): boolean {
  const ports = entries.get(key);
  return ports !== undefined && (ports.has(anyPort) || ports.has(port));
}

/** Lower case, without the brackets of IPv6 and the one dot that may end a name. */
const plainName = (host: string): string => {
  const name = host.toLowerCase();
  if (name.startsWith('[') && name.endsWith(']')) return name.slice(1, -1);
  return name.endsWith('.') ? name.slice(0, -1) : name;
};

function familyName(family: number): 'ipv4' | 'ipv6' {
  return family === 6 ? 'ipv6' : 'ipv4';
}

interface Form {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  /** Equal for all spellings of one address. */
  readonly key: string;
  /** The IPv4 address inside a 6to4 address. */
  readonly inner: string | undefined;
}

/** IPv6 addresses that only wrap an IPv4 one (mapped, compatible, translated, NAT64) become it. `address` must have passed isIP. */
function canonical(address: string): Form {
  if (isIP(address) === 4) return { address, family: 'ipv4', key: address, inner: undefined };
  const groups = groupsOf(address);
  const key = groups.map((group) => group.toString(16)).join(':');
  const head = groups.slice(0, 6).map((group) => group.toString(16)).join(':');
  const last = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  const isWrapped = head === '0:0:0:0:0:ffff' || head === '0:0:0:0:ffff:0' || head === '64:ff9b:0:0:0:0' || (head === '0:0:0:0:0:0' && last > 1);
  if (isWrapped) {
    const inside = dotted(groups[6] ?? 0, groups[7] ?? 0);
    return { address: inside, family: 'ipv4', key: inside, inner: undefined };
  }
  return { address, family: 'ipv6', key, inner: groups[0] === 0x2002 ? dotted(groups[1] ?? 0, groups[2] ?? 0) : undefined };
}

const dotted = (high: number, low: number): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const hexadecimal = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a: string, b: string, c: string, d: string) =>
    `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`);
  const [left = '', right] = hexadecimal.split('::');
  const numbers = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = numbers(left);
  const after = right === undefined ? [] : numbers(right);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

const isMetadata = (form: Form): boolean =>
  metadata.check(form.address, form.family) || (form.inner !== undefined && metadata.check(form.inner, 'ipv4'));

function refusedKind(form: Form): string | undefined {
  for (const { kind, ranges } of refused) if (ranges.check(form.address, form.family)) return kind;
  return form.family === 'ipv6' && !globalUnicast.check(form.address, 'ipv6') ? 'reserved' : undefined;
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = '', prefix] = range.split('/');
    list.addSubnet(base, Number(prefix), familyName(isIP(base)));
  }
  return list;
}
