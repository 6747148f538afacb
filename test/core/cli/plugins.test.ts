import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { listPlugins } from '../../../core/app.js';
import { runCommandLine } from '../../../core/cli/command-line.js';
import type { GatewayApp, Surroundings } from '../../../core/cli/app-contract.js';
import type { Catalogue } from '../../../core/registry/catalogue.js';
import { temporaryFolder, writePackage } from '../registry/plugin-package.js';

const folder = temporaryFolder();
const guardrail = `import { defineGuardrail } from '@gateway/plugin-sdk';
export default defineGuardrail({
  title: 'Own', describe: 'Looks.', stages: ['output'], needs: { response: 'events', changes: 'response' }, lookBackMax: 12, timeoutMs: 70, runs: 'either',
  deprecated: { since: '1.1', removedIn: '2.0', use: 'acme.better' },
  params: { type: 'object', required: ['rules'], properties: {
    rules: { type: 'array', description: 'What to do.', items: { type: 'object', properties: { name: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Which.' } } } },
    limit: { type: 'integer', minimum: 1, maximum: 9, default: 3, description: 'How much.' },
    key: { type: 'string', secret: true, description: 'Whose.' },
  } },
  create: () => ({ evaluate: () => ({ pass: true }) }),
});
`;
writePackage(join(folder, 'acme'), {
  name: 'acme-plugins', gateway: { namespace: 'acme', contract: { guardrail: 1 }, plugins: { guardrail: ['own', 'broken'] } },
  files: { 'guardrail/own.js': guardrail, 'guardrail/broken.js': "\nthrow new Error('no licence');" },
});
writePackage(join(folder, 'bad'), { name: 'bad', gateway: { namespace: 'Bad' } });
const environment = { GATEWAY_PLUGINS: './acme,./bad', GATEWAY_DATA_DIR: join(folder, 'data') };

async function run(...argv: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
  let [out, error] = ['', ''];
  const app: Partial<GatewayApp> = { listPlugins };
  const around: Surroundings = {
    environment, cwd: folder, version: '1', out: (text) => { out += `${text}\n`; }, error: (text) => { error += `${text}\n`; },
    loadApp: async () => app as GatewayApp, onSignal: () => undefined, exit: () => undefined, endWithin: () => undefined,
  };
  return { code: await runCommandLine(['plugins', ...argv], around), out, error };
}

describe('gateway plugins', () => {
  it('lists each plugin on a line, with the faults below, and starts nothing', async () => {
    const { code, out, error } = await run();
    assert.deepEqual([code, error], [0, '']);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^Kind +Id +Status +Version +Package +Title$/);
    assert.match(out, /^guardrail +acme\.own +ok +1\.0\.0 +\.\/acme +Own$/m);
    assert.match(out, /^guardrail +acme\.broken +FAULT +1\.0\.0 /m);
    for (const id of ['strategy +fallback', 'cache +simple', 'guardrail +default\\.regexMatch', 'hook +guardrail', 'storage +lmdb', 'exporter +jsonl', 'provider +openai']) assert.match(out, new RegExp(`^${id} +ok `, 'm'));
    assert.doesNotMatch(out, / common /);
    assert.match(out, /^FAULT {2}package .*bad: .*package\.json:1: gateway\.namespace must be a lower-case word$/m);
    assert.match(out, /^FAULT {2}plugin guardrail\/acme\.broken: could not be loaded: no licence \(.*acme\/guardrail\/broken\.js:2\)$/m);
    assert.match(lines.at(-2) ?? '', /^\d+ plugins, 2 third-party packages, 2 at fault$/);
    // Aligned: every status begins in the same column.
    const column = (lines[0] ?? '').indexOf('Status');
    for (const line of lines.slice(1, lines.indexOf(''))) assert.match(line.slice(column), /^(?:ok|FAULT) /, line);
    assert.ok(!existsSync(join(folder, 'data')));
  });

  it('lists one kind, in the singular or plural', async () => {
    for (const kind of ['strategy', 'strategies']) {
      const { code, out } = await run(kind);
      assert.equal(code, 0);
      const lines = out.split('\n');
      assert.deepEqual(lines.slice(1, lines.indexOf('')).map((line) => line.split(/ +/)[1]), ['conditional', 'fallback', 'loadbalance', 'single']);
    }
  });

  it('shows one with its parameters and what is particular to its kind', async () => {
    const { out } = await run('acme.own');
    for (const line of [
      /^guardrail acme\.own: Own$/m, /^status +ok$/m, /^package +\.\/acme 1\.0\.0$/m, /^folder +.*acme$/m, /^deprecated +since 1\.1, gone in 2\.0; use acme\.better$/m, /^stages +output$/m,
      /^needs +head of the request, events of the answer; changes the response$/m, /^runs +loop, long texts in the pool$/m, /^streams +look-back of 12 characters$/m, /^timeout +70 ms$/m,
      /^ +rules +list of object +required +What to do\.$/m, /^ +rules\[\]\.name +a \| b +"a" +Which\.$/m, /^ +limit +integer from 1 to 9 +3 +How much\.$/m, /^ +key +string, secret +Whose\.$/m,
    ]) assert.match(out, line);
    assert.match((await run('acme.broken')).out, /^status +plugin guardrail\/acme\.broken: .*broken\.js:2\)$/m);
    assert.match((await run('simple')).out, /^compares +exact/m);
    assert.match((await run('gateway.wordCount')).out, /^guardrail default\.wordCount: /m);
    assert.match((await run('wordCount')).out, /^streams +(?:held whole|look-back of \d+ characters)$/m);
    assert.match((await run('openai')).out, /^endpoints +chatCompletions, /m);
  });

  it('says everything as JSON', async () => {
    const all: Catalogue = JSON.parse((await run('--json')).out);
    assert.deepEqual(all.packages.map(({ name, version, fault }) => [name, version, fault === null]), [[join(folder, 'acme'), '1.0.0', true], [join(folder, 'bad'), '1.0.0', false]]);
    const broken = all.plugins.find(({ id }) => id === 'acme.broken');
    assert.ok(broken?.status === 'fault' && broken.fault?.includes('no licence') === true);
    const one: Catalogue = JSON.parse((await run('acme.own', '--json')).out);
    assert.deepEqual(one.plugins.map(({ id, parameters }) => [id, parameters[0]]), [['acme.own', { name: 'rules', type: 'list of object', required: true, default: null, description: 'What to do.' }]]);
  });

  it('refuses a name that nothing has, with the nearest one that something has', async () => {
    assert.deepEqual(await run('default.regexMath'), { code: 1, out: '', error: 'gateway: no plugin default.regexMath is installed; did you mean default.regexMatch?\n' });
    assert.match((await run('nothing-like-it-at-all')).error, /gateway plugins lists them/);
  });
});
