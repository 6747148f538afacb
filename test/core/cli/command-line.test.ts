import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { GatewayApp, Surroundings } from '../../../core/cli/app-contract.js';
import { runCommandLine } from '../../../core/cli/command-line.js';
import { fail } from '../../../core/errors/gateway-error.js';
import { readText } from '../../tidy/sources.js';
import { describeSettings } from '../../../core/settings/describe.js';
import type { Settings } from '../../../core/settings/read.js';
import { gatewayVersion } from '../../../core/version.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
after(() => rmSync(directory, { recursive: true }));

type Listener = (signal: 'SIGTERM' | 'SIGINT') => void;

/** A process that only notes what the commands do to it. */
class Recorded implements Surroundings {
  readonly cwd = directory;
  readonly version = '9.8.7';
  readonly exits: number[] = [];
  readonly listeners: Listener[] = [];
  outText = '';
  errorText = '';
  started: Settings | undefined = undefined;
  stoppedWith: number | undefined = undefined;
  keys: { admin?: string; api?: string } = {};
  /** Resolves when the welcome has been printed. */
  readonly welcomed: Promise<void>;
  #welcome: () => void = () => {};

  constructor(readonly environment: NodeJS.ProcessEnv = {}, readonly app: Partial<GatewayApp> = {}) {
    this.welcomed = new Promise((resolve) => { this.#welcome = resolve; });
  }

  readonly out = (text: string): void => {
    this.outText += `${text}\n`;
    this.#welcome();
  };
  readonly error = (text: string): void => { this.errorText += `${text}\n`; };
  readonly onSignal = (listener: Listener): void => { this.listeners.push(listener); };
  readonly exit = (code: number): void => { this.exits.push(code); };
  readonly watched: number[] = [];
  readonly endWithin = (ms: number): void => { this.watched.push(ms); };
  readonly loadApp = async (): Promise<GatewayApp> => ({
    startGateway: async (settings) => {
      this.started = settings;
      return { url: 'http://127.0.0.1:1234', generatedKeys: this.keys, stop: async (deadlineMs) => { this.stoppedWith = deadlineMs; } };
    },
    checkGateway: async () => [{ subject: 'storage' }],
    verifyAuditLog: async () => ({ entries: 0, hash: '', fault: undefined }),
    verifySpending: async () => ({ calls: 0, estimated: 0, open: 0, sums: 0, compared: 0, repriced: 0, notInLog: 0, differences: [], more: 0 }),
    showModel: async () => undefined,
    unpricedModels: async () => [],
    repriceHistory: async () => ({ models: [], records: 0, changed: 0, isWritten: false }),
    listPlugins: async () => ({ packages: [], plugins: [] }),
    backupGateway: async () => ({ rows: 3, auditEntries: 2, withoutSecrets: [], auditFault: undefined }),
    restoreGateway: async () => ({ rows: 3, auditEntries: 2, withoutSecrets: [], auditFault: undefined }),
    rekeyGateway: async () => ({ keyId: '01234567', changed: 1, forgotten: [], keyFile: undefined, oldKeyFile: undefined }),
    ...this.app,
  });

  signal(signal: 'SIGTERM' | 'SIGINT'): void {
    for (const listener of this.listeners) listener(signal);
  }
}

test('help lists the commands, every setting with its default, and examples', async () => {
  for (const word of ['help', '--help', '-h']) {
    const process = new Recorded();
    assert.equal(await runCommandLine([word], process), 0);
    for (const command of ['start', 'check', 'version']) assert.match(process.outText, new RegExp(`^ {2}${command} `, 'm'));
    for (const row of describeSettings()) assert.ok(process.outText.includes(`  ${row.name} [${row.default.replaceAll('`', '')}]`), row.name);
    assert.match(process.outText, /GATEWAY_PORT=9000/);
  }
});

test('every command and option of the help and of the readme exists, and the other way round', async () => {
  const shown = new Recorded();
  await runCommandLine(['--help'], shown);
  const readme = readText('README.md');
  const commands = [...shown.outText.matchAll(/^ {2}([a-z][a-z-]+) {2,}/gm)].map((match) => match[1] ?? '').filter((name) => name !== 'gateway');
  assert.deepEqual(commands, ['start', 'check', 'ledger', 'audit', 'prices', 'reprice', 'plugins', 'backup', 'restore', 'rekey', 'why', 'apply', 'export', 'logs', 'keys', 'workspaces', 'integrations', 'providers', 'configs', 'prompts', 'partials', 'labels', 'collections', 'guardrails', 'usage-limits', 'rate-limits', 'secrets', 'users', 'invites', 'version']);
  const told = new Set([...readme.matchAll(/(?:npm run gateway -- |`gateway )([a-z][a-z-]+)/g)].map((match) => match[1] ?? ''));
  assert.deepEqual([...told].sort(), [...commands].sort(), 'the commands of README.md');
  const words = new Set([...`${shown.outText}${readme}`.matchAll(/(?<=gateway[^\n]*|^ *)(--[a-z][a-z-]+)/gm)].map((match) => match[1] ?? ''));
  for (const option of ['--settings', '--json', '--help', '--version']) assert.ok(words.has(option), `${option} is not told`);
  for (const option of words) {
    const takers = [];
    for (const command of ['', ...commands]) {
      const tried = new Recorded();
      await runCommandLine([...(command === '' ? [] : [command]), option, '--help'], tried);
      if (!tried.errorText.includes('unknown')) takers.push(command);
      const help = new Recorded();
      await runCommandLine([command, '--help'], help);
      // What the help of the command does not name, it does not take.
      const refused = new Recorded();
      if (command !== '' && !help.outText.includes(option)) assert.equal(await runCommandLine([command, option], refused), option === '--help' ? 0 : 1, `${command} ${option}`);
    }
    assert.notDeepEqual(takers, [], `${option} exists nowhere`);
  }
});

test('help of a command says what it takes', async () => {
  const process = new Recorded();
  assert.equal(await runCommandLine(['start', '--help'], process), 0);
  assert.match(process.outText, /Usage: gateway start \[--settings <file>\]/);
  assert.equal(process.started, undefined);
});

test('no command at all shows the help as an error', async () => {
  const process = new Recorded();
  assert.equal(await runCommandLine([], process), 1);
  assert.match(process.errorText, /Usage: gateway/);
  assert.equal(process.outText, '');
});

test('the version is printed alone', async () => {
  for (const word of ['version', '--version', '-v']) {
    const process = new Recorded();
    assert.equal(await runCommandLine([word], process), 0);
    assert.equal(process.outText, '9.8.7\n');
  }
  assert.match(gatewayVersion, /^\d+\.\d+\.\d+/);
});

test('unknown commands, options and arguments are refused with a way on', async () => {
  for (const [argv, message] of [
    [['strat'], 'gateway: unknown command strat; did you mean start?\n'],
    [['serve'], 'gateway: unknown command serve; the commands are start, check, ledger, audit, prices, reprice, plugins, backup, restore, rekey, why, apply, export, logs, keys, workspaces, integrations, providers, configs, prompts, partials, labels, collections, guardrails, usage-limits, rate-limits, secrets, users, invites, version\n'],
    [['constructor'], 'gateway: unknown command constructor; the commands are start, check, ledger, audit, prices, reprice, plugins, backup, restore, rekey, why, apply, export, logs, keys, workspaces, integrations, providers, configs, prompts, partials, labels, collections, guardrails, usage-limits, rate-limits, secrets, users, invites, version\n'],
    [['start', '--port', '1'], 'gateway: unknown option --port; settings come from the environment (as GATEWAY_PORT=...) or a file (--settings <file>), see gateway --help\n'],
    [['start', '8787'], 'gateway: unexpected argument 8787\n'],
    [['plugins', 'guardrail', 'cache'], 'gateway: unexpected argument cache\n'],
    [['check', '--json'], 'gateway: unknown option --json; settings come from the environment (as GATEWAY_PORT=...) or a file (--settings <file>), see gateway --help\n'],
    [['start', '--config', 'x.yaml'], 'gateway: unknown option --config; the settings file is named by --settings <file> or GATEWAY_SETTINGS\n'],
    [['check', '-c', 'x.yaml'], 'gateway: unknown option -c; the settings file is named by --settings <file> or GATEWAY_SETTINGS\n'],
    [['start', '--data-dri=x'], 'gateway: unknown option --data-dri; settings come from the environment (as GATEWAY_DATA_DIR=...) or a file (--settings <file>), see gateway --help\n'],
    [['plugins', '--jsn'], 'gateway: unknown option --jsn; did you mean --json?\n'],
    [['plugins', '--json=yes'], 'gateway: option --json takes no value\n'],
    [['plugins', '--settings', '--json'], 'gateway: option --settings needs the path of a file\n'],
    [['version', '--settings=x'], 'gateway: unknown option --settings\n'],
    [['start', '--settings'], 'gateway: option --settings needs the path of a file\n'],
    [['start', '--settings='], 'gateway: option --settings needs the path of a file\n'],
  ] as const) {
    const process = new Recorded();
    assert.equal(await runCommandLine(argv, process), 1);
    assert.equal(process.errorText, message);
    assert.equal(process.started, undefined);
  }
});

test('start shows generated keys and a curl line with the key in it, and stops at a signal', async () => {
  const process = new Recorded({ GATEWAY_SHUTDOWN_DEADLINE_MS: '1234', GATEWAY_DATA_DIR: '/srv/data' });
  process.keys = { admin: 'generated-admin', api: 'generated-api' };
  const ended = runCommandLine(['start'], process);
  await process.welcomed;
  assert.match(process.outText, /Base URL +http:\/\/127\.0\.0\.1:1234\n/);
  assert.match(process.outText, /Data directory +\/srv\/data\n/);
  assert.match(process.outText, /Admin key +generated-admin .*shown once/);
  assert.match(process.outText, /API key +generated-api .*shown once/);
  const curl = process.outText.split('\n').find((line) => line.trimStart().startsWith('curl ')) ?? '';
  assert.equal(curl.trim(), 'curl http://127.0.0.1:1234/v1/chat/completions -H \'x-gateway-api-key: generated-api\' -H \'x-gateway-provider: mock\' '
    + '-H \'content-type: application/json\' -d \'{"model":"mock","messages":[{"role":"user","content":"Hello"}]}\'');
  process.signal('SIGTERM');
  assert.equal(await ended, 0);
  assert.equal(process.stoppedWith, 1234);
  assert.deepEqual(process.exits, []);
  // Whatever stopping does, the process is ended from outside some time after the deadline.
  assert.deepEqual(process.watched, [14_234]);
});

test('start never prints a key that was not generated just now', async () => {
  const process = new Recorded({ GATEWAY_API_KEY: 'secret-from-outside' });
  const ended = runCommandLine(['start'], process);
  await process.welcomed;
  process.signal('SIGINT');
  assert.equal(await ended, 0);
  assert.ok(!`${process.outText}${process.errorText}`.includes('secret-from-outside'));
  assert.match(process.outText, /Admin key +made at an earlier start/);
  assert.match(process.outText, /API key +as set in GATEWAY_API_KEY/);
  assert.match(process.outText, /-H "x-gateway-api-key: \$GATEWAY_API_KEY"/);
});

test('a second signal ends the process at once with the code of that signal', async () => {
  for (const [second, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    let release = (): void => {};
    const stopped = new Promise<void>((resolve) => { release = resolve; });
    const process = new Recorded({}, { startGateway: async () => ({ url: 'http://x', generatedKeys: {}, stop: () => stopped }) });
    const ended = runCommandLine(['start'], process);
    await process.welcomed;
    process.signal('SIGTERM');
    assert.deepEqual(process.exits, []);
    process.signal(second);
    assert.deepEqual(process.exits, [code]);
    release();
    await ended;
  }
});

test('a signal during the start stops the gateway as soon as it runs', async () => {
  let stoppedWith = -1;
  const process: Recorded = new Recorded({}, {
    startGateway: async () => {
      process.signal('SIGTERM');
      return { url: 'http://x', generatedKeys: {}, stop: async (deadlineMs) => { stoppedWith = deadlineMs; } };
    },
  });
  assert.equal(await runCommandLine(['start'], process), 0);
  assert.equal(stoppedWith, 30_000);
  assert.deepEqual(process.exits, []);
});

test('a stop that fails is said and answered with 1', async () => {
  const process = new Recorded({}, { startGateway: async () => ({ url: 'http://x', generatedKeys: {}, stop: async () => { throw new Error('disk full'); } }) });
  const ended = runCommandLine(['start'], process);
  await process.welcomed;
  process.signal('SIGTERM');
  assert.equal(await ended, 1);
  assert.match(process.errorText, /stopping failed: disk full/);
});

test('a bad setting or a failed start is one sentence on stderr and exit code 1', async () => {
  const bad = new Recorded({ GATEWAY_PORT: 'x' });
  assert.equal(await runCommandLine(['start'], bad), 1);
  assert.equal(bad.errorText, 'gateway: GATEWAY_PORT must be a whole number from 0 to 65535, not "x"\n');
  assert.equal(bad.outText, '');
  const taken = new Recorded({}, { startGateway: () => Promise.reject(fail('SETTINGS_INVALID', { reason: 'port 8787 is in use' })) });
  assert.equal(await runCommandLine(['start'], taken), 1);
  assert.equal(taken.errorText, 'gateway: port 8787 is in use\n');
});

test('an error nobody expected is not swallowed', async () => {
  const process = new Recorded({}, { startGateway: () => Promise.reject(new TypeError('a bug')) });
  await assert.rejects(runCommandLine(['start'], process), new TypeError('a bug'));
});

test('--settings names the file, with or without an equals sign', async () => {
  writeFileSync(join(directory, 'mine.yaml'), 'port: 4321\n');
  for (const argv of [['start', '--settings', 'mine.yaml'], ['start', '--settings=mine.yaml']]) {
    const process = new Recorded({ GATEWAY_SETTINGS: 'other.yaml' });
    const ended = runCommandLine(argv, process);
    await process.welcomed;
    process.signal('SIGTERM');
    assert.equal(await ended, 0);
    assert.equal(process.started?.port, 4321);
  }
});

test('check prints each subject, and each fault on stderr with exit code 1', async () => {
  const good = new Recorded();
  assert.equal(await runCommandLine(['check'], good), 0);
  assert.equal(good.outText, 'ok     settings\nok     storage\n\n2 checked, 0 at fault\n');
  const bad = new Recorded({}, { checkGateway: async () => [{ subject: 'storage' }, { subject: 'provider x', fault: 'no baseUrl' }] });
  assert.equal(await runCommandLine(['check'], bad), 1);
  assert.match(bad.outText, /^FAULT {2}provider x {2}no baseUrl$/m);
  assert.equal(bad.errorText, 'gateway: provider x: no baseUrl\n');
  const unset = new Recorded({ GATEWAY_THREADS: '-1' });
  assert.equal(await runCommandLine(['check'], unset), 1);
  assert.match(unset.outText, /^FAULT {2}settings {2}GATEWAY_THREADS must be/m);
});

test('ledger verify lets no value of a policy steer a terminal', async () => {
  const counter = 'policy/p/metadata._user:\u001b[2J\u009b31m\u202eann';
  const verdict = { calls: 1, estimated: 0, open: 0, sums: 1, compared: 1, repriced: 0, notInLog: 0, differences: [{ about: 'sum', call: null, counter, period: 0, ledger: 1, other: 2, reason: 'they differ' }], more: 0 } as const;
  for (const argv of [['ledger', 'verify'], ['ledger', 'verify', '--json']]) {
    const around = new Recorded({}, { verifySpending: async () => verdict });
    assert.equal(await runCommandLine(argv, around), 1);
    assert.match(around.outText, /_user:.*ann/);
    assert.equal(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(around.outText), false, JSON.stringify(around.outText));
    if (argv.length === 3) assert.deepEqual(JSON.parse(around.outText), verdict);
  }
});
