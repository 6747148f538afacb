// A gateway for one test file: in this process, on a free port, with its own data directory and known keys.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { LogReader } from '@gateway/plugin-sdk';
import { startGateway, type RunningGateway } from '../../core/app.js';
import { readSettings } from '../../core/settings/read.js';
import { poisonReads } from '../../core/upstream/http/read-buffer.js';

// What is only lent must not be kept, in any test.
poisonReads();

export const apiKey = 'test-workspace-key-0123456789';
export const adminKey = 'test-organisation-key-0123456789';

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly running: RunningGateway;
  stop(deadlineMs?: number): Promise<void>;
}

export interface TestGatewayOptions {
  /** As users have it. Without, exporters run on the thread of the test: a thread takes a quarter of a second to start, and hundreds of tests start one. */
  readonly hasLogThread?: boolean;
  /** The same of control calls. */
  readonly hasControlThread?: boolean;
  /** Records of calls for control calls on this thread. */
  readonly logs?: LogReader;
}

/**
 * Settings as environment variables over the test defaults; stopped and removed after the test file. Call it at the top level of the file:
 * inside a hook, `after` would belong to the hook.
 */
export async function startTestGateway(environment: Readonly<Record<string, string>> = {}, { hasLogThread = false, hasControlThread = false, logs }: TestGatewayOptions = {}): Promise<TestGateway> {
  const dataDir = environment.GATEWAY_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const settings = readSettings({
    GATEWAY_PORT: '0',
    GATEWAY_THREADS: '1',
    GATEWAY_DATA_DIR: dataDir,
    GATEWAY_API_KEY: apiKey,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_TRUSTED_HOSTS: '127.0.0.1',
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RETRY_DELAY_MS: '1',
    ...environment,
  }, dataDir);
  const running = await startGateway(settings, { hasLogThread, hasControlThread, logs });
  let isStopped = false;
  const stop = async (deadlineMs = 0): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await running.stop(deadlineMs);
    if (environment.GATEWAY_DATA_DIR === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  after(() => stop());
  return { url: running.url, port: Number(new URL(running.url).port), dataDir, running, stop };
}

/** Headers of a call that goes to `upstreamUrl` with the known key, through a config with these members beside the target's. */
export function routed(upstreamUrl: string, config: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return {
    'x-gateway-api-key': apiKey,
    'x-gateway-config': JSON.stringify({ provider: 'openai', api_key: 'sk-upstream', custom_host: `${upstreamUrl}/v1`, ...config }),
  };
}
