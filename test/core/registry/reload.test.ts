import { fakeHost } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PackageVersions, readFiles } from '../../../core/registry/package-versions.js';
import { Registry } from '../../../core/registry/registry.js';
import { temporaryFolder, writePackage } from './plugin-package.js';

const root = temporaryFolder();
const dropped: string[] = [];
const versions = new PackageVersions();
after(() => versions.close());
const makeRegistry = (...packages: readonly string[]): Registry =>
  new Registry({ packages, fromFolder: root, hostOf: () => fakeHost(), dropHost: (id) => { dropped.push(id); }, versions });

const strategy = (title: string): string => `import { defineStrategy } from '@gateway/plugin-sdk';
import { suffix } from './suffix.js';
export default defineStrategy({ title: '${title}' + suffix, describe: 'D.', params: { type: 'object', properties: {} },
  create: async () => { const { late } = await import('./late.js'); return { next: () => late }; } });
`;
const files = (title: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  ({ 'strategy/first.js': strategy(title), 'strategy/suffix.js': `export const suffix = ' of ${title}';`, 'strategy/late.js': `export const late = ${title.length};`, ...more });
let made = 0;
const newPackage = (namespace: string, names: readonly string[], more: Readonly<Record<string, string>> = {}): string => writePackage(join(root, `p${made += 1}`, 'package'), {
  gateway: { namespace, contract: { strategy: 1 }, plugins: { strategy: names } }, files: files('one', more), exports: { './strategy/*': './strategy/*.js' },
});
const write = (folder: string, changed: Readonly<Record<string, string>>): void => { for (const [path, text] of Object.entries(changed)) writeFileSync(join(folder, path), text); };
const titleOf = async (registry: Registry, id: string): Promise<string | undefined> => (await registry.find('strategy', id))?.title;

describe('a package given by path', () => {
  it('is found anew when its files have changed, with what its modules import', async () => {
    const folder = newPackage('acme', ['first']);
    const registry = makeRegistry(folder);
    const old = await registry.locate('strategy', 'acme.first');
    assert.equal(old?.plugin.title, 'one of one');
    registry.host('strategy/acme.first');
    assert.deepEqual(await registry.reload(folder), { outcome: 'same' });
    write(folder, files('three'));
    assert.deepEqual(await registry.reload(folder), { outcome: 'changed', version: '1.0.0', plugins: new Set(['strategy/acme.first']), faults: [] });
    const next = await registry.locate('strategy', 'acme.first');
    assert.equal(next?.plugin.title, 'three of three');
    assert.notEqual(next.module.href, old.module.href);
    assert.deepEqual(dropped, ['strategy/acme.first']);
    // What the old version imports late is still its own.
    const [before, now] = [await old.plugin.create({}, fakeHost(), []), await next.plugin.create({}, fakeHost(), [])];
    assert.deepEqual([before.next({} as never, [], []), now.next({} as never, [], [])], [3, 5]);
  });

  it('goes back to an earlier version like to any other', async () => {
    const folder = newPackage('back', ['first']);
    const registry = makeRegistry(folder);
    for (const title of ['two', 'one', 'two']) {
      write(folder, files(title));
      assert.equal((await registry.reload(folder)).outcome, 'changed');
      assert.equal(await titleOf(registry, 'back.first'), `${title} of ${title}`);
    }
  });

  it('finds modules where its new exports lead', async () => {
    const folder = newPackage('moved', ['first'], { 'built/first.js': strategy('moved').replaceAll('./', '../strategy/') });
    const registry = makeRegistry(folder);
    assert.equal(await titleOf(registry, 'moved.first'), 'one of one');
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    write(folder, { 'package.json': JSON.stringify({ ...manifest, exports: { './strategy/first': { import: './built/first.js' } } }) });
    assert.equal((await registry.reload(folder)).outcome, 'changed');
    assert.equal(await titleOf(registry, 'moved.first'), 'moved of one');
    write(folder, { 'package.json': JSON.stringify({ ...manifest, exports: { './strategy/second': './built/first.js' } }) });
    const refused = await registry.reload(folder);
    assert.match(refused.outcome === 'refused' ? refused.reason : refused.outcome, /"exports" must lead "\.\/strategy\/first", which gateway\.plugins lists, to a module/);
    assert.equal(await titleOf(registry, 'moved.first'), 'moved of one');
  });

  it('gains and loses plugins', async () => {
    const folder = newPackage('grow', ['first'], { 'strategy/second.js': strategy('second') });
    const registry = makeRegistry(folder);
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    write(folder, { 'package.json': manifest.replace('["first"]', '["second"]') });
    const result = await registry.reload(folder);
    assert.deepEqual(result.outcome === 'changed' ? [...result.plugins].sort() : result, ['strategy/grow.first', 'strategy/grow.second']);
    assert.equal(await registry.find('strategy', 'grow.first'), undefined);
    assert.equal(await titleOf(registry, 'grow.second'), 'second of one');
    assert.deepEqual(registry.list('strategy').filter((id) => id.startsWith('grow.')), ['grow.second']);
  });

  it('keeps the version in service when the new one is at fault, and tells each fault once', async () => {
    const folder = newPackage('keep', ['first', 'second'], { 'strategy/second.js': strategy('second') });
    const registry = makeRegistry(folder);
    const served = await registry.find('strategy', 'keep.first');
    const reasonAfter = async (changed: Readonly<Record<string, string>>): Promise<string> => {
      write(folder, changed);
      const result = await registry.reload(folder);
      assert.deepEqual(await registry.reload(folder), { outcome: 'same' });
      assert.equal(await registry.find('strategy', 'keep.first'), served);
      return result.outcome === 'refused' ? result.reason : assert.fail(result.outcome);
    };
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    assert.equal(await reasonAfter({ 'strategy/suffix.js': 'export const suffix =\n  ;\n' }), `plugin strategy/keep.first: could not be loaded: Unexpected token ';' (${folder}/strategy/suffix.js:2)`);
    assert.match(await reasonAfter({ ...files('two'), 'strategy/second.js': 'export default 1;' }), /^plugin strategy\/keep\.second: has no default export .*second\.js:1\)$/);
    assert.match(await reasonAfter({ 'strategy/second.js': strategy('second'), 'package.json': manifest.replace('"strategy":1', '"strategy":2') }), /package\.json:1: gateway\.contract\.strategy must be 1/);
    assert.match(await reasonAfter({ 'package.json': '{' }), /package\.json:1: cannot be read as JSON/);
    assert.match(await reasonAfter({ 'package.json': manifest.replace('"second"]', '"third"]') }), /"\.\/strategy\/third", which gateway\.plugins lists, to a module/);
    rmSync(join(folder, 'strategy/late.js'));
    write(folder, { 'package.json': manifest });
    assert.equal((await registry.reload(folder)).outcome, 'changed');
    assert.equal(await titleOf(registry, 'keep.first'), 'two of two');
  });

  it('imports late from the version in service, however many were refused since', async () => {
    const folder = newPackage('late', ['first']);
    const registry = makeRegistry(folder);
    const served = await registry.find('strategy', 'late.first');
    for (let count = 0; count < 12; count += 1) {
      write(folder, { 'strategy/suffix.js': `export const suffix = ; // ${count}` });
      assert.equal((await registry.reload(folder)).outcome, 'refused');
    }
    assert.equal((await served?.create({}, fakeHost(), []))?.next({} as never, [], []), 3);
  });

  it('that was at fault comes into service when it is mended, as a whole or plugin by plugin', async () => {
    const folder = newPackage('mend', ['first', 'second'], { 'strategy/second.js': 'export default 1;' });
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    write(folder, { 'package.json': manifest.replace('"mend"', '"Mend"') });
    const registry = makeRegistry(folder);
    assert.equal(await registry.find('strategy', 'mend.first'), undefined);
    write(folder, { 'package.json': manifest });
    // Nothing of it was in service, but a plugin that never worked is not a version to take.
    assert.equal((await registry.reload(folder)).outcome, 'refused');
    write(folder, { 'strategy/second.js': strategy('second') });
    assert.equal((await registry.reload(folder)).outcome, 'changed');
    assert.equal(await titleOf(registry, 'mend.second'), 'second of one');

    const half = newPackage('half', ['first', 'second'], { 'strategy/second.js': 'export default 1;' });
    const other = makeRegistry(half);
    write(half, files('two'));
    const result = await other.reload(half);
    assert.ok(result.outcome === 'changed' && result.faults.length === 1 && /half\.second: has no default export/.test(result.faults[0] ?? ''), JSON.stringify(result));
    assert.equal(await titleOf(other, 'half.first'), 'two of two');
  });

  it('cannot take the namespace of another by a change', async () => {
    const [first, second] = [newPackage('left', ['first']), newPackage('right', ['first'])];
    const registry = makeRegistry(first, second);
    const file = join(second, 'package.json');
    write(second, { 'package.json': readFileSync(file, 'utf8').replace('"right"', '"left"') });
    const result = await registry.reload(second);
    assert.ok(result.outcome === 'refused' && result.reason.includes(`gateway.namespace left is taken by ${first}`), JSON.stringify(result));
  });

  it('finds installed packages as from its own folder: its own first, then those above', async () => {
    const folder = newPackage('find', ['first'], { 'strategy/suffix.js': "import { a } from 'near'; import { b } from 'far'; export const suffix = a + b;" });
    const library = (at: string, text: string): void => {
      mkdirSync(at, { recursive: true });
      write(at, { 'package.json': '{"type":"module","main":"index.js"}', 'index.js': text });
    };
    library(join(folder, 'node_modules/near'), "export const a = ' near';");
    library(join(dirname(folder), 'node_modules/near'), "export const a = ' wrong';");
    library(join(dirname(folder), 'node_modules/far'), "export const b = ' far';");
    assert.equal(await titleOf(makeRegistry(folder), 'find.first'), 'one near far');
  });

  it('is left alone by name and without versions', async () => {
    const byName = writePackage(join(root, 'node_modules/acme-named'), {
      name: 'acme-named', gateway: { namespace: 'named', contract: { strategy: 1 }, plugins: { strategy: ['first'] } }, files: files('one'), exports: { './strategy/*': './strategy/*.js' },
    });
    const plain = newPackage('plain', ['first']);
    const registry = new Registry({ packages: ['acme-named', plain], fromFolder: root, hostOf: () => fakeHost() });
    const named = makeRegistry('acme-named');
    for (const [each, folder, name, id] of [[registry, plain, plain, 'plain.first'], [named, byName, 'acme-named', 'named.first']] as const) {
      assert.equal(fileURLToPath((await each.locate('strategy', id))?.module ?? 'file:///'), join(folder, 'strategy/first.js'));
      write(folder, files('two'));
      assert.deepEqual(await each.reload(name), { outcome: 'same' });
    }
  });
});

