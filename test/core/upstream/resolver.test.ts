import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, it, mock } from 'node:test';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { NameResolver, pluginCaller, type AskCallback, type ResolverOptions } from '../../../core/upstream/resolver.js';

const one: readonly LookupAddress[] = [{ address: '192.0.2.1', family: 4 }];
const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

/** Name servers whose answers the test gives, and what each asker heard: addresses or a code. */
function setUp(options: Partial<ResolverOptions> = {}) {
  const open = new Map<string, AskCallback>();
  const asked: string[] = [];
  const stopped: string[] = [];
  let nowMs = 0;
  const resolver = new NameResolver({
    ask: (name, callback) => {
      asked.push(name);
      open.set(name, callback);
      return () => stopped.push(name);
    },
    deadlineMs: 5000, now: () => nowMs, ...options,
  });
  const heard: string[] = [];
  return {
    asked, stopped, heard, open,
    forward: (ms: number) => { nowMs += ms; },
    resolve: (name: string, caller = 'w') => resolver.resolve(name, (fault, addresses) => {
      heard.push(`${name} ${fault === null ? addresses.map(({ address }) => address).join() : isGatewayError(fault) ? fault.code : fault.message}`);
    }, caller),
  };
}

describe('look-ups of names', () => {
  it('of the same name are one, whoever asks, and nobody hears before the asking has returned', async () => {
    const { resolve, asked, heard, open } = setUp();
    resolve('a.example', 'w1');
    resolve('A.example', 'w2');
    open.get('a.example')?.(null, one, 1000);
    assert.deepEqual(heard, []);
    await turn();
    assert.deepEqual(heard, ['a.example 192.0.2.1', 'A.example 192.0.2.1']);
    assert.deepEqual(asked, ['a.example']);
  });

  it('are limited for each caller, and others still get theirs', async () => {
    const { resolve, asked, heard, open } = setUp();
    for (let index = 0; index < 200; index += 1) resolve(`silent-${index}.example`, 'greedy');
    assert.equal(asked.length, 16);
    resolve('other.example', 'modest');
    open.get('other.example')?.(null, one, 0);
    await turn();
    assert.equal(heard.filter((line) => line.endsWith(' LOOKUPS_BUSY')).length, 184);
    assert.ok(heard.includes('other.example 192.0.2.1'));
    open.get('silent-0.example')?.(null, one, 0);
    resolve('late.example', 'greedy');
    assert.equal(asked.at(-1), 'late.example', 'an answer makes room');
  });

  it('of a plugin are more, and none of another plugin, a workspace or the gateway', async () => {
    const { resolve, asked, heard } = setUp();
    for (let index = 0; index < 200; index += 1) resolve(`silent-${index}.example`, pluginCaller('guardrail/one'));
    assert.equal(asked.length, 64);
    for (const caller of [pluginCaller('provider/two'), 'w', '']) resolve(`${caller.length}.example`, caller);
    assert.equal(asked.length, 67);
    await turn();
    assert.equal(heard.length, 136);
  });

  it('are limited in all', () => {
    const { resolve, asked } = setUp({ lookupsMax: 20 });
    for (let index = 0; index < 100; index += 1) resolve(`silent-${index}.example`, `w${index}`);
    assert.equal(asked.length, 20);
  });

  it('end at their deadline, are stopped, and make room; what comes later is heard by nobody', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { resolve, stopped, heard, open, asked, forward } = setUp({ lookupsOfCallerMax: 1 });
      resolve('silent.example');
      mock.timers.tick(4999);
      assert.deepEqual(stopped, []);
      mock.timers.tick(1);
      await turn();
      assert.deepEqual([stopped, heard], [['silent.example'], ['silent.example UPSTREAM_UNREACHABLE']]);
      open.get('silent.example')?.(null, one, 1000);
      await turn();
      assert.equal(heard.length, 1);
      resolve('next.example');
      assert.deepEqual(asked, ['silent.example', 'next.example']);
      resolve('silent.example');
      await turn();
      assert.equal(heard.at(-1), 'silent.example UPSTREAM_UNREACHABLE', 'known for a moment');
      open.get('next.example')?.(null, one, 0);
      forward(2000);
      resolve('silent.example');
      assert.equal(asked.length, 3);
    } finally {
      mock.timers.reset();
    }
  });

  it('are remembered as long as the answer says, and no longer than ten seconds; failed ones for two', async () => {
    const { resolve, asked, heard, open, forward } = setUp();
    resolve('short.example');
    open.get('short.example')?.(null, one, 3000);
    resolve('long.example');
    open.get('long.example')?.(null, one, 3_600_000);
    resolve('none.example');
    open.get('none.example')?.(new Error('none'), [], 0);
    resolve('empty.example');
    open.get('empty.example')?.(null, [], 60_000);
    resolve('fresh.example');
    open.get('fresh.example')?.(null, one, 0);
    const names = ['short', 'long', 'none', 'empty', 'fresh'];
    const askedAgain = async (): Promise<string[]> => {
      await turn();
      const before = asked.length;
      for (const name of names) resolve(`${name}.example`);
      const again = asked.slice(before);
      for (const name of again) open.get(name)?.(null, one, 3_600_000);
      return again;
    };
    assert.deepEqual(await askedAgain(), ['fresh.example']);
    forward(2000);
    assert.deepEqual(await askedAgain(), ['none.example', 'empty.example']);
    forward(1000);
    assert.deepEqual(await askedAgain(), ['short.example']);
    forward(7000);
    assert.deepEqual((await askedAgain()).sort(), ['fresh.example', 'long.example']);
    await turn();
    assert.ok(heard.includes('none.example none'));
  });

  it('fail like another when not even asking works', async () => {
    const { resolve, heard } = setUp({ ask: () => { throw new Error('EMFILE'); } });
    resolve('a.example');
    await turn();
    assert.deepEqual(heard, ['a.example UPSTREAM_UNREACHABLE']);
  });
});
