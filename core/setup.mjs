#!/usr/bin/env -S node --max-semi-space-size=32 --single-threaded-gc
// The one file that runs before anything is installed or built: plain JavaScript, node builtins only.
//   node core/setup.mjs start | check | version | --help     the gateway, in this process
//   node core/setup.mjs test [files or name patterns...]     the tests
//   node core/setup.mjs bench [options...]                   the bench
// Installs the packages when they differ from package-lock.json and builds when a source differs from the last build, then goes on.
// In an installed package there is nothing to install or build. Everything it says goes to stderr: stdout belongs to the command.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, rmdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, hostname } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const nodeMinimum = [20, 12];
const sourceFolders = ['core', 'plugins', 'providers', 'bench', 'test'];
const sdkFolders = ['plugin-sdk/api', 'plugin-sdk/src', 'plugin-sdk/testing'];
/** Test files at a time: some of them wait. */
const testConcurrency = Math.min(8, availableParallelism() + 1);
/** Of a whole file; a busy machine takes many times what an idle one does. */
const testTimeoutMs = 300_000;
const lockWaitMs = 15 * 60_000;
const lockPollMs = 200;
const lockBeatMs = 2_000;
/** A lock that has not been touched for this long belongs to nobody. */
const lockStaleMs = 30_000;

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const at = (...parts) => join(root, ...parts);
const say = (text) => { process.stderr.write(`gateway: ${text}\n`); };

class SetupError extends Error {}

// ---- what is there ------------------------------------------------------------------------------------

const readText = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const hashOf = (parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
};

/** Paths from the root, with forward slashes, sorted. */
function filesBelow(folder, wanted) {
  if (!existsSync(at(folder))) return [];
  return readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted(entry.name))
    // `parentPath` is `path` before Node 20.12.
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).split(sep).join('/'))
    .filter((path) => !path.includes('/node_modules/'))
    .sort();
}

const isSource = (name) => name.endsWith('.ts') && !name.endsWith('.d.ts');
const sources = () => [...sourceFolders, ...sdkFolders].flatMap((folder) => filesBelow(folder, isSource));

