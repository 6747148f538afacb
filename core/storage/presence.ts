// Who works in a data directory: gateways, any number of them, or one command that needs it for itself (a change of the master key, a restore). Each
// has a file in `in-use/` whose name says who it is, and that holds where a gateway listens. It is looked after while its owner lives; a dead one's is removed by
// the next who comes.

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fail, reasonOf } from '../errors/gateway-error.js';

const folderName = 'in-use';
const beatMs = 10_000;
/** Of another machine or container, which cannot be asked, this much silence is death. */
const silentMs = 60_000;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Each of them has the port on all addresses. */
const anyHosts: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);
/** A name, and the addresses that it may stand for. */
const localName = 'localhost';
const localHosts: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

export type Occupant = 'gateway' | 'command';

export class Presence {
  readonly #timer: NodeJS.Timeout;

  private constructor(readonly path: string) {
    this.#timer = setInterval(() => this.#beat(), beatMs).unref();
  }

  /** Throws SETTINGS_INVALID when somebody is there who cannot work beside this one. `onUntold`: there is no room for the file; nobody learns of this one. */
  static enter(dataDir: string, occupant: Occupant, onUntold: (thrown: unknown) => void, name = newProcessName()): Presence | null {
    const folder = join(dataDir, folderName);
    const own = `${occupant}.${name}`;
    let presence: Presence | null = null;
    try {
      makeFolder(folder);
      closeSync(openSync(join(folder, own), 'wx', 0o600));
      presence = new Presence(join(folder, own));
    } catch (thrown) {
      if (occupant === 'command') throw fail('SETTINGS_INVALID', { reason: `the data directory ${dataDir} cannot be written (${reasonOf(thrown)}); make room, or the directory writable` }, thrown);
      onUntold(thrown);
    }
    // Only now: of two who come at once, at least one sees the other.
    const other = othersIn(folder, own).find((name) => occupant === 'command' || name.startsWith('command.'));
    if (other === undefined) return presence;
    presence?.leave();
    throw fail('SETTINGS_INVALID', {
      reason: other.startsWith('gateway.')
        ? `a gateway runs in ${dataDir} (process ${other.split('.')[1] ?? ''}); stop it first`
        : `a gateway command works in ${dataDir} (process ${other.split('.')[1] ?? ''}); wait until it has ended`,
    });
  }

  /** Where the gateway listens. Without room for it nobody learns of that. */
  tell(address: Address): void {
    try {
      writeFileSync(this.path, JSON.stringify(address), { flag: 'r+' });
    } catch {
      // What it is for, a check of the settings beside a gateway that runs, then takes any port for its own.
    }
  }

  leave(): void {
    clearInterval(this.#timer);
    rmSync(this.path, { force: true });
  }

  #beat(): void {
    try {
      const now = new Date();
      utimesSync(this.path, now, now);
    } catch {
      // Removed by hand, or the disk is gone: whoever looks then sees nobody, and there is nobody to tell.
    }
  }
}

/** What a process calls itself in a data directory; no other one does, nor this one at another start. */
export const newProcessName = (): string => `${process.pid}.${startOf(process.pid)}.${machine()}.${randomBytes(4).toString('hex')}`;

/** Whether the gateway that calls itself so still runs. */
export const isGatewayAlive = (dataDir: string, name: string): boolean => isAlive(`gateway.${name}`, join(dataDir, folderName, `gateway.${name}`));

/** Whether other gateways run in a data directory than the one that calls itself so. */
export const hasOthers = (dataDir: string, name: string): boolean => othersIn(join(dataDir, folderName), `gateway.${name}`).some((other) => other.startsWith('gateway.'));

/** Whether it is a gateway in this data directory that has the port. One that does not say where it listens, of an earlier build, may have any. */
export const isOwnPort = (dataDir: string, { host, port }: Address): boolean => othersIn(join(dataDir, folderName), '').some((name) => {
  if (!name.startsWith('gateway.')) return false;
  const own = addressIn(join(dataDir, folderName, name));
  return own === undefined || (own.port === port && isSameHost(own.host.toLowerCase(), host.toLowerCase()));
});

const isSameHost = (one: string, other: string): boolean =>
  one === other || anyHosts.has(one) || anyHosts.has(other) || (one === localName && localHosts.has(other)) || (other === localName && localHosts.has(one));

function addressIn(path: string): Address | undefined {
  try {
    const { host, port }: { readonly host?: unknown; readonly port?: unknown } = Object(JSON.parse(readFileSync(path, 'utf8')));
    return typeof host === 'string' && typeof port === 'number' ? { host, port } : undefined;
  } catch {
    return undefined;
  }
}

/** The directory around it is there. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
}

/** Those that live; the files of the dead are removed. */
function othersIn(folder: string, own: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.filter((name) => {
    if (name === own) return false;
    if (isAlive(name, join(folder, name))) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
}

function isAlive(name: string, path: string): boolean {
  const [, pid = '', start = '', where] = name.split('.');
  if (where === machine()) return startOf(Number(pid)) === start;
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return Date.now() - mtimeMs < silentMs;
}

/** When a process began, so that a later one with its number is not taken for it; empty: there is none. */
function startOf(pid: number): string {
  try {
    // Behind the name, which may hold anything, in brackets: the twentieth word.
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)\s+/s, '').split(' ')[19] ?? '';
    process.kill(pid, 0);
    return 'alive';
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM' ? 'alive' : '';
  }
}

/** Where numbers of processes mean the same. */
function machine(): string {
  let place = hostname();
  if (process.platform === 'linux') {
    try {
      place += readlinkSync('/proc/self/ns/pid');
    } catch {
      // Not to be seen from here: the name of the machine has to do.
    }
  }
  return createHash('sha256').update(place).digest('hex').slice(0, 12);
}
