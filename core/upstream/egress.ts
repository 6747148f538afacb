// The only place where an outbound connection begins. Runs once for each new connection: the name is resolved here, every address is judged,
// and the socket gets exactly those addresses, so that no second answer of a name server can slip in between. It follows no redirects, uses
// no proxy of the environment and cannot open a Unix socket.

import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates, type ConnectionOptions, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { AddressPolicy } from './address-policy.js';
import type { Trust } from './client.js';
import { NameResolver, type Address, type Resolver } from './resolver.js';
import { SystemNames } from './system-names.js';
import { TimerWheel, WheelTimeout, type TimeoutOwner } from './timer-wheel.js';

/** Files beside this one that work on its sockets have no other way to them. */
export type { OnReadOpts, Socket } from 'node:net';
export type { Resolver } from './resolver.js';

/** Where to, as a URL has it: a protocol with its colon, an empty port for the usual one. */
export interface ConnectTarget {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

/** Called once, with a fault or with a socket that stands and whose peer was judged. */
export type Connected = (...result: [fault: null, socket: Socket] | [fault: Error, socket: null]) => void;

/** A connection that does not stand yet. After `cancel` nobody is called back. */
export interface Connecting {
  cancel(): void;
}

/** `caller`: on whose behalf. `onread`: the socket's bytes go there, and no stream is made of them. */
export type Connect = (target: ConnectTarget, callback: Connected, caller?: string, onread?: OnReadOpts) => Connecting;

export interface EgressOptions {
  readonly policy: AddressPolicy;
  readonly resolve?: Resolver;
  /** From the name to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** Certificates (PEM) trusted beside the public ones. */
  readonly ca?: string;
  /** Times how long connections take. */
  readonly timers?: TimerWheel;
}

/** Where a connection shall go and who wrote it down. */
export interface Destination {
  readonly hostname: string;
  readonly port: number;
  readonly trust: Trust;
}

/** Of a name with more addresses (all of them judged) the rest is not tried. */
const addressesMax = 16;
/** TLS sessions that are kept, one for each host, port and trust; beyond this the one that was renewed longest ago goes. */
const sessionsMax = 256;
/** A connection on which nothing passes is probed after this time. */
const probeAfterMs = 60_000;
/** Longest wait for name servers, where connections may take longer. */
const lookupMsMax = 5000;

export class Egress {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolver;
  readonly #connectTimeoutMs: number;
  readonly #secureContext: SecureContext;
  readonly #timers: TimerWheel;
  readonly #sessions = new Map<string, Buffer>();
  readonly #byTrust: Readonly<Record<Trust, Connect>>;

  constructor(options: EgressOptions) {
    this.#policy = options.policy;
    this.#resolve = options.resolve ?? new NameResolver({ ask: new SystemNames().ask, deadlineMs: Math.min(options.connectTimeoutMs, lookupMsMax) }).resolve;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#secureContext = secureContext(options.ca);
    this.#timers = options.timers ?? new TimerWheel();
    this.#byTrust = {
      operator: (target, callback, caller = '', onread = undefined) => this.#connect('operator', target, callback, caller, onread),
      request: (target, callback, caller = '', onread = undefined) => this.#connect('request', target, callback, caller, onread),
    };
  }

  /** How connections on that trust are begun. */
  connector(trust: Trust): Connect {
    return this.#byTrust[trust];
  }

  /** What the resolver says; empty when it has nothing, rejected when it was not asked. Nobody is connected to, and nothing is judged. */
  addresses(name: string, caller = ''): Promise<readonly string[]> {
    return new Promise((resolve, reject) => this.#resolve(name, (fault, found) => {
      if (isGatewayError(fault) && fault.code === 'LOOKUPS_BUSY') reject(fault);
      else resolve(fault === null ? found.map(({ address }) => address) : []);
    }, caller));
  }

  #connect(trust: Trust, target: ConnectTarget, callback: Connected, caller: string, onread: OnReadOpts | undefined): Connecting {
    const { protocol } = target;
    const hostname = target.hostname.startsWith('[') ? target.hostname.slice(1, -1) : target.hostname;
    const port = target.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(target.port);
    const destination: Destination = { hostname, port, trust };
    const attempt = new Attempt(this.#policy, destination, callback, this.#timers);
    const fault = this.#hostFault(protocol, destination);
    if (fault !== undefined) {
      queueMicrotask(() => attempt.settle(fault));
      return attempt;
    }
    const resolve: Resolver = (name, found) => this.#resolve(name, found, caller);
    // Made anew: whatever else the caller carries (socket path, an open socket, another server name) has no way through.
    const options: TcpNetConnectOpts = {
      host: hostname,
      port,
      lookup: checkedLookup(this.#policy, resolve, port, trust),
      autoSelectFamily: true,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
      noDelay: true,
      ...(onread === undefined ? {} : { onread }),
    };
    attempt.begin(protocol === 'https:' ? this.#connectTls(options, destination) : connectTcp(options), protocol === 'https:' ? 'secureConnect' : 'connect', this.#connectTimeoutMs);
    return attempt;
  }

  #connectTls(options: TcpNetConnectOpts, destination: Destination): Socket {
    const { hostname, port, trust } = destination;
    const key = `${trust} ${hostname} ${port}`;
    const session = this.#sessions.get(key);
    const secure: ConnectionOptions = {
      ...options,
      // An address is no server name (RFC 6066, section 3).
      servername: isIP(hostname) === 0 ? hostname : '',
      ALPNProtocols: ['http/1.1'],
      secureContext: this.#secureContext,
      ...(session === undefined ? {} : { session }),
    };
    const socket = connectTls(secure);
    socket.on('session', (renewed: Buffer) => {
      this.#sessions.delete(key);
      this.#sessions.set(key, renewed);
      const oldest = this.#sessions.size > sessionsMax ? this.#sessions.keys().next().value : undefined;
      if (oldest !== undefined) this.#sessions.delete(oldest);
    });
    return socket;
  }

  #hostFault(protocol: string, destination: Destination): Error | undefined {
    const { hostname, port, trust } = destination;
    if (protocol !== 'http:' && protocol !== 'https:') return refusal(destination, 'only http and https are spoken');
    // A host with a slash would be a path to some readers.
    if (hostname === '' || /[\s/\\\0]/.test(hostname)) return refusal(destination, 'it is not a host name');
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return refusal(destination, 'the port must be a number from 1 to 65535');
    const decision = this.#policy.decideHost(hostname, port, trust);
    return typeof decision === 'string' ? undefined : refusal(destination, decision.refused);
  }
}

