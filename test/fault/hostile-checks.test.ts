// Checks that bite: a regular-expression bomb, endless loops, full heaps, workers that end themselves, services that never answer. Each costs the
// calls that use it their verdict, at their deadline; the other calls of the same thread notice nothing, and when it is over all is as before.
// What a check does on the thread of the calls itself (`runs: 'loop'`) is not among them: nothing can take a thread away from the code on it.
// Here it is counted and put in order, which a busy machine does not change; what it costs in latency is measured by bench/hostile.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { writePackage } from '../core/registry/plugin-package.js';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { hostilePackage, multiplyingSchema } from './hostile-package/package.js';

/** More modules than a circuit needs to open for each: the attacks of the last part go on as long as they are watched. */
const copies = 8;
/** So much later an answer is not late but lost: how long it takes is nothing that a busy machine can be asked. */
const lostMs = 30_000;
const pauseMs = 10;
const answersMin = 3;
const residentMibMax = 1200;

const answer = { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: '{"answer":42}' }, finish_reason: 'stop' }] };
const upstream = await startUpstream((_, response) => sendJson(response, 200, answer));
const silent = createServer((socket) => { socket.on('error', () => socket.destroy()).resume(); });
await new Promise<void>((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
after(() => silent.close());
const gateway = await startChildGateway({ GATEWAY_PLUGINS: writePackage(join(temporaryFolder(), 'hostile-checks'), hostilePackage(copies)) });

// The first calls of all load what the others find loaded.
for (const warmUp of [undefined, 'default.regexMatch']) await fetch(`${gateway.url}/v1/chat/completions`, {
  method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, warmUp === undefined ? {} : { input_guardrails: [{ [warmUp]: { rule: 'x', not: true } }] }) },
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
}).then((response) => response.arrayBuffer());

let hasEnded = false;
void gateway.ended.then(() => { hasEnded = true; });

interface CheckOutcome {
  readonly verdict: boolean;
  readonly error: { readonly message: string } | null;
}

interface Answered {
  readonly status: number;
  readonly check: CheckOutcome | undefined;
  readonly tookMs: number;
}

interface Use {
  readonly check: string;
  readonly parameters?: object;
  readonly text?: string;
  readonly stage?: 'before' | 'after';
  readonly deny?: boolean;
}

const hooksOf = ({ check, parameters = {}, stage = 'before', deny = false }: Use): Record<string, unknown> =>
  ({ [`${stage}_request_hooks`]: [{ id: 'h', type: 'guardrail', deny, checks: [{ id: check, parameters }] }] });

async function call(use?: Use): Promise<Answered> {
  const startedAtMs = performance.now();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST', headers: { 'content-type': 'application/json', ...routed(upstream.url, use === undefined ? {} : hooksOf(use)) },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: use?.text ?? 'hello' }] }),
  });
  const body: any = await response.json();
  const [hook] = body.hook_results?.[`${use?.stage ?? 'before'}_request_hooks`] ?? [];
  return { status: response.status, check: hook?.checks[0], tookMs: performance.now() - startedAtMs };
}

const ordinary: Use = { check: 'default.regexMatch', parameters: { rule: 'goodbye', not: true } };
const politeOnes: readonly Use[] = [{ check: 'hostile.politePool', parameters: { timeout: 30_000 } }, { check: 'hostile.politeWorker', parameters: { waitMs: 30_000, timeout: 30_000 } }];

const pause = (timeMs: number): Promise<void> => new Promise((resolve) => { setTimeout(resolve, timeMs); });

interface Others {
  answers: number;
  slowestMs: number;
  /** Calls with a pooled check that behaves, and how many of them got a verdict. */
  polite: number;
  politeVerdicts: number;
}

/** While `work` goes on, others are served: without hooks, with a check on the loop, and with checks that share the pool with the attack. */
async function beside(work: (others: Readonly<Others>) => Promise<void>): Promise<Others> {
  const others: Others = { answers: 0, slowestMs: 0, polite: 0, politeVerdicts: 0 };
  let isOver = false;
  const lane = async (use?: Use): Promise<void> => {
    while (!isOver) {
      const { status, check, tookMs } = await call(use);
      assert.equal(status, 200);
      if (use !== undefined) assert.deepEqual([check?.verdict, check?.error ?? null], [true, null]);
      others.answers += 1;
      others.slowestMs = Math.max(others.slowestMs, tookMs);
      await pause(pauseMs);
    }
  };
  const politeLane = async (): Promise<void> => {
    while (!isOver) {
      const { status, check } = await call(politeOnes[others.polite % politeOnes.length]);
      assert.equal(status, 200);
      others.polite += 1;
      if (check?.error === null || check?.error === undefined) others.politeVerdicts += 1;
      await pause(2 * pauseMs);
    }
  };
  const lanes = [lane(), lane(ordinary), politeLane()];
  try {
    // An attack that is over at once has to wait for a few of them.
    await Promise.race([work(others).then(async () => { while (others.answers < answersMin) await pause(pauseMs); }), Promise.all(lanes)]);
  } finally {
    isOver = true;
  }
  await Promise.all(lanes);
  assert.ok(others.answers >= answersMin, `only ${others.answers} others were served`);
  return others;
}

