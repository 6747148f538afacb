// The command line in processes of its own: what is printed, where, and the exit codes that scripts rely on.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ledger } from '../../core/limits/ledger.js';
import { readSettings } from '../../core/settings/read.js';
import { spendStore } from '../../core/spend.js';
import { ThreadServices } from '../../core/thread-services.js';
import { runGateway, startChildGateway, temporaryFolder, type Environment } from '../support/child-gateway.js';

const base: Environment = { GATEWAY_PORT: '0', GATEWAY_THREADS: '1' };
const settings = (environment: Environment = {}): Environment => ({ ...base, GATEWAY_DATA_DIR: temporaryFolder(), ...environment });

/** Refused with one sentence on stderr, nothing on stdout, and no trace of where in the code it was noticed. */
async function refused(environment: Environment, sentence: RegExp): Promise<string> {
  const { code, signal, stdout, stderr } = await runGateway(['start'], environment);
  assert.deepEqual({ code, signal, stdout }, { code: 1, signal: null, stdout: '' }, stderr);
  assert.match(stderr, /^gateway: [^\n]+\n$/);
  assert.doesNotMatch(stderr, /\bat .*:\d+:\d+|node_modules|\.js\b|SETTINGS_INVALID/);
  assert.match(stderr, sentence);
  return stderr;
}

const generated = (stdout: string): { admin: string | undefined; api: string | undefined } => ({
  admin: /Admin key +(\S+) +\(generated now, shown once/.exec(stdout)?.[1],
  api: /API key +(\S+) +\(generated now, shown once/.exec(stdout)?.[1],
});

/** What a shell makes of the printed curl line: its words, without quotes. */
function requestOf(line: string): { url: string; headers: Record<string, string>; body: string } {
  const words = [...line.trim().matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  const headers: Record<string, string> = {};
  let url = '';
  let body = '';
  assert.equal(words.shift(), 'curl');
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-H') {
      const [name = '', ...rest] = (words.shift() ?? '').split(': ');
      headers[name] = rest.join(': ');
    } else if (word === '-d') body = words.shift() ?? '';
    else url = word;
  }
  return { url, headers, body };
}

describe('a start that cannot work', { concurrency: 2 }, () => {
  it('says how many counters the budgets of its data need', async () => {
    const environment = settings({ GATEWAY_LIMIT_COUNTERS: '1024' });
    const services = new ThreadServices(readSettings(environment, environment.GATEWAY_DATA_DIR ?? ''));
    const storage = await services.openStorage();
    const ledger = new Ledger(await storage.open(spendStore), { now: Date.now, startOf: () => 0 });
    await ledger.takeOver(Array.from({ length: 1_500 }, (_, number) => ({ key: `policy/p/metadata._user:${number}`, counted: 'cost', period: 0, startMs: 0, told: 0, amount: 7, calls: 1, estimated: 0 })));
    await services.close();
    await refused(environment, /1500 budgets have been used.*GATEWAY_LIMIT_COUNTERS leaves room for 880 counters; set it to 2048 at least/);
  });

  it('says that the port is in use', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const { port } = server.address() as AddressInfo;
    await refused(settings({ GATEWAY_PORT: String(port) }), new RegExp(`127\\.0\\.0\\.1:${port}.*in use.*GATEWAY_PORT`));
    await new Promise((resolve) => { server.close(resolve); });
  });

  it('says that the port is in use when another gateway has it, whatever their threads', async () => {
    const running = await startChildGateway({ GATEWAY_THREADS: '2' });
    await refused(settings({ GATEWAY_PORT: String(running.port), GATEWAY_THREADS: '2' }), /in use/);
    assert.equal((await fetch(`${running.url}/health`)).status, 200);
  });

  it('says that the address is not this machine\'s', async () => {
    await refused(settings({ GATEWAY_HOST: '192.0.2.1' }), /192\.0\.2\.1:0.*GATEWAY_HOST/);
  });

  it('says that the data directory cannot be used, when a file is in its place or in its way', async () => {
    const file = join(temporaryFolder(), 'data');
    writeFileSync(file, 'not a directory');
    await refused({ ...base, GATEWAY_DATA_DIR: file }, /data directory .*\/data cannot be written.*GATEWAY_DATA_DIR/);
    await refused({ ...base, GATEWAY_DATA_DIR: join(file, 'below') }, /data directory .*GATEWAY_DATA_DIR/);
    assert.equal(readFileSync(file, 'utf8'), 'not a directory');
  });

  it('says that a stored file is damaged, and leaves it as it is', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'control'));
    const file = join(dataDir, 'control', 'data.mdb');
    const damage = Buffer.alloc(64 * 1024, 'not a database ');
    writeFileSync(file, damage);
    await refused({ ...base, GATEWAY_DATA_DIR: dataDir }, /control\/data\.mdb cannot be opened.*backup/);
    assert.ok(readFileSync(file).equals(damage));
  });

  it('names the setting that is wrong, and what it may be', async () => {
    await refused(settings({ GATEWAY_THREADS: '0' }), /GATEWAY_THREADS must be a number from 1 to 256, or auto/);
    const secret = await refused(settings({ GATEWAY_API_KEY: 'tooshort-kept' }), /GATEWAY_API_KEY must be 16 to 256/);
    assert.ok(!secret.includes('tooshort-kept'));
  });

  it('names a setting that does not exist, and the one that was meant', async () => {
    await refused(settings({ GATEWAY_PROT: '9000' }), /unknown environment variable GATEWAY_PROT; did you mean GATEWAY_PORT\?/);
  });

  it('names the file when the fault is in the settings file', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'gateway.yaml'), 'port: 0\nthreads: many\n');
    const { code, stdout, stderr } = await runGateway(['start'], {}, cwd);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^gateway: threads in .*gateway\.yaml must be [^\n]+\n$/);
  });

  it('names a storage and an exporter that are not installed', async () => {
    await refused(settings({ GATEWAY_STORAGE: 'papyrus' }), /no storage plugin papyrus is installed; installed: .*lmdb/);
    await refused(settings({ GATEWAY_EXPORTERS: 'papyrus' }), /no exporter papyrus is installed; installed: .*store/);
  });

  it('refuses storage that threads cannot share', async () => {
    await refused(settings({ GATEWAY_STORAGE: 'memory', GATEWAY_THREADS: '2' }), /storage memory is not shared between threads; set GATEWAY_THREADS to 1/);
  });

  it('refuses commands and options it does not know', async () => {
    for (const [argv, sentence] of [[['strat'], /unknown command strat.*start/], [['start', '--port', '1'], /unknown option --port.*GATEWAY_PORT/], [[], /Usage/]] as const) {
      const { code, stdout, stderr } = await runGateway(argv);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, sentence);
    }
  });
});

