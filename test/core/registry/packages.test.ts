import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readPackages } from '../../../core/registry/packages.js';
import { temporaryFolder, writePackage, type PackageParts } from './plugin-package.js';

const root = temporaryFolder();
const good = { namespace: 'acme', contract: { strategy: 1 }, plugins: { strategy: ['first', 'second'] } };
const files = { 'strategy/first.js': 'export default {};', 'strategy/second.js': 'export default {};' };
let made = 0;
const packageOf = (parts: Partial<PackageParts>): string => writePackage(join(root, `p${made += 1}`), { gateway: good, files, ...parts });
const faultOf = (folder: string): string => {
  const [entry] = readPackages([folder], root);
  assert.deepEqual(entry?.plugins, []);
  return entry.fault ?? '';
};

describe('a plugin package', () => {
  it('is read by absolute path and by a path relative to the working directory', () => {
    const folder = packageOf({});
    const expected = [
      { kind: 'strategy', id: 'acme.first', module: join(folder, 'strategy/first.js') },
      { kind: 'strategy', id: 'acme.second', module: join(folder, 'strategy/second.js') },
    ];
    for (const [named, from] of [[folder, '/'], [`./p${made}`, root], [`../p${made}`, join(root, 'p1')], [`./${folder.slice(1)}`, '/']] as const) {
      assert.deepEqual(readPackages([named], from), [{ named, isPath: true, folder, version: '1.0.0', namespace: 'acme', plugins: expected, fault: undefined }]);
    }
  });

  it('is read by name from the nearest node_modules above, without package.json in its exports', () => {
    const outer = join(root, 'outer');
    const inner = join(outer, 'a/b');
    mkdirSync(inner, { recursive: true });
    const plain = writePackage(join(outer, 'node_modules/acme-plugins'), { gateway: good, files });
    const scoped = writePackage(join(outer, 'a/node_modules/@acme/plugins'), { name: '@acme/plugins', gateway: { ...good, namespace: 'scoped' }, files });
    const hidden = writePackage(join(outer, 'a/node_modules/acme-plugins'), { gateway: { ...good, namespace: 'near' }, files });
    assert.deepEqual(readPackages(['acme-plugins', '@acme/plugins'], inner).map(({ plugins, fault }) => [plugins[0]?.id, plugins[0]?.module, fault]), [
      ['near.first', join(hidden, 'strategy/first.js'), undefined], ['scoped.first', join(scoped, 'strategy/first.js'), undefined],
    ]);
    assert.equal(readPackages(['acme-plugins'], outer)[0]?.plugins[0]?.module, join(plain, 'strategy/first.js'));
  });

  it('follows its own exports map, whatever its folders are called', () => {
    const folder = packageOf({ exports: { './strategy/first': './lib/one.js', './strategy/*': './lib/*.js' }, files: { 'lib/one.js': '', 'lib/second.js': '' } });
    assert.deepEqual(readPackages([folder], root)[0]?.plugins.map(({ module }) => module), [join(folder, 'lib/one.js'), join(folder, 'lib/second.js')]);
  });

  it('is judged before any of its code runs', () => {
    const witness = join(root, 'ran');
    const code = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(witness)}, ''); export default {};`;
    const folder = packageOf({ files: { 'strategy/first.js': code, 'strategy/second.js': code } });
    assert.equal(readPackages([folder], root)[0]?.fault, undefined);
    assert.ok(!existsSync(witness));
  });
});

describe('a plugin package at fault', () => {
  const cases: readonly (readonly [name: string, parts: Partial<PackageParts>, fault: RegExp])[] = [
    ['has no gateway member', { gateway: undefined }, /has no "gateway" member; add "gateway": \{"namespace"/],
    ['has a gateway member that is not an object', { gateway: ['acme'] }, /has no "gateway" member/],
    ['has no namespace', { gateway: { ...good, namespace: undefined } }, /gateway\.namespace must be a lower-case word/],
    ['has a namespace with a capital', { gateway: { ...good, namespace: 'Acme' } }, /gateway\.namespace must be a lower-case word/],
    ['has a namespace with a dot', { gateway: { ...good, namespace: 'a.b' } }, /gateway\.namespace must be a lower-case word/],
    ['takes the namespace of the gateway', { gateway: { ...good, namespace: 'default' } }, /gateway\.namespace default is taken by the gateway itself/],
    ['lists no plugins', { gateway: { ...good, plugins: undefined } }, /gateway\.plugins must be an object such as \{"guardrail": \["pii"\]\}/],
    ['lists plugins without kinds', { gateway: { ...good, plugins: ['first'] } }, /gateway\.plugins must be an object/],
    ['names an unknown kind', { gateway: { ...good, plugins: { router: ['first'] } } }, /gateway\.plugins\.router is not a plugin kind/],
    ['names a member of every object as kind', { gateway: { ...good, plugins: { constructor: ['first'] } } }, /gateway\.plugins\.constructor is not a plugin kind/],
    ['says no contract for a kind', { gateway: { ...good, contract: {} } }, /gateway\.contract\.strategy must be 1, the contract this gateway speaks/],
    ['has no contract at all', { gateway: { ...good, contract: undefined } }, /gateway\.contract\.strategy must be 1/],
    ['was written for a later contract', { gateway: { ...good, contract: { strategy: 2 } } }, /gateway\.contract\.strategy must be 1/],
    ['gives the contract as text', { gateway: { ...good, contract: { strategy: '1' } } }, /gateway\.contract\.strategy must be 1/],
    ['lists a kind as text', { gateway: { ...good, plugins: { strategy: 'first' } } }, /gateway\.plugins\.strategy must be a list of names/],
    ['lists a path as a name', { gateway: { ...good, plugins: { strategy: ['../first'] } } }, /gateway\.plugins\.strategy holds a name that is not a word/],
    ['lists a number as a name', { gateway: { ...good, plugins: { strategy: [1] } } }, /gateway\.plugins\.strategy holds a name that is not a word/],
    ['does not export a plugin it lists', { exports: { './strategy/first': './strategy/first.js' } }, /"exports" must lead "\.\/strategy\/second", which gateway\.plugins lists, to a module/],
    ['exports a module that is not there', { exports: { './strategy/*': './lib/*.js' } }, /"exports" must lead "\.\/strategy\/first".*: Cannot find module '.*lib\/first\.js'$/],
  ];
  for (const [name, parts, fault] of cases) {
    it(`that ${name} is refused with its file and what to change`, () => {
      const folder = packageOf(parts);
      const message = faultOf(folder);
      assert.match(message, fault);
      assert.ok(message.includes(join(folder, 'package.json')), message);
    });
  }

  it('is refused with the line of the member to change, wherever that stands', () => {
    const lines = (gateway: unknown, exports: unknown = { './strategy/*': './strategy/*.js' }): string => JSON.stringify({ exports, gateway, name: 'acme' }, null, 2);
    for (const [text, line, what] of [
      [lines({ ...good, namespace: 'Acme' }), 6, 'namespace'],
      [lines({ ...good, contract: { strategy: 3 } }), 8, 'contract'],
      [lines({ ...good, contract: {} }), 7, 'contract without the kind'],
      [lines({ ...good, plugins: { strategy: ['first', 'no word'] } }), 13, 'second name'],
      [lines({ ...good, plugins: { strategy: ['first', 'first'] } }), 13, 'a name that is there twice'],
      [lines({ ...good, plugins: { router: [] } }), 11, 'kind'],
      [lines(good, { './strategy/first': './strategy/first.js', './strategy/second': './gone.js' }), 4, 'export that leads nowhere'],
      [lines(good, { './strategy/first': './strategy/first.js' }), 2, 'export that is missing'],
      [lines(undefined), 1, 'no gateway member'],
      [lines({ namespace: 'acme' }), 5, 'no plugins'],
    ] as const) {
      const folder = packageOf({});
      const file = join(folder, 'package.json');
      writeFileSync(file, text);
      assert.ok(faultOf(folder).startsWith(`${file}:${line}: `), `${what}: ${faultOf(folder)}`);
    }
  });

  it('that is not there is refused with how to install it', () => {
    assert.match(faultOf(join(root, 'nowhere')), /there is no .*nowhere\/package\.json$/);
    assert.match(readPackages(['acme-absent'], root)[0]?.fault ?? '', /^acme-absent: not installed; run npm install acme-absent in /);
  });

  it('that has a broken or nameless package.json is refused with its file', () => {
    const folder = packageOf({});
    const file = join(folder, 'package.json');
    writeFileSync(file, '{"name": "acme",');
    assert.equal(faultOf(folder), `${file}:1: cannot be read as JSON: it ends where a member name in double quotes should follow`);
    writeFileSync(file, '{\n  "name": "acme",\n  "gateway": {"namespace": acme}\n}\n');
    assert.match(faultOf(folder), /package\.json:3: cannot be read as JSON: unexpected characters at line 3, column 28; /);
    writeFileSync(file, JSON.stringify({ gateway: good }));
    assert.equal(faultOf(folder), `${file}:1: name is missing`);
    writeFileSync(file, 'null');
    assert.match(faultOf(folder), /has no "gateway" member/);
  });

  it('leaves the packages around it as they are, its namespace included', () => {
    const bad = packageOf({ gateway: { ...good, namespace: 'beta', contract: {} } });
    const first = packageOf({});
    const taken = packageOf({ name: 'acme-two' });
    const last = packageOf({ gateway: { ...good, namespace: 'beta' } });
    const read = readPackages([bad, first, taken, last], root);
    assert.deepEqual(read.map(({ plugins }) => plugins.map(({ id }) => id)), [[], ['acme.first', 'acme.second'], [], ['beta.first', 'beta.second']]);
    assert.equal(read[2]?.fault, `${join(taken, 'package.json')}:1: gateway.namespace acme is taken by ${first}`);
  });
});