/** From the name to the end of the TLS handshake. */
class Attempt implements Connecting, TimeoutOwner {
  #socket: Socket | null = null;
  #isOver = false;
  readonly #timeout: WheelTimeout;

  constructor(readonly policy: AddressPolicy, readonly destination: Destination, readonly callback: Connected, timers: TimerWheel) {
    this.#timeout = new WheelTimeout(timers, this);
  }

  begin(socket: Socket, ready: 'connect' | 'secureConnect', timeoutMs: number): void {
    this.#socket = socket;
    this.#timeout.start(timeoutMs);
    socket.once(ready, this.#onReady);
    socket.on('error', this.#onError);
    socket.once('close', this.#onClose);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket?.destroy();
  }

  onTimeout(): void {
    this.settle(fail('UPSTREAM_UNREACHABLE', { host: hostOf(this.destination), reason: 'connect timeout' }));
  }

  settle(fault: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket?.destroy();
    this.callback(fault, null);
  }

  readonly #onError = (fault: Error): void => this.settle(fault);
  readonly #onClose = (): void => this.settle(fail('UPSTREAM_UNREACHABLE', { host: hostOf(this.destination), reason: 'no connection' }));

  readonly #onReady = (): void => {
    const socket = this.#socket;
    if (this.#isOver || socket === null) return;
    const fault = peerFaultOf(this.policy, this.destination, socket);
    if (fault !== undefined) {
      this.settle(fault);
      return;
    }
    this.#end();
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    this.callback(null, socket);
  };

  /** The listener for errors stays on a socket that is given up: one that is late has to end somewhere. */
  #end(): void {
    this.#isOver = true;
    this.#timeout.remove();
  }
}

/**
 * A lookup for net.connect that gives only addresses that passed. One refused address refuses the name: a mixed answer is how a name is bound
 * to another place between two looks at it.
 */
export function checkedLookup(policy: AddressPolicy, resolve: Resolver, port: number, trust: Trust): LookupFunction {
  return (hostname, options, callback) => {
    const destination: Destination = { hostname, port, trust };
    const onAddresses = (fault: Error | null, addresses: readonly Address[]): void => {
      if (fault !== null) {
        callback(fault, []);
        return;
      }
      for (const { address, family } of addresses) {
        const reason = policy.decideAddress(address, family, hostname, port, trust);
        if (reason === undefined) continue;
        callback(refusal(destination, reason), []);
        return;
      }
      const usable = addresses.filter(({ family }) => !(options.family === 4 || options.family === 6) || options.family === family).slice(0, addressesMax);
      const first = usable[0];
      if (first === undefined) callback(fail('UPSTREAM_UNREACHABLE', { host: hostOf(destination), reason: 'the name has no address' }), []);
      else if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    };
    const decision = policy.decideHost(hostname, port, trust);
    if (typeof decision !== 'string') {
      callback(refusal(destination, decision.refused), []);
      return;
    }
    resolve(hostname, onAddresses, '');
  };
}

/** The address really connected to is judged once more, should a later Node ever resolve by itself. */
export function peerFaultOf(policy: AddressPolicy, destination: Destination, socket: Pick<Socket, 'remoteAddress'>): Error | undefined {
  const { hostname, port, trust } = destination;
  const address = socket.remoteAddress;
  if (address === undefined) return fail('UPSTREAM_UNREACHABLE', { host: hostOf(destination), reason: 'the connection closed as soon as it stood' });
  const reason = policy.decideAddress(address, isIP(address), hostname, port, trust);
  return reason === undefined ? undefined : refusal(destination, reason);
}

const hostOf = ({ hostname, port }: Destination): string => (isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`);

const refusal = (destination: Destination, reason: string): Error => fail('EGRESS_REFUSED', { host: hostOf(destination), reason });

/** Made once: with added certificates each new context would read all public ones again. */
function secureContext(ca: string | undefined): SecureContext {
  if (ca === undefined) return createSecureContext();
  try {
    // createSecureContext takes what is no certificate without a word.
    void new X509Certificate(ca);
    return createSecureContext({ ca: [...rootCertificates, ca] });
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `the added certificates cannot be read (${reasonOf(thrown)}); give them as PEM text` }, thrown);
  }
}
