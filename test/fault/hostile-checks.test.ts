// Checks that bite: a regular-expression bomb, endless loops, full heaps, workers that end themselves, services that never answer. Each costs the
// calls that use it their verdict, at their deadline; the other calls of the same thread notice nothing, and when it is over all is as before.
// What a check does on the thread of the calls itself (`runs: 'loop'`) is not among them: nothing can take a thread away from the code on it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runRequests } from '../../bench/load/generator-requests.js';
import { median, type Figures } from '../../bench/load/figures.js';
import { writePackage } from '../core/registry/plugin-package.js';
import { startChildGateway, temporaryFolder } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { hostilePackage, multiplyingSchema } from './hostile-package/package.js';

/** More modules than a circuit needs to open for each: the attacks of the last part go on as long as they are measured. */
const copies = 16;
/** What a deadline may be passed by, on a machine that runs other tests. */
const slackMs = 1500;
/** An answer to others takes a few milliseconds; the longest verdicts on the loop are ours on 100 kB. */
const othersMaxMs = 1500;
const residentMibMax = 1200;

const answer = { ...chatCompletion, choices: [{ index: 0, message: { role: 'assistant', content: '{"answer":42}' }, finish_reason: 'stop' }] };
const upstream = await startUpstream((_, response) => sendJson(response, 200, answer));
const silent = createServer((socket) => { socket.on('error', () => socket.destroy()).resume(); });
await new Promise<void>((resolve) => { silent.listen(0, '127.0.0.1', resolve); });
after(() => silent.close());
const gateway = await startChildGateway({ GATEWAY_PLUGINS: writePackage(join(temporaryFolder(), 'hostile-checks'), hostilePackage(copies)) });

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
const politeOnes: readonly Use[] = [{ check: 'hostile.politePool' }, { check: 'hostile.politeWorker', parameters: { waitMs: 5000 } }];

interface Others {
  answers: number;
  slowestMs: number;
  /** Calls with a pooled check that behaves, and how many of them got a verdict. */
  polite: number;
  politeVerdicts: number;
}

