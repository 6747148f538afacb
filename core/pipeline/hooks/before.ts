// The hooks before the request, and what statuses hooks make of an answer. Called for each target with hooks; what several targets inherit
// runs once for a call, and what it changed stays changed for all of them.

import type { HookDecision, Maybe } from '@gateway/plugin-sdk';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import { HookLog } from '../../exchange/hook-log.js';
import type { CompiledHook } from '../../plan/hooks.js';
import { runInBackground } from './response-hooks.js';
import { Subject } from './check-run.js';
import { HookRun } from './hook-run.js';
import { exactRequestToJudge, requestToJudge, writeJudgedRequest, type TakeRequest } from './judged-request.js';

/** Status of an answer whose hooks failed without denying. */
export const softFailStatus = 246;

const passed: HookDecision = Object.freeze({ pass: true, deny: false });

/** Throws what says that the request cannot be judged. */
export function runBefore(exchange: Exchange, hooks: readonly CompiledHook[]): Maybe<'passed' | 'denied'> {
  if (exchange.route.body !== 'json') return 'passed';
  const log = exchange.hooks ??= new HookLog();
  let sync: CompiledHook[] | null = null;
  let background: CompiledHook[] | null = null;
  for (const hook of hooks) {
    const said = log.ran.get(hook);
    if (said?.deny === true) {
      log.isDeniedSoftly = hook.isSoft;
      return 'denied';
    }
    if (said !== undefined) continue;
    if (hook.isAsync) (background ??= []).push(hook);
    else (sync ??= []).push(hook);
  }
  let take: TakeRequest | null = null;
  const judged = requestToJudge(exchange);
  const run = new HookRun(new Subject('before', exchange, judged, 0, exactRequestToJudge(exchange, judged)), false, (changed) => { take = writeJudgedRequest(exchange, changed); });
  const running: Maybe<void> = sync === null ? undefined : run.run(sync);
  const done = (): 'passed' | 'denied' => {
    // A hook counts as run once what it changed stands in the place of the client's: never one without the other.
    if (take !== null) take();
    for (let index = 0; sync !== null && index < run.decisions.length; index += 1) log.ran.set(sync[index] as CompiledHook, run.decisions[index] as HookDecision);
    for (const result of run.results) log.before.push(result);
    // A failure for a target that was passed over says nothing about this one.
    log.hasFailedBefore = hooks.some((hook) => log.ran.get(hook)?.pass === false);
    if (run.isDenied) {
      log.isDeniedSoftly = run.isDeniedSoftly;
      return 'denied';
    }
    if (background === null) return 'passed';
    for (const hook of background) log.ran.set(hook, passed);
    runInBackground(exchange, background, run.subject);
    return 'passed';
  };
  return running instanceof Promise ? running.then(done) : done();
}

/** Whether the hooks after the request have a say in this answer. */
export const isJudged = (exchange: Exchange, status: number): boolean =>
  status === 200 && exchange.suffix === '' && exchange.route.body === 'json' && answerDialect(exchange.route) !== null;

export const clientStatus = (exchange: Exchange, status: number): number =>
  (status === 200 && exchange.hooks !== null && exchange.hooks.hasFailed ? softFailStatus : status);
