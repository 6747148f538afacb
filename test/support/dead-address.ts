// An address on loopback where nobody listens, and nobody else will: a port that a server had and left is soon another test's.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Ports from here on need no privilege. */
const portMin = 1024;
const usualEphemeralMin = 32_768;
const triesMax = 100;
/** So far apart that several of one process do not meet those of the processes beside it. */
const portStep = 997;

export interface DeadAddress {
  readonly url: string;
  readonly port: number;
}

/** Ports from here on are given to whoever asks for any. */
function ephemeralMin(): number {
  try {
    const min = Number(/\d+/.exec(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'latin1'))?.[0]);
    return min > 2 * portMin ? min : usualEphemeralMin;
  } catch {
    return usualEphemeralMin;
  }
}

const portsMax = ephemeralMin() - portMin;
let taken = 0;

const isFree = (port: number): Promise<boolean> => new Promise((resolve) => {
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
});

/** Below the ports that the system gives away by itself. Whoever likes may listen there later, to bring the address to life. */
export async function deadAddress(): Promise<DeadAddress> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = portMin + (process.pid + portStep * taken) % portsMax;
    taken += 1;
    if (await isFree(port)) return { url: `http://127.0.0.1:${port}`, port };
  }
  throw new Error('no port is free');
}