const outputOf = (source) => {
  const built = source.replace(/\.ts$/, '.js');
  return source.startsWith('plugin-sdk/') ? built.replace(/^plugin-sdk\//, 'plugin-sdk/dist/') : `dist/${built}`;
};
const sourceOf = (output) => {
  const plain = output.replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, '.ts');
  return plain.startsWith('plugin-sdk/') ? plain.replace(/^plugin-sdk\/dist\//, 'plugin-sdk/') : plain.replace(/^dist\//, '');
};

const hasSources = () => existsSync(at('tsconfig.json')) && existsSync(at('core/main.ts'));

// ---- packages -----------------------------------------------------------------------------------------

const installStamp = at('node_modules', '.gateway-installed');

/** The binary packages differ by Node's module version, so it is part of the state. */
const installState = () => hashOf([readText(at('package-lock.json')), process.versions.modules]);

/** Someone ran npm themselves: npm's own record says what it put there. */
function isInstalledByNpm() {
  const record = readText(at('node_modules', '.package-lock.json'));
  if (record === '') return false;
  const installed = JSON.parse(record).packages ?? {};
  const wanted = JSON.parse(readText(at('package-lock.json')) || '{}').packages ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true && !isForThisNode(entry);
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** The binary packages that matter pin one major of Node: `"engines": {"node": ">=22.0.0 <23.0.0"}`. */
function isForThisNode(entry) {
  const fits = (list, value) => list === undefined || list.includes(value);
  const [, from, below] = /^>=(\d+)\.0\.0 <(\d+)\.0\.0$/.exec(entry.engines?.node ?? '') ?? [];
  const major = Number(process.versions.node.split('.')[0]);
  return fits(entry.os, process.platform) && fits(entry.cpu, process.arch) && major >= Number(from) && major < Number(below);
}

const isInstalled = () => readText(installStamp) === installState();

async function install() {
  if (!isInstalledByNpm()) {
    say('installing packages (npm ci)');
    const flags = ['--include=dev', '--include=optional', '--no-audit', '--no-fund'];
    if (await npm(['ci', ...flags]) !== 0) {
      say('npm ci refused the lock file; trying npm install');
      if (await npm(['install', '--no-save', ...flags]) !== 0) throw new SetupError(`packages could not be installed; run npm ci in ${root} to see why`);
    }
  }
  writeFileSync(installStamp, installState());
}

function npm(argv) {
  const path = process.env.npm_execpath ?? '';
  if (/^npm(?:-cli)?\.c?js$/.test(basename(path)) && existsSync(path)) return run(process.execPath, [path, ...argv]);
  const isWindows = process.platform === 'win32';
  return run(isWindows ? 'npm.cmd' : 'npm', argv, { shell: isWindows });
}

// ---- build --------------------------------------------------------------------------------------------

const buildStamp = at('dist', '.gateway-built');

function buildState() {
  const inputs = [...sources(), 'tsconfig.json', 'plugin-sdk/tsconfig.json', 'plugin-sdk/package.json', 'package.json', 'package-lock.json'];
  return hashOf(inputs.flatMap((path) => [path, readText(at(path))]));
}

const isBuilt = () => readText(buildStamp) === buildState();

async function build() {
  // Read before the build: an edit during it must lead to another one.
  const state = buildState();
  removeStale();
  rmSync(buildStamp, { force: true });
  say('building');
  await compile();
  const missing = () => sources().filter((source) => !existsSync(at(outputOf(source))));
  if (missing().length > 0) {
    // The compiler trusts its record of the last build, not the folder.
    for (const folder of ['dist', 'plugin-sdk/dist']) rmSync(at(folder, '.tsbuildinfo'), { force: true });
    await compile();
  }
  const [lost] = missing();
  if (lost !== undefined) throw new SetupError(`the build left out ${lost}; remove the dist folders in ${root} and try again`);
  writeFileSync(buildStamp, state);
}

async function compile() {
  const code = await run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-b', root]);
  if (code !== 0) throw new SetupError('the build failed; the compiler says why above');
}

/** What was built from a source that is gone would still be found: a deleted test would run, a deleted plugin would be installed. */
function removeStale() {
  const isOutput = (name) => /(?:\.d\.ts|\.js)(?:\.map)?$/.test(name);
  for (const output of [...filesBelow('dist', isOutput), ...filesBelow('plugin-sdk/dist', isOutput)]) {
    if (!existsSync(at(sourceOf(output)))) rmSync(at(output));
  }
  for (const folder of sourceFolders) removeEmpty(at('dist', folder));
}

function removeEmpty(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

// ---- one set-up at a time -----------------------------------------------------------------------------

const lockFolder = at('.tmp', 'setup-lock');
const ownerFile = join(lockFolder, 'owner.json');
const pause = (timeMs) => new Promise((wake) => { setTimeout(wake, timeMs); });
const codeOf = (thrown) => thrown?.code;

/** Names our own lock among those of others. */
const lockToken = JSON.stringify({ process: process.pid, host: hostname(), made: randomBytes(8).toString('hex') });

function tryLock() {
  try {
    mkdirSync(dirname(lockFolder), { recursive: true });
    mkdirSync(lockFolder);
    writeFileSync(ownerFile, lockToken);
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') return false;
    throw new SetupError(`the packages or the build are out of date and ${root} cannot be written (${thrown.message})`);
  }
  return true;
}

/** The token of the present lock (perhaps empty) when its owner is gone; else undefined. */
function staleLock() {
  try {
    const isOld = Date.now() - statSync(lockFolder).mtimeMs > lockStaleMs;
    const token = readText(ownerFile);
    // Half a token is a lock being made, or one whose maker died then.
    const owner = token.endsWith('}') ? JSON.parse(token) : undefined;
    const isDead = owner !== undefined && owner.host === hostname() && !isAlive(owner.process);
    return isOld || isDead ? token : undefined;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch (thrown) {
    return codeOf(thrown) === 'EPERM';
  }
}

/** Moved aside first: of several that find a stale lock one wins, and a lock made anew in between is put back. */
function breakLock(token) {
  const aside = `${lockFolder}-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    renameSync(lockFolder, aside);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return;
    throw thrown;
  }
  if (readText(join(aside, 'owner.json')) === token || existsSync(lockFolder)) rmSync(aside, { recursive: true, force: true });
  else renameSync(aside, lockFolder);
}

/** A process that slept for long may find that its lock has a new owner. */
function beatLock() {
  if (readText(ownerFile) !== lockToken) {
    say('another set-up took over; run the command again');
    process.exit(1);
  }
  const now = new Date();
  utimesSync(lockFolder, now, now);
}

async function whileLocked(work) {
  const giveUpAtMs = Date.now() + lockWaitMs;
  let hasSaid = false;
  while (!tryLock()) {
    const stale = staleLock();
    if (stale !== undefined) {
      breakLock(stale);
      continue;
    }
    if (Date.now() > giveUpAtMs) throw new SetupError(`another set-up has been running for too long; if there is none, remove ${lockFolder}`);
    if (!hasSaid) say('another set-up is running here; waiting for it');
    hasSaid = true;
    await pause(lockPollMs);
  }
  const beat = setInterval(beatLock, lockBeatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(lockFolder, { recursive: true, force: true });
  }
}

async function prepare() {
  if (!hasSources()) {
    if (!existsSync(at('dist/core/main.js'))) throw new SetupError(`${root} holds neither sources nor a build; install the package again`);
    return;
  }
  if (isInstalled() && isBuilt()) return;
  await whileLocked(async () => {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  });
}

// ---- commands -----------------------------------------------------------------------------------------

/** Runs a program in the root, its output on stderr, or with `inherit` where ours goes; resolves with its exit code. */
function run(program, argv, { shell = false, inherit = false, directory = root } = {}) {
  return new Promise((done, failed) => {
    const child = spawn(program, argv, { cwd: directory, shell, stdio: inherit ? 'inherit' : ['ignore', process.stderr, process.stderr] });
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    const listeners = signals.map((signal) => () => { child.kill(signal); });
    signals.forEach((signal, index) => process.on(signal, listeners[index]));
    const release = () => signals.forEach((signal, index) => process.off(signal, listeners[index]));
    child.once('error', (thrown) => {
      release();
      failed(new SetupError(`${program} could not be started: ${thrown.message}`));
    });
    child.once('exit', (code, signal) => {
      release();
      if (signal === null) done(code ?? 1);
      // The end of the child by a signal is ours as well, set-up included.
      else if (inherit) done(128 + constants.signals[signal]);
      else failed(new SetupError(`interrupted by ${signal}`));
    });
  });
}

/** Patterns are parts of paths: `stream`, `test/core/stream`, `test/core/stream/relay.test.ts`. Words with dashes go to the test runner. */
async function test(argv) {
  const options = argv.filter((word) => word.startsWith('-'));
  const patterns = argv.filter((word) => !word.startsWith('-')).map((word) => word.split(sep).join('/').replace(/^\.\//, '').replace(/\.ts$/, '.js'));
  const all = [...filesBelow('dist', (name) => name.endsWith('.test.js')), ...filesBelow('plugin-sdk/dist', (name) => name.endsWith('.test.js'))];
  for (const pattern of patterns) if (!all.some((file) => file.includes(pattern))) throw new SetupError(`no test file matches ${pattern}`);
  const files = patterns.length === 0 ? all : all.filter((file) => patterns.some((pattern) => file.includes(pattern)));
  if (files.length === 0) throw new SetupError('there are no tests');
  return run(process.execPath, ['--test', `--test-concurrency=${testConcurrency}`, `--test-timeout=${testTimeoutMs}`, ...reporters(options), ...options, ...files], { inherit: true });
}

/** The runner's usual one and the list of what failed, unless another one is asked for. */
function reporters(options) {
  if (options.some((option) => option.startsWith('--test-reporter'))) return [];
  const usual = process.stdout.isTTY ? 'spec' : 'tap';
  return [usual, at('core/closing-list.mjs')].flatMap((reporter) => [`--test-reporter=${reporter}`, '--test-reporter-destination=stdout']);
}

/** In this process, so that signals reach it. */
async function runModule(module, argv) {
  const path = at('dist', module);
  if (!existsSync(path)) throw new SetupError(`${module} is not part of this package; get the sources`);
  process.argv = [process.argv[0], path, ...argv];
  await import(pathToFileURL(path).href);
}

async function main([command, ...argv]) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < nodeMinimum[0] || (major === nodeMinimum[0] && minor < nodeMinimum[1])) {
    throw new SetupError(`Node.js ${nodeMinimum.join('.')} or newer is needed, this is ${process.versions.node}; install a newer one from https://nodejs.org`);
  }
  await prepare();
  if (command === 'test' || command === 'bench') {
    if (!hasSources()) throw new SetupError(`${command} works in the source tree only`);
    if (command === 'test') process.exitCode = await test(argv);
    else await runModule('bench/main.js', argv);
    return;
  }
  await runModule('core/main.js', command === undefined ? [] : [command, ...argv]);
}

try {
  await main(process.argv.slice(2));
} catch (thrown) {
  if (!(thrown instanceof SetupError)) throw thrown;
  say(thrown.message);
  process.exit(1);
}
