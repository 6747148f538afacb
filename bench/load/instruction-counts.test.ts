import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { attribute, compilerName, fileOf, functionNameOf, garbageName, layerOf, outsideName, sumOf } from './attribution.js';
import { readCallgrind, SymbolMap } from './callgrind-file.js';
import { readPerf } from './hardware-counters.js';

/** As callgrind writes it: names by number, positions relative to the line before, what a call cost on the line after it. */
const dump = `positions: instr line
events: Ir sysCount sysTime
summary: 1000

ob=(1) /usr/bin/node
fl=(1) ???
fn=(1) uv_run
0x100 0 10
+4 0 20 3 999
cob=(2) ???
cfn=(2) 0x9000
calls=2 0x9000 0
* 0 600
* 0 5

fn=(3) v8::internal::Heap::CollectGarbage(int)
0x300 0 70
cfn=(4) v8::internal::Scavenger::Process()
calls=1 +16 0
+8 0 30

fn=(4)
0x310 0 30

fn=(5) Builtins_LoadIC
0x400 0 90
-4 0 10

fn=(6) clock_gettime@@GLIBC_2.17
0x500 0 1 44 1

ob=(2)
fn=(2)
0x9000 0 100
cob=(1)
cfn=(5)
calls=9 0x400 0
+16 0 75
cfn=(3)
calls=1 0x300 0
+1 0 100

fn=(7) 0x9100
0x9100 0 40
cob=(1)
cfn=(5)
calls=3 0x400 0
* 0 25
`;
const symbols = new SymbolMap('9000 80 JS:*old file:///x/dist/core/a.js:1:1\n9000 40 JS:*relay file:///x/dist/core/pipeline/run.js:29:11\n9100 20 JS:*pack file:///x/node_modules/msgpackr/pack.js:258:16\n');

describe('a dump of callgrind', () => {
  const graph = readCallgrind(dump.split('\n'), symbols);
  const own = (part: string): number => [...graph.values()].find(({ name }) => name.includes(part))?.own ?? NaN;

  test('is read with what each function spent itself, system calls apart, and without reads of clocks', () => {
    assert.deepEqual(['uv_run', 'CollectGarbage', 'Scavenger', 'LoadIC', 'relay', 'pack'].map(own), [35, 70, 30, 100, 100, 40]);
    assert.equal([...graph.values()].reduce((sum, { systemCalls }) => sum + systemCalls, 0), 3);
  });

  test('names code made at run time by where it is, the later of two at one place', () => {
    assert.deepEqual([symbols.find(0x9000), symbols.find(0x903f), symbols.find(0x9050), symbols.find(0x9080), symbols.find(0x8fff)].map((name) => name?.split(' ')[0]), ['JS:*relay', 'JS:*relay', 'JS:*old', undefined, undefined]);
  });

  test('gives native code to its callers in proportion, and garbage to nobody', () => {
    const shares = attribute(graph);
    const sum = (part: string): number => sumOf([...shares.values()].find(({ name }) => name.includes(part)) ?? { name: '', own: 0, native: new Map() });
    assert.deepEqual([sum('relay'), sum('pack'), sum(garbageName), sum(outsideName)].map(Math.round), [175, 65, 100, 36]);
    assert.equal([...shares.values()].reduce((all, share) => all + sumOf(share), 0), [...graph.values()].reduce((all, each) => all + each.own, 0));
    assert.equal(shares.has(compilerName), false);
  });

  test('ends when native functions call each other in a circle', () => {
    const circle = readCallgrind(['events: Ir', 'ob=(1) /usr/bin/node', 'fn=(1) a', '0x1 0 500', 'cfn=(2) b', 'calls=1 0x2 0', '* 0 900', 'fn=(2) b', '0x2 0 500', 'cfn=(1)', 'calls=1 0x1 0', '* 0 900'], symbols);
    assert.equal(Math.round([...attribute(circle).values()].reduce((all, share) => all + sumOf(share), 0)), 1000);
  });

  test('that counts anything but instructions first is refused', () => assert.throws(() => readCallgrind(['events: Dr Ir'], symbols), /counted Dr first/));
});

test('names of V8 are cut to function, file and layer', () => {
  const name = 'JS:*#flushCorked file:///somewhere/dist/core/server/response-writer.js:36:20';
  assert.deepEqual([functionNameOf(name), fileOf(name), layerOf(name)], ['#flushCorked', 'core/server/response-writer.js', 'client: head, body, answer']);
  assert.equal(functionNameOf('JS:~ file:///x/dist/core/a.js:1:1'), '(anonymous)');
  assert.equal(fileOf('JS:*Request /x/node_modules/undici/lib/core/request.js:48:15'), 'undici/lib/core/request.js');
  assert.equal(fileOf(garbageName), '');
  assert.equal(layerOf('JS:*recordOf file:///x/dist/core/pipeline/run.js:316:18'), layerOf('JS:*pack /x/node_modules/msgpackr/pack.js:258:16'));
});

test('counts of perf are read, and what it did not count is not a number', () => {
  assert.deepEqual(readPerf('12345,,instructions:u,1000,100.00,,\n678,,instructions:k,1000,100.00,,\n'), { user: 12345, kernel: 678 });
  assert.deepEqual(readPerf('<not supported>,,instructions:u,0,100.00,,\n<not counted>,,instructions:k,0,0.00,,\n'), { user: NaN, kernel: NaN });
});
