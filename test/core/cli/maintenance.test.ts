// Backup, restore and change of the master key, as operators run them, around a gateway with a stored config.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommandLine } from '../../../core/cli/command-line.js';
import { temporaryFolder } from '../../support/child-gateway.js';
import { adminKey, startTestGateway, type TestGateway } from '../../support/gateway.js';

const marked = 'sk-marked-secret-of-a-config';
const config = { provider: 'openai', api_key: marked };
const headers = { 'x-gateway-api-key': adminKey, 'content-type': 'application/json', connection: 'close' };

async function createConfig({ url }: TestGateway): Promise<string> {
  const response = await fetch(`${url}/v1/configs`, { method: 'POST', headers, body: JSON.stringify({ name: 'Kept', config, workspace_id: 'first-workspace' }) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { data: { slug } }: { data: { slug: string } } = JSON.parse(text);
  return slug;
}

async function readConfig({ url }: TestGateway, slug: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}/v1/configs/${slug}`, { headers });
  return { status: response.status, text: await response.text() };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process: everything but a start ends by itself. */
async function runCommand(argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  const code = await runCommandLine(argv, {
    environment, cwd: temporaryFolder(), version: '9.8.7', loadApp: () => import('../../../core/app.js'), onSignal: () => {}, exit: () => {}, endWithin: () => {},
    out: (text) => { stdout += `${text}\n`; },
    error: (text) => { stderr += `${text}\n`; },
  });
  return { code, stdout, stderr };
}

describe('a gateway with a stored config', () => {
  const dataDir = temporaryFolder();
  const environment = { GATEWAY_DATA_DIR: dataDir, GATEWAY_THREADS: '1', GATEWAY_PORT: '0' };
  const file = join(temporaryFolder(), 'backup.jsonl');
  const run = (argv: readonly string[], more: Record<string, string> = {}): Promise<Ended> => runCommand(argv, { ...environment, ...more });

  it('is backed up while it runs, put under another master key, restored, and says when the key is the wrong one', async () => {
    const gateway = await startTestGateway(environment);
    const slug = await createConfig(gateway);
    const { status, text } = await readConfig(gateway, slug);
    assert.equal(status, 200, text);

    const backup = await run(['backup', file]);
    assert.deepEqual([backup.code, backup.stderr], [0, ''], backup.stdout);
    assert.match(backup.stdout, /^\d+ rows and \d+ audit entries are in /);
    assert.ok(!readFileSync(file, 'utf8').includes(marked));
    const busy = await run(['rekey']);
    assert.deepEqual([busy.code, busy.stdout, busy.stderr], [1, '', `gateway: a gateway runs in ${dataDir} (process ${process.pid}); stop it first\n`]);
    // What new settings are tried with before a restart: the port is taken, by the gateway that will give it up.
    const port = new URL(gateway.url).port;
    const checked = await run(['check'], { GATEWAY_PORT: port });
    assert.deepEqual([checked.code, checked.stderr], [0, ''], checked.stdout);
    const inAnother = await run(['check'], { GATEWAY_PORT: port, GATEWAY_DATA_DIR: temporaryFolder() });
    assert.equal(inAnother.code, 1);
    assert.match(inAnother.stdout, /^FAULT +address 127\.0\.0\.1:\d+ +.*in use[^]*, 1 at fault\n$/m);
    await gateway.stop();

    const before = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
    const rekeyed = await run(['rekey']);
    assert.deepEqual([rekeyed.code, rekeyed.stderr], [0, ''], rekeyed.stdout);
    const after = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
    assert.notEqual(after, before);
    assert.ok(!`${rekeyed.stdout}`.includes(after));
    const old = readdirSync(dataDir).find((name) => /^master\.key\.[0-9a-f]{8}$/.test(name)) ?? '';
    assert.equal(readFileSync(join(dataDir, old), 'utf8').trim(), before);
    for (const name of readdirSync(dataDir).filter((each) => each.startsWith('master.key'))) assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name);

    const again = await startTestGateway(environment);
    assert.equal((await readConfig(again, slug)).text, text);
    await again.stop();

    for (const command of ['start', 'check']) {
      const wrong = await run([command], { GATEWAY_MASTER_KEY: before });
      assert.equal(wrong.code, 1, command);
      assert.match(wrong.stderr, /the master key is another one than secrets were stored under .*; put the old one back, as GATEWAY_MASTER_KEY or as master\.key/);
    }
    const elsewhere = join(temporaryFolder(), 'data');
    const unreadable = await run(['restore', file], { GATEWAY_DATA_DIR: elsewhere });
    assert.match(unreadable.stderr, /are stored under the master key [0-9a-f]{8}, and there is no master key here yet/);
    const restored = await run(['restore', file], { GATEWAY_DATA_DIR: elsewhere, GATEWAY_MASTER_KEY: before });
    assert.deepEqual([restored.code, restored.stderr], [0, ''], restored.stdout);
    const third = await startTestGateway({ ...environment, GATEWAY_DATA_DIR: elsewhere, GATEWAY_MASTER_KEY: before });
    assert.equal((await readConfig(third, slug)).text, text);
    await third.stop();

    // The key is lost for good.
    rmSync(join(dataDir, 'master.key'));
    const lost = await run(['start']);
    assert.match(lost.stderr, /gateway rekey --forget/);
    const forgotten = await run(['rekey', '--forget']);
    assert.equal(forgotten.code, 0, forgotten.stderr);
    assert.match(forgotten.stdout, /Without their secrets, which have to be given anew:\n {2}config /);
    const fourth = await startTestGateway(environment);
    await fourth.stop();
  });
});

describe('the commands', () => {
  it('say what they miss', async () => {
    const none = join(temporaryFolder(), 'none');
    for (const [argv, environment, message] of [
      [['backup'], {}, 'backup needs the path of a file: gateway backup <file>'],
      [['restore'], {}, 'restore needs the path of a file: gateway restore <file>'],
      [['backup', 'x'], { GATEWAY_DATA_DIR: none }, `there is no data directory ${none}; name it with GATEWAY_DATA_DIR`],
      ...([['prices'], ['reprice', '--from', '2026-11-01'], ['ledger', 'verify'], ['audit', 'verify']] as const).map((words) => [words, { GATEWAY_DATA_DIR: none }, `there is no data directory ${none}; name it with GATEWAY_DATA_DIR`] as const),
      [['rekey', '--new-key-file'], {}, 'option --new-key-file needs a value: --new-key-file <file>'],
      [['rekey', '--new-key-file', 'x'], { GATEWAY_NEW_MASTER_KEY: 'y' }, 'the new master key is given twice; take --new-key-file or GATEWAY_NEW_MASTER_KEY'],
      [['rekey', '--forget'], { GATEWAY_NEW_MASTER_KEY: 'y' }, '--forget goes by the master key of now and takes no new one; change it afterwards'],
    ] as const) {
      const { code, stderr } = await runCommand(argv, environment);
      assert.deepEqual([code, stderr], [1, `gateway: ${message}\n`], argv.join(' '));
    }
  });
});
