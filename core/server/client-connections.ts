// Runs for each connection of a client, not for a call.
// How many connections clients may hold, in all and by address. The library tells when one opens and when one closes, but not which one
// closed; so the kernel's own table says how many an address has. It is read when an address has opened half of what it may.

import { readFile } from 'node:fs/promises';
import { BlockList, isIPv6 } from 'node:net';

export interface ConnectionLimits {
  /** Of this thread. */
  readonly connectionsMax: number;
  /** Of one address, on all threads together: the kernel's table knows no threads. */
  readonly perAddressMax: number;
  /** Addresses and CIDR ranges that are not counted by address. */
  readonly trustedProxies: readonly string[];
}

export interface ConnectionReport {
  /** Of all kinds, what is told at most once a minute. */
  refused(reason: 'all' | 'address', count: number): void;
}

/** Connections to a local port by address, as the kernel sees them; undefined where it does not say. */
export type ConnectionCount = (port: number) => Promise<ReadonlyMap<string, number> | undefined>;

/** The table is not read again before. */
const countEveryMs = 500;
/** Addresses remembered since it was read. */
const addressesMax = 20_000;
const reportEveryMs = 60_000;
const nobody: ReadonlyMap<string, number> = new Map();

export class ClientConnections {
  /** Open ones of this thread. */
  open = 0;
  /** Set when the port is known. */
  port = 0;
  readonly #trusted = new BlockList();
  /** What the table said when it was read last, and who has come since; null: there is no table. */
  #counts: ReadonlyMap<string, number> | null = nobody;
  #since = new Map<string, number>();
  /** Who has come since the reading began that is going on. */
  #during = new Map<string, number>();
  /** Those that had half of what they may have: the table is read on until they have less. */
  readonly #near = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #countedAt = -Infinity;
  #isCounting = false;
  #refused = 0;
  #reportedAt = -Infinity;

  constructor(readonly limits: ConnectionLimits, readonly report: ConnectionReport, readonly count: ConnectionCount = countConnections, readonly now = () => performance.now()) {
    for (const range of limits.trustedProxies) {
      const [address = '', bits] = range.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      this.#trusted.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
    }
  }

  /** False: this one is too many. `onClosed` is due for it all the same. */
  onOpened(address: () => Uint8Array): boolean {
    this.open += 1;
    const { connectionsMax, perAddressMax } = this.limits;
    if (this.open > connectionsMax) return this.#refuse('all');
    if (this.#counts === null) return true;
    const bytes = address();
    if (this.isTrusted(bytes)) return true;
    const key = addressKey(bytes);
    const held = this.#held(key);
    // Early enough for a table to be there when the limit is reached.
    const isNear = held * 2 >= perAddressMax;
    if (isNear) this.#near.add(key);
    if (isNear || this.#since.size >= addressesMax) this.#countAgain();
    if (held >= perAddressMax) return this.#refuse('address');
    addOne(this.#since, key);
    if (this.#isCounting) addOne(this.#during, key);
    return true;
  }

  onClosed(): void {
    this.open -= 1;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#near.clear();
  }

  #held(key: string): number {
    return (this.#counts?.get(key) ?? 0) + (this.#since.get(key) ?? 0);
  }

  #countLater(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#countAgain();
    }, countEveryMs + 1).unref();
  }

  #refuse(reason: 'all' | 'address'): false {
    this.#refused += 1;
    const now = this.now();
    if (now - this.#reportedAt >= reportEveryMs) {
      this.#reportedAt = now;
      this.report.refused(reason, this.#refused);
      this.#refused = 0;
    }
    return false;
  }

  /** Somebody's reverse proxy, behind which the clients are. */
  isTrusted(address: Uint8Array): boolean {
    if (this.limits.trustedProxies.length === 0) return false;
    const text = addressText(address);
    return this.#trusted.check(text, text.includes(':') ? 'ipv6' : 'ipv4');
  }

  #countAgain(): void {
    const now = this.now();
    if (this.#isCounting || now - this.#countedAt < countEveryMs) return;
    this.#isCounting = true;
    this.#countedAt = now;
    this.#during = new Map();
    this.count(this.port).then(
      (counts) => {
        this.#counts = counts ?? null;
        // Some of these are in the table already, and counted twice until the next reading.
        this.#since = this.#during;
        for (const key of this.#near) if (this.#held(key) * 2 < this.limits.perAddressMax) this.#near.delete(key);
        if (this.#near.size > 0 && this.#counts !== null) this.#countLater();
      },
      () => undefined,
    ).finally(() => { this.#isCounting = false; });
  }
}

const addOne = (counts: Map<string, number>, key: string): void => { counts.set(key, (counts.get(key) ?? 0) + 1); };

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const isMapped = (address: Uint8Array): boolean => address.length === 16 && mappedPrefix.every((byte, index) => address[index] === byte);

/** The address, or the /64 of an IPv6 address: one client has all of it. */
export function addressKey(address: Uint8Array): string {
  const bytes = address.length === 4 ? address : isMapped(address) ? address.subarray(12) : address.subarray(0, 8);
  return Buffer.from(bytes).toString('hex');
}

export function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.');
  if (isMapped(address)) return address.subarray(12).join('.');
  return Buffer.from(address).toString('hex').replace(/(.{4})(?=.)/g, '$1:');
}

/** States of the kernel in which we hold the connection: established, and closed by the client alone. */
const heldStates: ReadonlySet<string> = new Set(['01', '08']);

/** Reads Linux's tables of TCP connections; undefined elsewhere. */
async function countConnections(port: number): Promise<ReadonlyMap<string, number> | undefined> {
  const counts = new Map<string, number>();
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')));
  if (tables.every((table) => table === '')) return undefined;
  for (const table of tables) countTable(table, port, counts);
  return counts;
}

/** A line: ` 0: 0100007F:1F90 0100007F:D2F0 01 ...`, addresses as 32-bit words in the machine's order. */
export function countTable(table: string, port: number, counts: Map<string, number>): void {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  for (let at = table.indexOf(local); at !== -1; at = table.indexOf(local, at + 1)) {
    const remoteAt = at + local.length;
    const colon = table.indexOf(':', remoteAt);
    // Of the two addresses of a line this has to be the first: a state follows the second.
    const words = table.slice(remoteAt, colon);
    if (!/^(?:[0-9A-F]{8}|[0-9A-F]{32})$/.test(words) || !heldStates.has(table.slice(colon + 6, colon + 8))) continue;
    const address = Buffer.from(words, 'hex');
    for (let word = 0; word < address.length; word += 4) address.subarray(word, word + 4).reverse();
    const key = addressKey(address);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}
