// The table of checks: each one over HTTP, passing, failing and changing, in each dialect, on each side that it has, plain and streamed.
// Checks are found in their folder: one without cases here, or without a row in the readme of the plugins, fails this file. Writes
// checks.md beside the built sources, with what the bench of the checks measured, if it ran.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import type { GuardrailPlugin, Needs } from '@gateway/plugin-sdk';
import { withDefaults } from '@gateway/plugin-sdk/testing';
import { nameOf } from '../../core/registry/ids.js';
import { apiKey, startTestGateway } from '../support/gateway.js';
import { startUpstream } from '../support/upstream.js';
import { workloads } from '../../bench/micro/check-workloads.js';
import { given, type CheckCase, type CheckCases } from './check-cases/check-case.js';
import { detectors } from './check-cases/detectors.js';
import { requestRules } from './check-cases/request-rules.js';
import { answerOf, callsGot, readStream, requestOf, routes, textGiven, textGot, type Route } from './check-cases/routes.js';
import { services } from './check-cases/services.js';
import { startSurroundings } from './check-cases/surroundings.js';
import { textMeasures } from './check-cases/text-measures.js';
import { textSearches } from './check-cases/text-searches.js';
import type { Reply } from './family.js';

const groups: readonly CheckCases[] = [textMeasures, textSearches, detectors, requestRules, services];
const cases: CheckCases = Object.assign({}, ...groups);

/** The usual time of a check is more than it takes, but for a machine that does much else. */
const checkTimeoutMs = 60_000;

const upstream = await startUpstream();
const surroundings = await startSurroundings();
const gateway = await startTestGateway();

const folderUrl = new URL('../../plugins/guardrails/', import.meta.url);
const folders = readdirSync(folderUrl, { withFileTypes: true }).filter((entry) => entry.isDirectory() && entry.name !== 'common').map(({ name }) => name).sort();
const plugins = new Map<string, GuardrailPlugin>();
for (const folder of folders) plugins.set(folder, ((await import(new URL(`${folder}/plugin.js`, folderUrl).href)) as { default: GuardrailPlugin }).default);

type Side = 'input' | 'output';
const listOf = (folder: string): readonly CheckCase[] => cases[folder] ?? [];
const sidesOf = (plugin: GuardrailPlugin, { side }: CheckCase): readonly Side[] => (side === undefined ? plugin.stages : [side]);

describe('the table of checks', () => {
  for (const [folder, plugin] of plugins) {
    it(`has cases of ${folder}, with and without objection on each of its sides`, () => {
      const list = listOf(folder);
      const missing = [
        ...(list.length > 0 ? [] : [`test/matrix/check-cases/*.ts: a case that passes and one that does not, for each stage (${plugin.stages.join(', ')}), under the name ${folder}`]),
        ...(folder in workloads ? [] : [`bench/micro/check-workloads.ts: parameters that keep it busy, under the name ${folder}`]),
      ];
      assert.deepEqual(missing, [], `plugins/guardrails/${folder} also needs\n  ${missing.join('\n  ')}\n`);
      assert.equal(groups.filter((group) => folder in group).length, 1, `${folder} is in two groups of cases`);
      for (const side of plugin.stages) {
        const outcomes = list.filter((one) => sidesOf(plugin, one).includes(side)).map(({ outcome }) => outcome);
        assert.ok(outcomes.includes('pass'), `${folder} has no passing case on the ${side}`);
        assert.ok(outcomes.some((outcome) => outcome !== 'pass'), `${folder} has no failing, changing or erring case on the ${side}`);
      }
      assert.equal(new Set(list.map(({ name }) => name)).size, list.length, 'names of cases differ');
    });
  }

  it('has no cases of checks that do not exist', () => {
    for (const folder of Object.keys({ ...cases, ...workloads })) assert.ok(plugins.has(folder), `there is no plugins/guardrails/${folder}`);
  });
});

interface Call {
  readonly route: Route;
  readonly folder: string;
  readonly plugin: GuardrailPlugin;
  readonly one: CheckCase;
  readonly side: Side;
  readonly isStream: boolean;
  /** The guardrail says `deny`; otherwise what fails is only marked. */
  readonly denies: boolean;
}

