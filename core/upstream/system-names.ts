// Names as the machine knows them: the hosts file, then the name servers of resolv.conf with its search list, as getaddrinfo asks them. Not
// getaddrinfo itself: each of its calls holds one of libuv's four threads until it gives up, and four names that never resolve would keep
// everybody else from theirs. Both files are read again when they change.

import { Resolver as DnsResolver, type RecordWithTtl } from 'node:dns';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Address, Ask, AskCallback } from './resolver.js';

export interface SystemNamesOptions {
  readonly hostsFile?: string;
  readonly resolvFile?: string;
  /** `127.0.0.1:5353`, instead of those of resolv.conf. */
  readonly servers?: readonly string[];
  readonly now?: () => number;
}

/** For the first question to each name server; it doubles with each round. */
const questionMs = 1500;
const rounds = 2;
/** Once there are addresses of one family, the other's may take this much longer: some name servers never say that there are none. */
const otherFamilyMs = 250;
/** How often the files are looked at. */
const lookMs = 1000;
/** Of a hosts file so much is read: lists of blocked names can be long. */
const fileBytesMax = 4 * 1024 * 1024;
/** As in the C library. */
const ndotsMax = 15;
const searchMax = 6;

export class SystemNames {
  readonly #hosts: WatchedFile<ReadonlyMap<string, readonly Address[]>>;
  readonly #search: WatchedFile<SearchList>;
  readonly #servers: readonly string[] | undefined;
  #resolver: DnsResolver | null = null;
  #resolverOf: SearchList | null = null;

  constructor(options: SystemNamesOptions = {}) {
    const now = options.now ?? Date.now;
    this.#hosts = new WatchedFile(options.hostsFile ?? '/etc/hosts', parseHosts, now);
    this.#search = new WatchedFile(options.resolvFile ?? '/etc/resolv.conf', parseSearchList, now);
    this.#servers = options.servers;
  }