describe('copies of packages', () => {
  it('hold what belongs to the package: no installed packages, sources, logs or hidden files', () => {
    const folder = join(root, 'kinds');
    for (const path of ['a.js', 'b.mjs', 'c.json', 'd/e.wasm', 'd/words.txt', 'f.ts', 'f.d.ts', 'g.js.map', 'h.log', '.env', '.git/config', 'node_modules/x/index.js', 't.tsbuildinfo']) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), path);
    }
    symlinkSync('/etc', join(folder, 'link'));
    assert.deepEqual(readFiles(folder)?.files.map(({ path }) => path), ['a.js', 'b.mjs', 'c.json', 'd/e.wasm', 'd/words.txt']);
  });

  it('differ by content alone', () => {
    const folder = join(root, 'kinds');
    const digest = readFiles(folder)?.digest;
    writeFileSync(join(folder, 'a.js'), 'a.js');
    assert.equal(readFiles(folder)?.digest, digest);
    writeFileSync(join(folder, 'a.js'), 'b.js');
    assert.notEqual(readFiles(folder)?.digest, digest);
  });

  it('are not made of folders beyond measure', () => {
    const folder = join(root, 'large');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.bin'), Buffer.alloc(65 * 1024 * 1024));
    assert.equal(readFiles(folder), undefined);
  });

  it('are gone when they are closed, and only the last ones are kept', () => {
    const own = new PackageVersions();
    const folder = join(root, 'kinds');
    const found = readFiles(folder);
    assert.ok(found !== undefined);
    const copies = Array.from({ length: 10 }, () => own.copy(folder, found));
    assert.deepEqual(copies.map(existsSync), [false, false, true, true, true, true, true, true, true, true]);
    assert.equal(readFileSync(join(copies[9] ?? '', 'd/words.txt'), 'utf8'), 'd/words.txt');
    own.close();
    assert.ok(!copies.some(existsSync));
    own.close();
  });
});