describe('the other commands', { concurrency: 2 }, () => {
  it('help names every command and every setting', async () => {
    const { code, stdout, stderr } = await runGateway(['--help']);
    assert.deepEqual([code, stderr], [0, '']);
    for (const word of ['start', 'check', 'version', '--settings', 'GATEWAY_PORT', 'GATEWAY_SHUTDOWN_DEADLINE_MS']) assert.ok(stdout.includes(word), word);
  });

  it('version prints the version alone', async () => {
    const { code, stdout, stderr } = await runGateway(['version']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });

  it('check passes a good setup and makes nothing of its own fail', async () => {
    const { code, stdout, stderr } = await runGateway(['check'], settings());
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, /ok +settings\n/);
    assert.match(stdout, /ok +storage lmdb\n/);
    assert.match(stdout, /ok +strategy fallback\n/);
    assert.match(stdout, /\n\d{2,} checked, 0 at fault\n$/);
  });

  it('check lists each package at fault, and start leaves them out', async () => {
    const folder = temporaryFolder();
    const makePackage = (name: string, manifest: object, module: string): string => {
      const path = join(folder, name);
      mkdirSync(path);
      writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', ...manifest }));
      writeFileSync(join(path, 'plugin.js'), module);
      return path;
    };
    const declared = (namespace: string): object => ({
      exports: { './strategy/first': './plugin.js' }, gateway: { namespace, contract: { strategy: 1 }, plugins: { strategy: ['first'] } },
    });
    const packages = [
      makePackage('without-manifest', {}, 'export {};'),
      makePackage('throws-at-load', declared('throwing'), 'throw new Error("no such luck");'),
      makePackage('exports-nothing', declared('silent'), 'export {};'),
      join(folder, 'absent'),
    ];
    const environment = settings({ GATEWAY_PLUGINS: packages.join(',') });
    const { code, stdout, stderr } = await runGateway(['check'], environment);
    assert.equal(code, 1);
    assert.match(stdout, /FAULT +package \S*without-manifest +.*"gateway" member/);
    assert.match(stdout, /FAULT +strategy throwing\.first +.*no such luck/);
    assert.match(stdout, /FAULT +strategy silent\.first +/);
    assert.match(stdout, /FAULT +package \S*absent +.*there is no/);
    assert.match(stdout, /, 4 at fault\n$/);
    assert.equal(stderr.match(/^gateway: /gm)?.length, 4);
    assert.doesNotMatch(stderr, /\n\s+at /);
    const running = await startChildGateway({ GATEWAY_PLUGINS: packages.join(',') });
    await running.until((text) => text.includes('without-manifest'));
    assert.equal((await fetch(`${running.url}/health`)).status, 200);
  });

  it('check reports settings at fault and a data directory that cannot be used', async () => {
    const wrong = await runGateway(['check'], settings({ GATEWAY_PORT: '70000' }));
    assert.equal(wrong.code, 1);
    assert.match(wrong.stdout, /FAULT +settings +GATEWAY_PORT must be/);
    const file = join(temporaryFolder(), 'data');
    writeFileSync(file, '');
    const unusable = await runGateway(['check'], { ...base, GATEWAY_DATA_DIR: file });
    assert.equal(unusable.code, 1);
    assert.match(unusable.stdout, /FAULT +data directory .*cannot be written/);
    assert.doesNotMatch(unusable.stderr, /\n\s+at /);
  });
});