  readonly ask: Ask = (hostname, callback) => {
    const local = this.#hosts.value.get(hostname) ?? (isLocalhost(hostname) ? loopback : undefined);
    if (local !== undefined) {
      callback(null, local, 0);
      return () => {};
    }
    const search = this.#search.value;
    if (this.#resolver === null || this.#resolverOf !== search) {
      // It reads resolv.conf when it is made.
      this.#resolver = new DnsResolver({ timeout: questionMs, tries: rounds });
      if (this.#servers !== undefined) this.#resolver.setServers(this.#servers);
      this.#resolverOf = search;
    }
    const question = new Question(this.#resolver, namesToTry(hostname, search), callback);
    question.askNext();
    return () => question.stop();
  };
}

/** One name, asked for under each name that the search list makes of it until one has addresses. */
class Question {
  #index = -1;
  #isOver = false;
  #open = 0;
  #fault: NodeJS.ErrnoException | null = null;
  #found: RecordWithTtl[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(readonly resolver: DnsResolver, readonly names: readonly string[], readonly callback: AskCallback) {}

  askNext(): void {
    this.#index += 1;
    const index = this.#index;
    const name = this.names[index];
    if (name === undefined) {
      this.#end(this.#fault ?? Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
      return;
    }
    this.#open = 2;
    const onAnswer = (fault: NodeJS.ErrnoException | null, records: RecordWithTtl[] | undefined): void => {
      if (!this.#isOver && index === this.#index) this.#onAnswer(fault, records ?? []);
    };
    this.resolver.resolve4(name, { ttl: true }, onAnswer);
    this.resolver.resolve6(name, { ttl: true }, onAnswer);
  }

  stop(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #onAnswer(fault: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]): void {
    this.#open -= 1;
    this.#found.push(...records);
    // Not the fault that says least: that there is no such name, or no address of this family.
    if (fault !== null && !isEmptyAnswer(fault)) this.#fault = fault;
    if (this.#open === 0) this.#onBoth();
    else if (this.#found.length > 0) this.#timer = setTimeout(() => this.#end(null), otherFamilyMs);
  }

  #onBoth(): void {
    if (this.#found.length > 0) this.#end(null);
    // Another name of the list may belong to somebody else: it is not taken because the first did not answer.
    else if (this.#fault !== null && this.#fault.code !== 'ESERVFAIL') this.#end(this.#fault);
    else this.askNext();
  }

  #end(fault: Error | null): void {
    if (this.#isOver) return;
    this.stop();
    if (fault !== null) {
      this.callback(fault, [], 0);
      return;
    }
    // IPv4 first: where IPv6 leads nowhere, it often does so in silence. The connection tries both families.
    const addresses = this.#found.map(({ address }): Address => ({ address, family: isIP(address) })).sort((one, two) => one.family - two.family);
    this.callback(null, addresses, Math.max(1, Math.min(...this.#found.map(({ ttl }) => ttl))) * 1000);
  }
}

const isEmptyAnswer = (fault: NodeJS.ErrnoException): boolean => fault.code === 'ENOTFOUND' || fault.code === 'ENODATA' || fault.code === 'EBADNAME';

const loopback: readonly Address[] = [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }];

/** RFC 6761, section 6.3: never asked of a name server. */
const isLocalhost = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

export interface SearchList {
  readonly domains: readonly string[];
  /** A name with fewer dots is tried in the domains first. */
  readonly ndots: number;
}

/** In the order of the C library; a dot at the end says that the name is whole. */
export function namesToTry(hostname: string, { domains, ndots }: SearchList): readonly string[] {
  if (hostname.endsWith('.')) return [hostname.slice(0, -1)];
  const extended = domains.map((domain) => `${hostname}.${domain}`);
  return hostname.split('.').length - 1 >= ndots ? [hostname, ...extended] : [...extended, hostname];
}

export function parseSearchList(text: string): SearchList {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.replace(/[#;].*/, '').trim().split(/\s+/);
    // The last of them counts.
    if (keyword === 'search' || keyword === 'domain') domains = words.map((word) => word.replace(/\.$/, '').toLowerCase()).filter((word) => word !== '').slice(0, searchMax);
    if (keyword !== 'options') continue;
    for (const word of words) {
      const dots = /^ndots:(\d{1,3})$/.exec(word)?.[1];
      if (dots !== undefined) ndots = Math.min(ndotsMax, Number(dots));
    }
  }
  return { domains, ndots };
}

export function parseHosts(text: string): ReadonlyMap<string, readonly Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const given of names) {
      const name = given.toLowerCase();
      const known = hosts.get(name);
      if (known === undefined) hosts.set(name, [{ address, family }]);
      else if (!known.some((other) => other.address === address)) known.push({ address, family });
    }
  }
  return hosts;
}

/** What a file says, read again when it changes. A file that is not there says nothing. */
class WatchedFile<T> {
  #value: T;
  #stamp = '';
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(readonly path: string, readonly parse: (text: string) => T, readonly now: () => number) {
    this.#value = parse('');
  }

  get value(): T {
    const nowMs = this.now();
    if (nowMs - this.#lookedAtMs >= lookMs || nowMs < this.#lookedAtMs) {
      this.#lookedAtMs = nowMs;
      this.#look();
    }
    return this.#value;
  }

  #look(): void {
    let file: number;
    try {
      file = openSync(this.path, 'r');
    } catch {
      // Not there, as in an image without a system; or no descriptor is free, and what was read before stands.
      return;
    }
    try {
      const { mtimeMs, size, ino } = fstatSync(file);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      if (stamp === this.#stamp) return;
      const bytes = Buffer.alloc(Math.min(size, fileBytesMax));
      const length = readSync(file, bytes, 0, bytes.length, 0);
      this.#value = this.parse(bytes.toString('utf8', 0, length));
      this.#stamp = stamp;
    } catch {
      // As above.
    } finally {
      closeSync(file);
    }
  }
}