/** Plays one case, and throws where something else becomes of it than must. */
async function play({ route, folder, plugin, one, side, isStream, denies }: Call): Promise<void> {
  const text = given(one.text, surroundings);
  const params = given(one.params, surroundings);
  const id = `default.${nameOf(folder)}`;
  const reply: Reply = { finish: one.calls === undefined ? 'stop' : 'tool_calls', usage: { input: 9, output: 3 } };
  const said: Reply = side === 'input' ? { ...reply, text: 'Fine.', finish: 'stop' }
    : { ...reply, ...(text === undefined ? {} : { text }), ...(one.calls === undefined ? {} : { toolCalls: one.calls }), ...(one.thinking === undefined ? {} : { thinking: { text: one.thinking, signature: 'sig' } }) };
  const bodies: any[] = [];
  upstream.answer = (received, response) => {
    bodies.push(received.json());
    const answered = answerOf(received.url, said, isStream);
    response.writeHead(answered.status, answered.headers);
    response.end(Buffer.concat(answered.chunks));
  };
  surroundings.posted.length = 0;
  const response = await fetch(gateway.url + route.path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', 'x-gateway-api-key': apiKey,
      ...(one.metadata === undefined ? {} : { 'x-gateway-metadata': JSON.stringify(one.metadata) }),
      ...given(one.headers ?? {}, surroundings),
      'x-gateway-config': JSON.stringify({
        provider: route.provider, api_key: 'sk-check', custom_host: upstream.url + route.base, // The usual times are for machines that have them.
        [`${side}_guardrails`]: [{ [id]: { timeout: checkTimeoutMs, ...params }, deny: denies }],
      }),
    },
    body: JSON.stringify(requestOf(route, side === 'input' ? text ?? '' : 'Say something.', isStream, one.request?.(route.dialect, surroundings) ?? {})),
  });
  const answer = await response.text();
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const isFailed = one.outcome === 'fail' || one.outcome === 'error';
  const isRefused = isFailed && denies;
  const shown = `${response.status}: ${answer.slice(0, 600)}`;

  // A refusal comes before the stream begins, unless the check judges the answer while it passes.
  const needs: Needs = plugin.needsFor?.(withDefaults(plugin.params, params as Record<string, unknown>)) ?? plugin.needs;
  const passesBy = side === 'output' && isStream && needs.response === 'events';
  // What waits for nobody is judged at its end, when its status is gone.
  const isMarked = isFailed && !denies && (side === 'input' || !isStream || (needs.response === 'json' && changesAnswer(needs)));
  assert.equal(response.status, isRefused && !passesBy ? 446 : isMarked ? 246 : 200, shown);
  assert.equal(isEvents, isStream && (passesBy || !isRefused), shown);
  const read = isEvents ? readStream(route, answer) : undefined;
  const json: any = isEvents ? undefined : JSON.parse(answer);
  if (read !== undefined) assert.deepEqual([read.isWhole, read.hasError], [!isRefused, isRefused], answer);

  const results = read === undefined ? json.hook_results : read.hookResults;
  assert.ok(results !== undefined, `no hook_results in ${shown}`);
  const hooks = results[side === 'input' ? 'before_request_hooks' : 'after_request_hooks'];
  assert.equal(hooks.length, 1, shown);
  const [hook] = hooks;
  assert.deepEqual([hook.verdict, hook.deny, hook.checks.length], [!isFailed, isRefused, 1], JSON.stringify(hook));
  const [check] = hook.checks;
  assert.deepEqual([check.id, check.verdict, check.fail_on_error], [id, !isFailed, 'failOnError' in params && params.failOnError === true], JSON.stringify(check));
  assert.equal(check.error !== undefined, one.outcome === 'error', JSON.stringify(check));
  if (one.outcome !== 'error') {
    assert.ok(typeof check.data.explanation === 'string' && check.data.explanation !== '', JSON.stringify(check));
    if (text !== undefined && text.trim().length > 5) assert.ok(!check.data.explanation.includes(text), 'the explanation quotes the text');
    // A stream that is ended has no text any more that could be changed.
    if (!(passesBy && isRefused)) assert.equal(check.transformed, one.outcome === 'change' || one.changed !== undefined || one.changedCalls !== undefined, JSON.stringify(check));
    // Only the whole verdict is compared: a stream that ends early has not seen all.
    if (!(passesBy && isFailed)) for (const [name, value] of Object.entries(given(one.data ?? {}, surroundings))) assert.deepEqual(check.data[name], value, `data.${name}`);
  }

  if (isRefused && side === 'input') assert.equal(bodies.length, 0, 'the provider was asked although the request is refused');
  if (isRefused) {
    if (read === undefined) assert.doesNotMatch(answer, /"(?:choices|output)":|"type":"message"/, 'a refused answer is shown');
    return;
  }
  assert.equal(bodies.length, 1);
  const expected = one.changed === undefined ? text : given(one.changed, surroundings);
  // A blank text is none in some dialects, and may be left out on the way to them.
  if (expected !== undefined && expected.trim() !== '' && one.request === undefined) {
    assert.equal(side === 'input' ? textGiven(route, bodies[0]) : read?.text ?? textGot(route, json), expected);
  }
  if (side === 'output' && one.calls !== undefined) {
    assert.deepEqual(read?.calls ?? callsGot(route, json), one.changedCalls ?? one.calls.map(({ args }) => args));
  }
  one.verify?.(bodies[0], surroundings);
}