describe('check', () => {
  it('finds at once everything that stops a start', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const { port } = server.address() as AddressInfo;
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'control'));
    writeFileSync(join(dataDir, 'control', 'data.mdb'), Buffer.alloc(64 * 1024, 'not a database '));
    writeFileSync(join(dataDir, 'master.key'), 'not a key', { mode: 0o600 });
    const { code, stdout, stderr } = await runGateway(['check'], {
      ...base, GATEWAY_PORT: String(port), GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'loud', GATEWAY_TLS_KEY_FILE: './absent.pem', GATEWAY_TLS_CERT_FILE: './absent.pem',
      GATEWAY_EXPORTERS: 'papyrus', GATEWAY_PLUGINS: './absent',
    });
    await new Promise((resolve) => { server.close(resolve); });
    assert.equal(code, 1);
    for (const fault of [
      /^FAULT +settings +GATEWAY_LOG_LEVEL must be/m, /^FAULT +settings +GATEWAY_TLS_KEY_FILE names/m, /^FAULT +settings +GATEWAY_TLS_CERT_FILE names/m,
      /^FAULT +address 127\.0\.0\.1:\d+ +.*in use/m, /^FAULT +master key +.*does not hold 32 bytes/m, /^FAULT +storage lmdb +.*cannot be opened/m,
      /^FAULT +exporter papyrus +no exporter papyrus is installed/m, /^FAULT +package \S*absent +.*there is no/m,
    ]) assert.match(stdout, fault);
    assert.match(stdout, /, 8 at fault\n$/);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });

  it('finds parameters of exporters that are refused, and responses that are damaged', async () => {
    const cwd = temporaryFolder();
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'responses'));
    writeFileSync(join(dataDir, 'responses', 'data.mdb'), Buffer.alloc(64 * 1024, 'not a database '));
    writeFileSync(join(cwd, 'gateway.yaml'), 'exporters: [{ id: store, params: { bytesMin: 1 } }]\n');
    const { code, stdout } = await runGateway(['check'], { ...base, GATEWAY_DATA_DIR: dataDir }, cwd);
    assert.equal(code, 1);
    assert.match(stdout, /^FAULT +exporter store +.*bytesMin.*did you mean bytesMax\?/m);
    assert.match(stdout, /^FAULT +storage lmdb +.*responses/m);
    assert.match(stdout, /^ok +master key$/m);
    assert.match(stdout, /, 2 at fault\n$/);
  });
});

describe('the keys of a first start', () => {
  it('are printed once, work at once and at the second start, and are in no log line', async () => {
    const dataDir = temporaryFolder();
    const unset = { GATEWAY_DATA_DIR: dataDir, GATEWAY_API_KEY: '', GATEWAY_ADMIN_KEY: '', GATEWAY_LOG_LEVEL: 'debug' };
    const first = await startChildGateway(unset);
    const { admin, api } = generated(first.stdout());
    assert.ok(admin !== undefined && api !== undefined && admin !== api, first.stdout());
    assert.ok(admin.length >= 40 && api.length >= 40);

    const line = /^ +(curl .*)$/m.exec(first.stdout())?.[1] ?? '';
    const { url, headers, body } = requestOf(line);
    const answer = await fetch(url, { method: 'POST', headers, body });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.equal(JSON.parse(text).object, 'chat.completion');
    // Faults are what gets logged; these carry the key in every place that a key may be in.
    for (const wrong of [{ ...headers, 'x-gateway-config': '{' }, { ...headers, authorization: `Bearer ${admin}`, 'x-gateway-provider': `${api}` }]) {
      assert.equal((await fetch(`${url}?key=${api}`, { method: 'POST', headers: wrong, body })).status, 400);
    }
    first.kill('SIGTERM');
    assert.deepEqual(await first.ended, { code: 0, signal: null });
    assert.ok(!first.stderr().includes(api) && !first.stderr().includes(admin), 'a key is in the log');

    const second = await startChildGateway(unset);
    assert.ok(!second.stdout().includes(api) && !second.stdout().includes(admin));
    assert.deepEqual(generated(second.stdout()), { admin: undefined, api: undefined });
    assert.match(second.stdout(), /API key +made at an earlier start/);
    const again = await fetch(url.replace(first.url, second.url), { method: 'POST', headers, body });
    assert.equal(again.status, 200);
    const models = await fetch(`${second.url}/v1/models`, { headers: { 'x-gateway-api-key': `${api}x` } });
    assert.equal(models.status, 401);
  });

  it('are those of the settings when they are set, and are not printed', async () => {
    const own = { GATEWAY_API_KEY: 'my-own-api-key-0123456789', GATEWAY_ADMIN_KEY: 'my-own-admin-key-0123456789' };
    const running = await startChildGateway(own);
    for (const key of Object.values(own)) assert.ok(!running.stdout().includes(key) && !running.stderr().includes(key));
    const request = requestOf(/^ +(curl .*)$/m.exec(running.stdout())?.[1] ?? '');
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value.replace('$GATEWAY_API_KEY', own.GATEWAY_API_KEY)]));
    assert.equal((await fetch(request.url, { method: 'POST', headers, body: request.body })).status, 200);
  });
});
