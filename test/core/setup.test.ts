import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../tidy/sources.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-setup-'));
after(() => rmSync(directory, { recursive: true }));

/** A compiler that copies: the sources of these trees are plain JavaScript. It notes each run, and fails on the word `broken`. */
const compiler = `
const { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
appendFileSync('builds.log', 'built\\n');
for (const folder of ['core', 'test']) for (const entry of readdirSync(folder, { recursive: true })) {
  if (!entry.endsWith('.ts')) continue;
  const text = readFileSync(join(folder, entry), 'utf8');
  if (text.includes('broken')) { console.log(entry + ' is broken'); process.exit(2); }
  const to = join('dist', folder, entry.replace(/ts$/, 'js'));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
}
`;

class Tree {
  readonly path: string;

  constructor(name: string) {
    this.path = join(directory, name);
    this.write('package.json', '{"type": "module"}');
    this.write('package-lock.json', '{"packages": {"node_modules/typescript": {"version": "1.0.0"}}}');
    this.write('node_modules/.package-lock.json', '{"packages": {"node_modules/typescript": {"version": "1.0.0"}}}');
    this.write('node_modules/typescript/package.json', '{"type": "commonjs"}');
    this.write('node_modules/typescript/bin/tsc', compiler);
    this.write('tsconfig.json', '{}');
    this.write('core/main.ts', "console.log('main', ...process.argv.slice(2), process.cwd());");
    mkdirSync(join(this.path, 'test'), { recursive: true });
    for (const file of ['setup.mjs', 'closing-list.mjs']) copyFileSync(join(root, 'core', file), join(this.path, 'core', file));
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.path, file)), { recursive: true });
    writeFileSync(join(this.path, file), text);
  }

  has(file: string): boolean {
    return existsSync(join(this.path, file));
  }

  get builds(): number {
    return this.has('builds.log') ? readFileSync(join(this.path, 'builds.log'), 'utf8').split('\n').length - 1 : 0;
  }

  /** `node core/setup.mjs` with these arguments, from another folder. */
  async run(argv: readonly string[], nodeOptions: readonly string[] = []): Promise<{ readonly code: number | null; readonly out: string; readonly error: string }> {
    const environment = { ...process.env, npm_execpath: '' };
    // Inside a test runner the inner one would report to the outer.
    Reflect.deleteProperty(environment, 'NODE_TEST_CONTEXT');
    const child = spawn(process.execPath, [...nodeOptions, join(this.path, 'core/setup.mjs'), ...argv], { cwd: directory, env: environment });
    let out = '';
    let error = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text; });
    child.stderr.setEncoding('utf8').on('data', (text: string) => { error += text; });
    const code = await new Promise<number | null>((resolve) => { child.once('close', resolve); });
    return { code, out, error };
  }
}

test('a first run builds, the next does not, and the command runs where the user is', async () => {
  const tree = new Tree('first');
  const first = await tree.run(['start', '--settings', 'x']);
  assert.deepEqual([first.code, first.out, tree.builds], [0, `main start --settings x ${directory}\n`, 1]);
  await tree.run(['version']);
  assert.equal(tree.builds, 1);
  appendFileSync(join(tree.path, 'core/main.ts'), '\n');
  await tree.run(['version']);
  assert.equal(tree.builds, 2);
});

test('two set-ups at once build once', async () => {
  const tree = new Tree('twice');
  const runs = await Promise.all([tree.run(['version']), tree.run(['version']), tree.run(['version'])]);
  assert.deepEqual(runs.map(({ code }) => code), [0, 0, 0], runs.map(({ error }) => error).join());
  assert.equal(tree.builds, 1);
  assert.ok(!tree.has('.tmp/setup-lock'));
});

test('locks of processes that are gone are broken', async () => {
  const tree = new Tree('locked');
  const gone = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => gone.once('close', resolve));
  tree.write('.tmp/setup-lock/owner.json', JSON.stringify({ process: gone.pid, host: hostname(), made: 'x' }));
  assert.equal((await tree.run(['version'])).code, 0);
  appendFileSync(join(tree.path, 'core/main.ts'), '\n');
  mkdirSync(join(tree.path, '.tmp/setup-lock'));
  const longAgo = new Date(Date.now() - 3_600_000);
  utimesSync(join(tree.path, '.tmp/setup-lock'), longAgo, longAgo);
  assert.equal((await tree.run(['version'])).code, 0);
  assert.equal(tree.builds, 2);
});

