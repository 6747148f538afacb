// Runs hooks on a made-up call to see their verdict: the same code as for calls, without a provider and a client. Runs on the
// control thread.

import type { EndpointName, Json, JsonObject } from '@gateway/plugin-sdk';
import { field } from '../../body/scan.js';
import { parseJsonObject } from '../../body/parse.js';
import { dialects } from '../../dialect/dialects.js';
import type { Dialect } from '../../dialect/dialect.js';
import { fail } from '../../errors/gateway-error.js';
import type { ClientBody } from '../../exchange/client-body.js';
import { Exchange, type ExchangePrincipal } from '../../exchange/exchange.js';
import { RequestHead } from '../../exchange/request-head.js';
import type { Responder } from '../../exchange/responder.js';
import type { CompiledHook } from '../../plan/hooks.js';
import { Subject } from './check-run.js';
import { HookRun } from './hook-run.js';

/** Time-out of all checks of a trial together. */
const trialMsMax = 15_000;

export interface TrialCall {
  readonly endpoint: EndpointName;
  readonly request: JsonObject;
  /** Null: only the request is judged. */
  readonly response: JsonObject | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly provider: string;
  readonly principal: ExchangePrincipal;
}

/** The verdict of the hooks of one side. */
interface TrialSide {
  /** As in `hook_results`. */
  readonly results: readonly Json[];
  readonly hasFailed: boolean;
  readonly isDenied: boolean;
  /** The body as the hooks have changed it; null: they did not. */
  readonly changed: Json;
}

interface TrialResult {
  readonly before: TrialSide;
  readonly after: TrialSide;
}

const nothing: TrialSide = Object.freeze({ results: [], hasFailed: false, isDenied: false, changed: null });
const unused = (): never => { throw new TypeError('a call that nobody makes was read or answered'); };
const noBody: ClientBody = { collect: unused, stream: unused, discard: () => {}, letGo: () => {} };
const noClient: Responder = { isOpen: false, isStarted: false, bytesSent: 0, drainListener: null, send: unused, start: unused, write: unused, end: unused, abort: unused };

/** Rejects with ACTION_UNTIMELY when the checks take too long, and with a client error for a body that cannot be judged. */
export async function tryHooks(before: readonly CompiledHook[], after: readonly CompiledHook[], call: TrialCall, msMax = trialMsMax): Promise<TrialResult> {
  const exchange = exchangeOf(call);
  let timer: NodeJS.Timeout | undefined = undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(fail('ACTION_UNTIMELY', { reason: `the checks gave no verdict within ${msMax} ms` })), msMax);
  });
  try {
    return await Promise.race([runSides(before, after, call, exchange), late]);
  } finally {
    clearTimeout(timer);
    // Aborts checks that are still running.
    exchange.isFinished = true;
    exchange.abortPlugins();
  }
}

async function runSides(before: readonly CompiledHook[], after: readonly CompiledHook[], call: TrialCall, exchange: Exchange): Promise<TrialResult> {
  const first = before.length === 0 ? nothing : await runSide(new Subject('before', exchange, call.request, 0), before);
  const second = after.length === 0 || call.response === null || first.isDenied ? nothing : await runSide(new Subject('after', exchange, call.response, 200), after);
  return { before: first, after: second };
}

async function runSide(subject: Subject, hooks: readonly CompiledHook[]): Promise<TrialSide> {
  const run = new HookRun(subject);
  await run.run(hooks);
  const { body } = run.subject;
  return { results: run.results.map(({ text }) => JSON.parse(text) as Json), hasFailed: run.hasFailed, isDenied: run.isDenied, changed: body === subject.body ? null : body };
}

function exchangeOf({ endpoint, request, metadata, provider, principal }: TrialCall): Exchange {
  const head = new RequestHead();
  head.method = 'POST';
  head.path = '/v1/';
  head.add('content-type', 'application/json');
  if (Object.keys(metadata).length > 0) head.metadata = JSON.stringify(metadata);
  const known: readonly Dialect[] = Object.values(dialects);
  const dialect = known.find((each) => each.endpoint === endpoint) ?? dialects.chat;
  const exchange = new Exchange(head, { name: endpoint, dialect, scope: '', body: 'json', validate: null, isSingleTarget: false }, '', noBody, noClient, { parse: parseJsonObject, field });
  exchange.bytes = Buffer.from(JSON.stringify(request));
  exchange.parsed = request;
  exchange.principal = principal;
  exchange.provider = provider;
  exchange.target = { provider, attempt: 1 };
  return exchange;
}
