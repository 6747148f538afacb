// What the hooks of the load bench's scenario `checks` (four checks: regex, word count, JSON schema, personal data redacted) add to one call with a
// JSON answer, part by part, with the gateway's own code and without sockets. One line each; the last is their sum. In microseconds,
// of the batches that other work of the machine disturbed least: the lowest tenth.

import { readingOf } from '@gateway/plugin-sdk';
import { fakeHost } from '@gateway/plugin-sdk/testing';
import { refuseTwoReadings } from '../../core/body/one-reading.js';
import { isTooDeep } from '../../core/body/depth.js';
import { parseAnswer, parseJsonObject, textOf } from '../../core/body/parse.js';
import { field } from '../../core/body/scan.js';
import type { Config } from '../../core/config/config.js';
import { inherit, noInheritance } from '../../core/config/parameters.js';
import { chatCompletions } from '../../core/endpoints/chat-completions.js';
import { Exchange } from '../../core/exchange/exchange.js';
import { RequestHead } from '../../core/exchange/request-head.js';
import { runBefore } from '../../core/pipeline/hooks/before.js';
import { withHookResults } from '../../core/pipeline/hooks/hook-result.js';
import { ResponseHooks } from '../../core/pipeline/hooks/response-hooks.js';
import { HookCompiler } from '../../core/plan/compile-hooks.js';
import { PlanWeight } from '../../core/plan/plan-weight.js';
import { Registry } from '../../core/registry/registry.js';
import { chatBody } from '../load/measure.js';
import { makeRecipe } from '../load/recipe.js';
import { checkedLoad } from '../load/scenarios.js';

const isQuick = process.env.BENCH_QUICK === '1';
const callsWarm = isQuick ? 500 : 20_000;
const batches = isQuick ? 3 : 60;
const callsInBatch = isQuick ? 50 : 500;

const registry = new Registry({ packages: [], fromFolder: '/', hostOf: () => fakeHost() });
const poolCheck = (): never => { throw new Error('no text of this bench belongs into the pool'); };
const hooks = new HookCompiler({ registry, poolCheck }, new PlanWeight());
const config = checkedLoad.config as Config;
hooks.visit(config, 'config');
const { before, after } = await hooks.lists(inherit(noInheritance, config));
if (before === null || after === null) throw new Error('the scenario has no hooks');

const request = Buffer.from(chatBody(checkedLoad.model, false));
const { opening } = makeRecipe('chat', checkedLoad.model);
const answer = Buffer.from(opening.toString().split('\r\n\r\n')[1] ?? '');
const reader = { parse: parseJsonObject, field };

function exchangeOf(): Exchange {
  const head = new RequestHead();
  head.contentType = 'application/json';
  const exchange = new Exchange(head, chatCompletions, '', {} as never, {} as never, reader);
  exchange.bytes = request;
  exchange.json();
  return exchange;
}

const parts: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
  'request: one reading only': (exchange) => { exchange.hasLongNumbers = refuseTwoReadings(exchange.bytes); },
  'request: hooks': (exchange) => runBefore(exchange, before),
  'answer: parsed, one reading only': () => {
    const text = textOf(answer);
    judged = parseAnswer(answer, false, text) as typeof judged;
    isTooDeep(judged);
    const { fault, hasLongNumber } = readingOf(text, true);
    if (fault !== undefined || hasLongNumber) throw new Error('the answer is one that has to be written anew');
  },
  'answer: hooks': (exchange) => new ResponseHooks(exchange, after).judge(judged, 200),
  'results: into the answer': (exchange) => { written += withHookResults(exchange, answer, 'application/json').length; },
  'results: for the log': (exchange) => { written += exchange.hooks?.logged().length ?? 0; },
};
let judged: Parameters<ResponseHooks['judge']>[0] = {};
let written = 0;

const names = Object.keys(parts);
const works = Object.values(parts);

/** Microseconds of each part, for one call. */
async function batch(calls: number): Promise<number[]> {
  const tookMs = names.map(() => 0);
  for (let call = 0; call < calls; call += 1) {
    const exchange = exchangeOf();
    let startedAt = performance.now();
    for (let index = 0; index < works.length; index += 1) {
      const done = works[index]?.(exchange);
      const endedAt = performance.now();
      // Hooks wait only where the machine was away for so long that they let other calls go first.
      if (done instanceof Promise) await done;
      else tookMs[index] = (tookMs[index] ?? 0) + endedAt - startedAt;
      startedAt = performance.now();
    }
  }
  return tookMs.map((ms) => (ms * 1000) / calls);
}

await batch(callsWarm);
const rows: number[][] = [];
while (rows.length < batches) rows.push(await batch(callsInBatch));
const undisturbed = (values: readonly number[]): number => [...values].sort((left, right) => left - right)[Math.floor(values.length / 10)] ?? Number.NaN;
const shown = names.map((name, index): [string, number] => [name, undisturbed(rows.map((row) => row[index] ?? Number.NaN))]);
console.log(`µs for a call with four checks; the request has ${request.length} bytes, the answer ${answer.length}`);
console.table(Object.fromEntries([...shown, ['all', shown.reduce((sum, [, value]) => sum + value, 0)] as const].map(([name, value]) => [name, { µs: Number(value.toFixed(2)) }])));
await hooks.instances.reduce<Promise<unknown>>((done, instance) => done.then(() => instance.close?.()), Promise.resolve());
if (written === 0) throw new Error('nothing was written');