/** What the circuit or a full pool says in place of the check's own fault, once an attack goes on. */
const busy = /ended too many workers|no worker was free within|the worker pool is full|gave no verdict within|because of other calls/;

interface Attack {
  readonly use: Use;
  readonly withinMs: number;
  readonly error: RegExp;
  readonly atOnce?: number;
}

const attacks: Readonly<Record<string, Attack>> = {
  'a regular-expression bomb in the pool': {
    use: { check: 'hostile.bomb', parameters: { timeout: 400 }, text: `${'a'.repeat(40)}!` }, withinMs: 400, error: /^(timed out after|gave no verdict within) 400 ms$/,
  },
  'a worker that loops for ever': { use: { check: 'hostile.spin', parameters: { waitMs: 400 } }, withinMs: 400, error: /^timed out after 400 ms$/ },
  'a worker that fills its heap': { use: { check: 'hostile.hog', parameters: { waitMs: 60_000, timeout: 60_000 } }, withinMs: 60_000, atOnce: 2, error: /^out of memory: the worker's heap of 256 MB was full$/ },
  'a worker that ends itself': { use: { check: 'hostile.exit', parameters: { waitMs: 20_000, timeout: 30_000 } }, withinMs: 30_000, error: /^the worker ended: / },
  'a worker with a rejection that nobody handles': { use: { check: 'hostile.reject', parameters: { waitMs: 20_000, timeout: 30_000 } }, withinMs: 30_000, error: /^the worker ended: nobody listens$/ },
  'a check whose promise never settles': { use: { check: 'hostile.hang', parameters: { timeout: 400 } }, withinMs: 400, error: /^gave no verdict within 400 ms$/ },
  'a check that throws': { use: { check: 'hostile.throws' }, withinMs: 0, error: /^it is broken$/ },
  'a webhook that never answers': {
    use: { check: 'default.webhook', parameters: { webhookURL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`, timeout: 300 } }, withinMs: 300, error: /300 ms/,
  },
  'a schema whose references multiply': {
    use: { check: 'default.jsonSchema', parameters: { schema: multiplyingSchema(30), timeout: 400 }, stage: 'after' }, withinMs: 400, error: /^(timed out after|gave no verdict within) 400 ms$/,
  },
};

/** Of everything the kernel counts as this process, at its highest. */
function peakMib(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const heavyRounds = 4;
/** A few dozen in fact; with quadratic time they are thousands. */
const heavyMaxMs = 1000;

/** What the gateway has spent: unlike the time on the wall it is the same when other processes want the processor too. */
function processorMs(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  const ticksPerSecond = 100;
  return (Number(fields[11]) + Number(fields[12])) * 1000 / ticksPerSecond;
}

describe('hostile checks', () => {
  for (const [name, { use, withinMs, error, atOnce = 4 }] of Object.entries(attacks)) {
    it(`${name}: its calls get their errored check in time, and the others are served`, async (t) => {
      const others = await beside(async (served) => {
        const inTime = ({ tookMs }: Answered): void => assert.ok(tookMs < withinMs + lostMs, `answered after ${tookMs} ms`);
        let before = served.answers;
        let first = await call(use);
        const isUnserved = (): boolean => withinMs > 0 && served.answers === before;
        // Another call's fault, or workers that a busy machine has not started yet.
        const isMisleading = (message = ''): boolean => busy.test(message) && !error.test(message);
        let unserved = 0;
        for (let tries = 1; tries < 5 && (isMisleading(first.check?.error?.message) || isUnserved()); tries += 1) {
          if (isUnserved()) {
            // Where nobody is served without the attack either, it is the machine that has no time. Else once may be chance.
            await pause(first.tookMs);
            if (!isUnserved()) unserved += 1;
            if (unserved > 1) break;
          }
          before = served.answers;
          first = await call(use);
        }
        assert.ok(unserved <= 1, 'nobody was served until the attack had its answer, twice');
        assert.equal(first.status, 200);
        assert.match(first.check?.error?.message ?? 'no error', error);
        inTime(first);
        if (withinMs > 0) assert.ok(served.answers > before, 'nobody was served until the attack had its answer');
        for (const each of await Promise.all(Array.from({ length: atOnce }, () => call(use)))) {
          assert.equal(each.status, 200);
          const message = each.check?.error?.message ?? 'no error';
          // Several hogs share the processor; on a busy machine one may not have filled its heap when its time is over.
          assert.ok(error.test(message) || busy.test(message) || /^timed out after/.test(message), message);
          inTime(each);
        }
        const denied = await call({ ...use, deny: true, parameters: { ...use.parameters, failOnError: true } });
        assert.equal(denied.status, 446);
        assert.equal(denied.check?.verdict, false);
        inTime(denied);
      });
      t.diagnostic(`others: ${others.answers} answers, slowest ${Math.round(others.slowestMs)} ms; ${others.politeVerdicts} of ${others.polite} pooled checks beside it had a verdict`);
      assert.ok(!hasEnded, gateway.stderr());
    });
  }

  it('one whose module has ended too many workers is refused at once, and the pool is left to the others', async () => {
    // Where no worker is free in time, none is ended.
    const use: Use = { check: 'hostile.spin', parameters: { waitMs: 1000 } };
    let refused: Answered | undefined;
    for (let count = 0; count < 60 && refused === undefined; count += 1) {
      const each = await call(use);
      if (/ended too many workers; it is refused for another \d+ s/.test(each.check?.error?.message ?? '')) refused = each;
    }
    assert.ok(refused !== undefined, 'never refused');
    assert.equal(refused.status, 200);
    for (const polite of politeOnes) assert.equal((await call(polite)).check?.error ?? null, null);
  });

  it('ours take any text in linear time and keep nobody waiting', async () => {
    const personal = 'Write to jane.doe@example.com or call +1 202 555 0143. ';
    const heavy: readonly (readonly [use: Use, status: number])[] = [
      [{ check: 'default.regexMatch', parameters: { rule: '(a+)+$', not: true, timeout: lostMs }, text: `${'a'.repeat(50_000)}!` }, 200],
      [{ check: 'default.pii', parameters: { timeout: lostMs }, text: personal.repeat(Math.ceil(100_000 / personal.length)) }, 246],
    ];
    for (const [use] of heavy) await call(use);
    const before = processorMs();
    for (let round = 0; round < heavyRounds; round += 1) {
      for (const [use, status] of heavy) {
        const each = await call(use);
        assert.deepEqual([each.status, each.check?.error ?? null], [status, null]);
      }
    }
    const tookMs = (processorMs() - before) / heavyRounds;
    assert.ok(tookMs < heavyMaxMs, `${tookMs} ms of processor time for two texts`);
  });

  it('leave a process that is the same, no larger than its workers\' heaps allow, with a pool that works', async (t) => {
    process.kill(gateway.pid, 0);
    assert.ok(!hasEnded);
    assert.equal((await call()).status, 200);
    for (const use of [ordinary, ...politeOnes, ...politeOnes]) {
      const { status, check } = await call(use);
      assert.equal(status, 200);
      assert.deepEqual([check?.verdict, check?.error ?? null], [true, null]);
    }
    // Workers' errors are told to the callers, not to the operator's terminal.
    assert.doesNotMatch(gateway.stderr(), /uncaught|unhandled|FATAL/i);
    if (process.platform === 'linux') {
      t.diagnostic(`resident at the most ${Math.round(peakMib())} MiB`);
      assert.ok(peakMib() < residentMibMax, `${peakMib()} MiB`);
    }
  });
});

describe('attacks that go on', () => {
  const each = (make: (suffix: string) => Use): readonly Use[] => Array.from({ length: copies - 1 }, (_, index) => make(String(index + 1)));
  const attackers = 4;
  const roundsMax = 20;
  for (const [name, uses] of [
    ['bombs', each((suffix) => ({ check: `hostile.bomb${suffix}`, parameters: { timeout: 300 }, text: `${'a'.repeat(40)}!` }))],
    ['endless loops', each((suffix) => ({ check: `hostile.spin${suffix}`, parameters: { waitMs: 300 } }))],
    ['full heaps', each((suffix) => ({ check: `hostile.hog${suffix}`, parameters: { waitMs: 1000 } }))],
  ] as const) {
    it(`${name}: others are served while they wait for their deadlines`, async (t) => {
      let turn = 0;
      const others = await beside(async (served) => {
        await Promise.all(Array.from({ length: attackers }, async () => {
          // A busy machine has time for few of the others in one round.
          for (let count = 0; count < 2 || (served.answers <= attackers && count < roundsMax); count += 1) {
            const { status, check } = await call(uses[(turn += 1) % uses.length]);
            assert.equal(status, 200);
            assert.notEqual(check?.error ?? null, null);
          }
        }));
        assert.ok(served.answers > attackers, `only ${served.answers} others were served`);
      });
      t.diagnostic(`others: ${others.answers} answers, slowest ${Math.round(others.slowestMs)} ms`);
      assert.ok(!hasEnded, gateway.stderr());
    });
  }
});
