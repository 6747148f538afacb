// The only place where an outbound connection begins. Runs once for each new connection: the name is resolved here, every address is judged,
// and the socket gets exactly those addresses, so that no second answer of a name server can slip in between. It follows no redirects, uses
// no proxy of the environment and cannot open a Unix socket.

import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { buildConnector } from 'undici';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { AddressPolicy } from './address-policy.js';
import type { Trust } from './client.js';
import { NameResolver, type Address, type Resolver } from './resolver.js';
import { SystemNames } from './system-names.js';

export type { Resolver } from './resolver.js';

/** What undici asks for a connection with, and for whom. */
export type Connect = (target: buildConnector.Options, callback: buildConnector.Callback, caller?: string) => void;

export interface EgressOptions {
  readonly policy: AddressPolicy;
  readonly resolve?: Resolver;
  /** From the name to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  /** Certificates (PEM) trusted beside the public ones. */
  readonly ca?: string;
}

/** Where a connection shall go and who wrote it down. */
export interface Destination {
  readonly hostname: string;
  readonly port: number;
  readonly trust: Trust;
}

/** Of a name with more addresses (all of them judged) the rest is not tried. */
const addressesMax = 16;
/** Connectors hold TLS sessions, one connector for each port and trust; beyond this the oldest is made anew when needed. */
const connectorsMax = 256;
/** Longest wait for name servers, where connections may take longer. */
const lookupMsMax = 5000;

export class Egress {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolver;
  readonly #connectTimeoutMs: number;
  readonly #secureContext: SecureContext;
  readonly #connectors = new Map<string, buildConnector.connector>();
  readonly #byTrust: Readonly<Record<Trust, Connect>>;
  /** On whose behalf a connection is begun just now: sockets look their name up before they return. */
  #caller = '';

  constructor(options: EgressOptions) {
    this.#policy = options.policy;
    this.#resolve = options.resolve ?? new NameResolver({ ask: new SystemNames().ask, deadlineMs: Math.min(options.connectTimeoutMs, lookupMsMax) }).resolve;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#secureContext = secureContext(options.ca);
    this.#byTrust = {
      operator: (target, callback, caller = '') => this.#connect('operator', target, callback, caller),
      request: (target, callback, caller = '') => this.#connect('request', target, callback, caller),
    };
  }

  /** For `new Client(origin, { connect })`. The same function each time, so that connections share their TLS sessions. */
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

  #connect(trust: Trust, target: buildConnector.Options, callback: buildConnector.Callback, caller: string): void {
    const { protocol } = target;
    const hostname = target.hostname.startsWith('[') ? target.hostname.slice(1, -1) : target.hostname;
    const port = target.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(target.port);
    const destination: Destination = { hostname, port, trust };
    const fault = this.#hostFault(protocol, destination);
    if (fault !== undefined) {
      queueMicrotask(() => callback(fault, null));
      return;
    }
    // Made anew: whatever else the caller carries (socket path, an open socket, another server name) has no way through.
    const bracketed = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
    this.#caller = caller;
    this.#connectorFor(trust, port)({ protocol, hostname, host: bracketed, port: String(port) }, (connectFault: Error | null, socket?: Socket | null) => {
      // undici leaves the socket out of a failed call, whatever its types say.
      if (socket === undefined || socket === null) {
        callback(connectFault ?? fail('UPSTREAM_UNREACHABLE', { host: hostOf(destination), reason: 'no connection' }), null);
        return;
      }
      const peerFault = peerFaultOf(this.#policy, destination, socket);
      if (peerFault === undefined) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(peerFault, null);
    });
    this.#caller = '';
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

  #connectorFor(trust: Trust, port: number): buildConnector.connector {
    const key = `${trust} ${port}`;
    let connector = this.#connectors.get(key);
    if (connector === undefined) {
      const oldest = this.#connectors.size < connectorsMax ? undefined : this.#connectors.keys().next().value;
      if (oldest !== undefined) this.#connectors.delete(oldest);
      connector = buildConnector({
        lookup: checkedLookup(this.#policy, (name, callback) => this.#resolve(name, callback, this.#caller), port, trust),
        timeout: this.#connectTimeoutMs,
        secureContext: this.#secureContext,
        autoSelectFamily: true,
        keepAlive: true,
        noDelay: true,
        allowH2: false,
        socketPath: null,
      });
      this.#connectors.set(key, connector);
    }
    return connector;
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

/** The address really connected to is judged once more, should a later Node or undici ever resolve by itself. */
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