/** While `work` goes on, others are served: without hooks, with a check on the loop, and with checks that share the pool with the attack. */
async function beside(work: () => Promise<void>): Promise<Others> {
  const others: Others = { answers: 0, slowestMs: 0, polite: 0, politeVerdicts: 0 };
  let isOver = false;
  const lane = async (use?: Use): Promise<void> => {
    while (!isOver) {
      const { status, check, tookMs } = await call(use);
      assert.equal(status, 200);
      if (use !== undefined) assert.deepEqual([check?.verdict, check?.error ?? null], [true, null]);
      others.answers += 1;
      others.slowestMs = Math.max(others.slowestMs, tookMs);
    }
  };
  const politeLane = async (): Promise<void> => {
    while (!isOver) {
      const { status, check } = await call(politeOnes[others.polite % politeOnes.length]);
      assert.equal(status, 200);
      others.polite += 1;
      if (check?.error === null || check?.error === undefined) others.politeVerdicts += 1;
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  };
  const lanes = [lane(), lane(), lane(ordinary), politeLane()];
  try {
    await Promise.race([work(), Promise.all(lanes)]);
  } finally {
    isOver = true;
  }
  await Promise.all(lanes);
  assert.ok(others.answers >= 3, `only ${others.answers} others were served`);
  assert.ok(others.slowestMs < othersMaxMs, `another call waited for ${others.slowestMs} ms`);
  return others;
}

/** What the circuit or a full pool says in place of the check's own fault, once an attack goes on. */
const busy = /ended too many workers|no worker was free within|the worker pool is full|gave no verdict within|because of other calls/;

interface Attack {
  readonly use: Use;
  readonly withinMs: number;
  readonly error: RegExp;
}

const attacks: Readonly<Record<string, Attack>> = {
  'a regular-expression bomb in the pool': {
    use: { check: 'hostile.bomb', parameters: { timeout: 400 }, text: `${'a'.repeat(40)}!` }, withinMs: 400, error: /^(timed out after|gave no verdict within) 400 ms$/,
  },
  'a worker that loops for ever': { use: { check: 'hostile.spin', parameters: { waitMs: 400 } }, withinMs: 400, error: /^timed out after 400 ms$/ },
  'a worker that fills its heap': { use: { check: 'hostile.hog', parameters: { waitMs: 4500 } }, withinMs: 4500, error: /^out of memory: the worker's heap of 256 MB was full$/ },
  'a worker that ends itself': { use: { check: 'hostile.exit', parameters: { waitMs: 3000 } }, withinMs: 3000, error: /^the worker ended: / },
  'a worker with a rejection that nobody handles': { use: { check: 'hostile.reject', parameters: { waitMs: 3000 } }, withinMs: 3000, error: /^the worker ended: nobody listens$/ },
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

describe('hostile checks', () => {
  for (const [name, { use, withinMs, error }] of Object.entries(attacks)) {
    it(`${name}: its calls get their errored check in time, and the others are served`, async (t) => {
      const others = await beside(async () => {
        const inTime = ({ tookMs }: Answered): void => assert.ok(tookMs < withinMs + slackMs, `answered after ${tookMs} ms`);
        const first = await call(use);
        assert.equal(first.status, 200);
        assert.match(first.check?.error?.message ?? 'no error', error);
        inTime(first);
        for (const each of await Promise.all(Array.from({ length: 4 }, () => call(use)))) {
          assert.equal(each.status, 200);
          const message = each.check?.error?.message ?? 'no error';
          // Several hogs share the processor; not each of them has filled its heap when its time is over.
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
    const use: Use = { check: 'hostile.spin', parameters: { waitMs: 200 } };
    let refused: Answered | undefined;
    for (let count = 0; count < 10 && refused === undefined; count += 1) {
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
      [{ check: 'default.regexMatch', parameters: { rule: '(a+)+$', not: true }, text: `${'a'.repeat(50_000)}!` }, 200],
      [{ check: 'default.pii', parameters: {}, text: personal.repeat(Math.ceil(100_000 / personal.length)) }, 246],
    ];
    await beside(async () => {
      for (let round = 0; round < 10; round += 1) {
        for (const each of await Promise.all(heavy.map(([use]) => call(use)))) {
          assert.equal(each.check?.error ?? null, null);
          assert.ok(each.tookMs < slackMs, `answered after ${each.tookMs} ms`);
        }
      }
      for (const [use, status] of heavy) assert.equal((await call(use)).status, status);
    });
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

const rounds = 3;
const roundMs = 600;
const attackers = 4;
const pauseMs = 100;
/** `node dist/bench/hostile.js` measures it well, and the aim is 2; this machine may be running other tests. */
const ratioMax = 4;

async function measured(): Promise<Figures> {
  const figures = await runRequests({
    mode: 'loop', port: gateway.port, connections: 8, path: '/v1/chat/completions', headers: { 'content-type': 'application/json', ...routed(upstream.url) },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }), fillerBytes: 0, warmupMs: 150, durationMs: roundMs, connectionsPerRampStep: 8, rampStepMs: 0,
    deadlineMs: 10_000, eventsExpected: 0, steadyFromMs: 0, steadyUntilMs: 0,
  });
  upstream.received.length = 0;
  assert.deepEqual([figures.badStatus, figures.failed], [0, 0]);
  return figures;
}

/** Each attacker asks again when it has its answer, and not at once: it is the attack that is measured, not four more clients. */
async function attacked(uses: readonly Use[]): Promise<Figures> {
  let isOver = false;
  let turn = 0;
  const attacker = async (): Promise<void> => {
    while (!isOver) {
      const use = uses[(turn += 1) % uses.length];
      assert.equal((await call(use)).status, 200);
      await new Promise((resolve) => { setTimeout(resolve, pauseMs); });
    }
  };
  const running = Array.from({ length: attackers }, attacker);
  try {
    return await measured();
  } finally {
    isOver = true;
    await Promise.all(running);
  }
}

describe('the latency of the others', () => {
  const each = (make: (suffix: string) => Use): readonly Use[] => Array.from({ length: copies - 1 }, (_, index) => make(String(index + 1)));
  for (const [name, uses] of [
    ['bombs', each((suffix) => ({ check: `hostile.bomb${suffix}`, parameters: { timeout: 300 }, text: `${'a'.repeat(40)}!` }))],
    ['endless loops', each((suffix) => ({ check: `hostile.spin${suffix}`, parameters: { waitMs: 300 } }))],
    ['full heaps', each((suffix) => ({ check: `hostile.hog${suffix}`, parameters: { waitMs: 1000 } }))],
  ] as const) {
    it(`stays near the usual while ${name} go on`, async (t) => {
      const calm: number[] = [];
      const under: number[] = [];
      await measured();
      for (let round = 0; round < rounds; round += 1) {
        calm.push((await measured()).p99Us ?? NaN);
        under.push((await attacked(uses)).p99Us ?? NaN);
      }
      const ratio = median(under) / median(calm);
      t.diagnostic(`p99 ${Math.round(median(calm))} µs, under attack ${Math.round(median(under))} µs: ${ratio.toFixed(2)} times`);
      assert.ok(ratio <= ratioMax, `p99 is ${ratio} times the usual`);
      assert.ok(!hasEnded);
    });
  }
});