test('a failed build is an error, and the next run tries again', async () => {
  const tree = new Tree('broken');
  tree.write('core/other.ts', 'broken');
  const failed = await tree.run(['version']);
  assert.equal(failed.code, 1);
  assert.match(failed.error, /other\.ts is broken\ngateway: the build failed/);
  assert.equal(failed.out, '');
  tree.write('core/other.ts', 'export {};');
  assert.equal((await tree.run(['version'])).code, 0);
});

test('tests run by pattern, deleted ones no more, and their failure is the exit code', async () => {
  const tree = new Tree('tests');
  tree.write('test/a/one.test.ts', "import test from 'node:test'; test('one works', () => {});");
  tree.write('test/two.test.ts', "import test from 'node:test'; test('two fails', () => { throw new Error('no'); });");
  const both = await tree.run(['test']);
  assert.equal(both.code, 1);
  assert.match(both.out, /one works[^]*two fails/);
  for (const pattern of ['a/one', 'test/a/one.test.ts']) {
    const one = await tree.run(['test', pattern]);
    assert.equal(one.code, 0);
    assert.ok(!/two fails|failed:/.test(one.out));
  }
  const none = await tree.run(['test', 'three']);
  assert.deepEqual([none.code, none.error], [1, 'gateway: no test file matches three\n']);
  rmSync(join(tree.path, 'test/a'), { recursive: true });
  assert.ok(!(await tree.run(['test'])).out.includes('one works'));
  assert.ok(!tree.has('dist/test/a'));
});

test('what failed stands at the end, by file and name, behind the runner\'s own summary', async () => {
  const tree = new Tree('closing');
  tree.write('test/good.test.ts', "import test from 'node:test'; test('works', () => {});");
  tree.write('test/bad.test.ts', "import { describe, it } from 'node:test'; describe('outer', () => { describe('inner', () => { it('fails', () => { throw new Error('no'); }); it('works', () => {}); }); });");
  tree.write('test/sick.test.ts', "throw new Error('not even loaded');");
  const { code, out } = await tree.run(['test']);
  assert.equal(code, 1);
  const [ran, closing = ''] = out.split(/^2 failed:$/m);
  assert.match(ran ?? '', /^(?:#|ℹ) tests \d+$[^]*^(?:#|ℹ) pass \d+$[^]*^(?:#|ℹ) fail \d+$/m);
  assert.deepEqual(closing.trim().split('\n'), ['test/bad.test.ts  outer > inner > fails', 'test/sick.test.ts']);
  rmSync(join(tree.path, 'test/bad.test.ts'));
  rmSync(join(tree.path, 'test/sick.test.ts'));
  tree.write('test/many.test.ts', "import test from 'node:test'; for (let n = 0; n < 50; n += 1) test('test ' + n, () => { throw new Error('no'); });");
  const lines = (await tree.run(['test'])).out.trimEnd().split('\n');
  assert.match(lines.at(-1) ?? '', /^and \d+ more: 30 in test\/many\.test\.ts$/);
  assert.ok(lines.slice(-22).includes('50 failed:'), lines.slice(-22).join('\n'));
  // Whoever asks for a reporter gets that one alone.
  assert.doesNotMatch((await tree.run(['test', '--test-reporter=dot'])).out, /failed:/);
});

test('an installed package without sources simply runs', async () => {
  const tree = new Tree('package');
  await tree.run(['version']);
  for (const file of ['tsconfig.json', 'core/main.ts', 'package-lock.json', 'node_modules']) rmSync(join(tree.path, file), { recursive: true });
  assert.equal((await tree.run(['version'])).out, `main version ${directory}\n`);
  const refused = await tree.run(['test']);
  assert.deepEqual([refused.code, refused.error], [1, 'gateway: test works in the source tree only\n']);
});

test('an old Node.js gets one sentence', async () => {
  const tree = new Tree('old');
  const pretend = 'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.1" } })';
  const old = await tree.run(['start'], ['--import', pretend]);
  assert.equal(old.code, 1);
  assert.match(old.error, /^gateway: Node\.js 20\.12 or newer is needed, this is 20\.11\.1; .*\n$/);
  assert.equal(tree.builds, 0);
});
