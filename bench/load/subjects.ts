// Starts what is measured: the gateway (of this tree or another), nginx, the bare node:http proxy.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Child, sleep } from './children.js';
import { findProgram, openFilesMax } from './machine.js';
import { nginxConfig } from './nginx-config.js';
import { cpuTimeUs, processTree, residentMib } from './process-figures.js';

export const gatewayKey = 'gk-bench-5b1f6c0e9a7d4328b6f0c1d2e3a49586';
export const adminKey = 'ga-bench-0d9c8b7a6f5e4d3c2b1a09f8e7d6c5b4';
const probeOption = `--import=${pathToFileURL(join(import.meta.dirname, 'loop-probe.js')).href}`;
const readyTimeoutMs = 20_000;

export interface Subject {
  readonly name: string;
  readonly port: number;
  readonly child: Child | null;
  /** Resident memory before the first request. */
  readonly idleMib: number;
  /** Where the probe inside writes; null without one. */
  readonly probeFile: string | null;
  /** It has a control plane. */
  readonly isGateway: boolean;
}

export interface Surroundings {
  readonly upstreamPort: number;
  readonly temporaryDirectory: string;
}

/** How a subject is started otherwise than usual. */
export interface StartOptions {
  /** Program and arguments that run the subject's own command. */
  readonly under?: readonly string[];
  /** Options of node, in front of the command's own. */
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly readyTimeoutMs?: number;
  /** It may use every core. */
  readonly isUnpinned?: boolean;
  /** It is a program of node and carries the bench's probe. */
  readonly hasProbe?: boolean;
}

export function subjectPids(subject: Subject): number[] {
  return subject.child === null ? [] : processTree(subject.child.pid);
}

export function subjectCpuUs(subject: Subject): number {
  return subject.child === null ? NaN : cpuTimeUs(subjectPids(subject));
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address !== 'string' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function whenReady(name: string, port: number, child: Child, timeoutMs = readyTimeoutMs): Promise<Subject> {
  const untilMs = performance.now() + timeoutMs;
  let last = 'no answer';
  while (performance.now() < untilMs) {
    if (child.hasEnded) throw new Error(`${name} ended before it was ready: ${child.lastWords}`);
    try {
      const response = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(2000) });
      if (response.status === 200) {
        await response.arrayBuffer();
        await sleep(200);
        return { name, port, child, idleMib: residentMib(processTree(child.pid)), probeFile: null, isGateway: false };
      }
      last = `status ${response.status}`;
    } catch (error) {
      // Not listening yet; the deadline above ends the waiting.
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(50);
  }
  throw new Error(`${name} was not ready within ${timeoutMs} ms (${last}): ${child.lastWords}`);
}

function gatewayEnvironment(port: number, dataDirectory: string, around: Surroundings): Record<string, string> {
  return {
    NODE_ENV: 'production',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    GATEWAY_THREADS: '1',
    GATEWAY_DATA_DIR: dataDirectory,
    GATEWAY_API_KEY: gatewayKey,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_TRUSTED_HOSTS: '127.0.0.1',
    GATEWAY_LOG_LEVEL: 'warn',
    BENCH_UPSTREAM_PORT: String(around.upstreamPort),
  };
}

/** `command` is split at spaces and started in `tree`. */
export async function startGateway(name: string, command: string, tree: string, around: Surroundings, how: StartOptions = {}): Promise<Subject> {
  const port = await freePort();
  const dataDirectory = join(around.temporaryDirectory, `data-${name.replace(/\W/g, '-')}`);
  mkdirSync(dataDirectory, { recursive: true });
  const [program, ...argv] = command.split(' ').filter((word) => word !== '');
  if (program === undefined) throw new Error('the gateway command is empty; give one with --gateway');
  const probeFile = how.hasProbe === true && program === 'node' ? `${dataDirectory}-probe.json` : null;
  const words = [...(how.under ?? []), ...(program === 'node' ? [process.execPath, ...(probeFile === null ? [] : [probeOption]), ...(how.nodeOptions ?? [])] : [program]), ...argv];
  const child = new Child(words[0] ?? '', words.slice(1), {
    core: how.isUnpinned === true ? 'any' : 'proxy',
    directory: tree,
    environment: { ...gatewayEnvironment(port, dataDirectory, around), ...(probeFile === null ? {} : { BENCH_PROBE_FILE: probeFile }), ...how.environment },
  });
  return { ...await whenReady(name, port, child, how.readyTimeoutMs), probeFile, isGateway: true };
}

export async function startNginx(around: Surroundings, how: StartOptions = {}): Promise<Subject> {
  const program = findProgram('nginx');
  if (program === null) throw new Error('nginx is not installed; use --reference node');
  const port = await freePort();
  const file = join(around.temporaryDirectory, 'nginx.conf');
  writeFileSync(file, nginxConfig(around.temporaryDirectory, port, around.upstreamPort, openFilesMax()));
  // What runs it is to see the worker itself, not a process that starts one.
  const argv = ['-p', around.temporaryDirectory, '-e', join(around.temporaryDirectory, 'nginx-error.log'), '-c', file, ...(how.under === undefined ? [] : ['-g', 'master_process off;'])];
  const words = [...(how.under ?? []), program, ...argv];
  const child = new Child(words[0] ?? '', words.slice(1), { core: 'proxy', environment: { ...how.environment } });
  return whenReady('nginx', port, child, how.readyTimeoutMs);
}

/** `file` is a program of this folder that takes its port and the provider's from the environment, as the gateway does. */
export async function startRelay(name: string, file: string, around: Surroundings, how: StartOptions = {}): Promise<Subject> {
  const port = await freePort();
  const words = [...(how.under ?? []), process.execPath, ...(how.nodeOptions ?? []), join(import.meta.dirname, file)];
  const child = new Child(words[0] ?? '', words.slice(1), { core: 'proxy', environment: { ...gatewayEnvironment(port, around.temporaryDirectory, around), ...how.environment } });
  return whenReady(name, port, child, how.readyTimeoutMs);
}

export function startNodeProxy(around: Surroundings): Promise<Subject> {
  return startRelay('node:http', 'reference-proxy.js', around);
}

/** The provider itself, without a proxy: what the others' latency is counted from. */
export function direct(around: Surroundings): Subject {
  return { name: 'direct', port: around.upstreamPort, child: null, idleMib: NaN, probeFile: null, isGateway: false };
}

export async function startUpstream(): Promise<{ readonly port: number; readonly child: Child }> {
  const child = new Child(process.execPath, [join(import.meta.dirname, 'upstream.js')], { core: 'upstream', isTied: true });
  const line: unknown = JSON.parse(await child.line((text) => text.startsWith('{'), 10_000));
  if (typeof line !== 'object' || line === null || !('port' in line) || typeof line.port !== 'number') {
    throw new Error('the fake provider printed no port');
  }
  return { port: line.port, child };
}
