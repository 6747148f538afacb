// `gateway start`: settings, start, what to do next, then wait for a signal. Prints generated keys once, here and nowhere else.

import { reasonOf } from '../errors/gateway-error.js';
import { readSettings, type Settings } from '../settings/read.js';
import type { RunningGateway, Surroundings } from './app-contract.js';

type Signal = 'SIGTERM' | 'SIGINT';

/** As shells report a process ended by the signal. */
const signalledCodes = { SIGINT: 130, SIGTERM: 143 } as const;
/** Time that stop() may take beyond its deadline before it counts as stuck. */
const graceMs = 10_000;
/** Time that ending by the clock of this thread may take, before the process is ended from outside. */
const stuckMs = 3_000;

/** Resolves with the exit code when the gateway has stopped. */
export async function start(around: Surroundings): Promise<number> {
  const settings = readSettings(around.environment, around.cwd);
  const { signalled } = watchSignals(around);
  const app = await around.loadApp();
  const running = await app.startGateway(settings);
  around.out(welcome(settings, running, around.version));
  const signal = await signalled;
  around.error(`gateway: ${signal}, stopping; open answers get up to ${settings.shutdownDeadlineMs} ms, a second signal ends at once`);
  return stop(running, settings.shutdownDeadlineMs, around);
}

/** In place before the start, so that a signal during it is kept and a second one still ends the process. */
function watchSignals(around: Surroundings): { readonly signalled: Promise<Signal> } {
  let isFirst = true;
  return {
    signalled: new Promise((resolve) => {
      around.onSignal((signal) => {
        if (!isFirst) around.exit(signalledCodes[signal]);
        isFirst = false;
        resolve(signal);
      });
    }),
  };
}

async function stop(running: RunningGateway, deadlineMs: number, around: Surroundings): Promise<number> {
  around.endWithin(deadlineMs + graceMs + stuckMs);
  const stuck = setTimeout(() => {
    around.error(`gateway: not stopped ${graceMs} ms after the deadline; ending now`);
    around.exit(1);
  }, deadlineMs + graceMs);
  try {
    await running.stop(deadlineMs);
    return 0;
  } catch (thrown) {
    around.error(`gateway: stopping failed: ${reasonOf(thrown)}`);
    return 1;
  } finally {
    clearTimeout(stuck);
  }
}

function welcome(settings: Settings, running: RunningGateway, version: string): string {
  const { admin, api } = running.generatedKeys;
  return [
    `gateway ${version}`,
    '',
    `  Base URL        ${running.url}`,
    `  Data directory  ${settings.dataDir}`,
    `  Admin key       ${keyLine(admin, settings.adminKey, 'GATEWAY_ADMIN_KEY')}`,
    `  API key         ${keyLine(api, settings.apiKey, 'GATEWAY_API_KEY')}`,
    '',
    api === undefined ? 'Try it, with the API key in GATEWAY_API_KEY (no provider account needed):' : 'Try it (no provider account needed):',
    '',
    `  ${curlLine(running.url, api, 'mock', ["-H 'x-gateway-provider: mock'"])}`,
    '',
    'Store the key of a provider account once, then call it by name:',
    '',
    `  ${storeLine(running.url, api)}`,
    `  ${curlLine(running.url, api, '@openai/gpt-4o-mini', [])}`,
    '',
  ].join('\n');
}

function keyLine(generated: string | undefined, set: string | undefined, variable: string): string {
  if (generated !== undefined) return `${generated}  (generated now, shown once: keep it)`;
  return set === undefined ? 'made at an earlier start' : `as set in ${variable} or the settings file`;
}

/** A key that was not made just now is not ours to print. */
function curlLine(url: string, api: string | undefined, model: string, headers: readonly string[]): string {
  const key = api === undefined ? '"x-gateway-api-key: $GATEWAY_API_KEY"' : `'x-gateway-api-key: ${api}'`;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return [`curl ${url}/v1/chat/completions -H ${key}`, ...headers, `-H 'content-type: application/json' -d '${body}'`].join(' ');
}

/** The provider's key is read from its own variable: in a command line others could read it. */
const storeLine = (url: string, api: string | undefined): string =>
  `GATEWAY_URL=${url} GATEWAY_API_KEY=${api ?? '"$GATEWAY_API_KEY"'} npm run gateway -- integrations create --name OpenAI --slug openai --ai-provider-id openai --key env:OPENAI_API_KEY`;