const changesAnswer = ({ changes }: Needs): boolean => changes === 'response' || changes === 'both';

const cells = new Map<string, Map<string, string>>();
const show = (side: Side, isStream: boolean): string => (side === 'input' ? 'input' : isStream ? 'output, streamed' : 'output, plain');

for (const [folder, plugin] of plugins) {
  describe(`${nameOf(folder)} over HTTP`, () => {
    for (const route of routes) {
      it(`judges ${route.name}`, async () => {
        const faults: string[] = [];
        let calls = 0;
        for (const one of listOf(folder)) {
          for (const side of sidesOf(plugin, one)) {
            for (const isStream of side === 'input' ? [false] : [false, true]) {
              // Passing and changing calls are the same whether the guardrail could deny or not; marking knows nothing of providers.
              for (const denies of one.outcome === 'fail' && route.dialect === route.providerDialect ? [true, false] : [true]) {
                calls += 1;
                try {
                  await play({ route, folder, plugin, one, side, isStream, denies });
                } catch (thrown) {
                  faults.push(`${one.name} (${show(side, isStream)}${denies ? '' : ', not denied'}): ${thrown instanceof Error ? thrown.message : String(thrown)}`);
                }
              }
            }
          }
        }
        const row = cells.get(folder) ?? new Map<string, string>();
        cells.set(folder, row.set(route.name, faults.length === 0 ? `ok (${calls})` : `FAIL (${faults.length} of ${calls})`));
        assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
      });
    }
  });
}

const sidesText = ({ stages }: GuardrailPlugin): string => stages.join(', ');
const runsText = ({ runs = 'loop', runsFor }: GuardrailPlugin): string => `${runs === 'either' ? 'loop, long texts in the pool' : runs}${runsFor === undefined ? '' : ' (by its parameters)'}`;
function streamsText({ stages, needs, lookBackMax = 0 }: GuardrailPlugin): string {
  if (!stages.includes('output')) return 'no answer';
  return needs.response === 'events' ? lookBackMax === 0 ? 'judged as they pass' : `judged as they pass, up to ${lookBackMax} characters held` : 'held whole';
}

describe('the readme of the plugins', () => {
  const readme = readFileSync(new URL('../../../plugins/README.md', import.meta.url), 'utf8');
  const section = /^## Checks\n([^]*?)(?=^## |$(?![^]))/m.exec(readme)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| [`'));

  for (const [folder, plugin] of plugins) {
    it(`has a true row for ${folder}`, () => {
      const name = `[\`default.${nameOf(folder)}\`](guardrails/${folder}/README.md)`;
      const row = `| ${[name, plugin.describe.replaceAll('|', '\\|'), sidesText(plugin), runsText(plugin), streamsText(plugin)].join(' | ')} |`;
      assert.ok(rows.includes(row), `plugins/README.md, section Checks, has to say:\n${row}`);
    });
  }

  it('has no row of a check that does not exist, and none twice', () => {
    const told = rows.map((line) => /\]\(guardrails\/([^/]+)\/README\.md\)/.exec(line)?.[1] ?? line);
    assert.deepEqual(told.filter((folder, index) => !plugins.has(folder) || told.indexOf(folder) !== index), []);
  });
});

interface Figures { readonly checks: Readonly<Record<string, { readonly short: number; readonly long: number; readonly pooled: number | null; readonly event: number | null }>> }

after(() => {
  const file = new URL('../../checks-bench.json', import.meta.url);
  const figures = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Figures).checks : {};
  const figure = (value: number | null | undefined): string => (value === undefined ? '' : value === null ? '-' : value < 10 ? value.toFixed(2) : String(Math.round(value)));
  const head = ['check', 'stages', 'runs', 'streams', ...routes.map(({ name }) => name), 'µs, 1 kB', 'µs, 100 kB', 'µs, 100 kB in the pool', 'µs, event of 20 characters'];
  const lines = [...plugins].map(([folder, plugin]) => {
    const { short, long, pooled, event } = figures[folder] ?? {};
    const row = cells.get(folder);
    return [`default.${nameOf(folder)}`, sidesText(plugin), runsText(plugin), streamsText(plugin), ...routes.map(({ name }) => row?.get(name) ?? 'not run'), ...[short, long, pooled, event].map(figure)];
  });
  const table = [head, head.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`).join('\n');
  writeFileSync(new URL('../../checks.md', import.meta.url), `# Checks\n\nEach cell says how many calls over HTTP came out as they must: passing, failing and changing cases, on each side, plain and streamed.\n\n${table}\n`);
});
