// Every plugin folder is held to the contract of its kind, whoever adds it: no list is kept here, the folders are read at run time.
// What is particular to providers is in providers.test.ts.

import type { ObjectSchema, PluginKind } from '@gateway/plugin-sdk';
import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { folderOf, nameOf, parseId, places } from '../../core/registry/ids.js';

const here = dirname(fileURLToPath(import.meta.url));
/** Beside this file's own output, whatever the output folder is called. */
const built = join(here, '../..');
const sourceRoot = findRoot(here);

/** Members a plugin of each kind must have beside the common ones, and their types. */
const members: { readonly [K in PluginKind]: Readonly<Record<string, string>> } = {
  strategy: { create: 'function' },
  cache: { create: 'function' },
  guardrail: { create: 'function' },
  hook: { create: 'function' },
  storage: { create: 'function' },
  exporter: { create: 'function' },
  secrets: { create: 'function' },
  provider: { auth: 'object', endpoints: 'object', baseUrl: 'string | function' },
};

function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'gateway') return from;
  const above = dirname(from);
  assert.notEqual(above, from, 'no package.json of the gateway above this file');
  return findRoot(above);
}

const foldersIn = (path: string): string[] =>
  (existsSync(path) ? readdirSync(path, { withFileTypes: true }) : []).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();

interface Found {
  readonly kind: PluginKind;
  readonly folder: string;
  readonly name: string;
  readonly source: string;
  readonly module: string;
}

const found: Found[] = (Object.keys(places) as PluginKind[]).flatMap((kind) => foldersIn(join(sourceRoot, places[kind].folder)).filter((name) => name !== 'common').map((name) => {
  const folder = `${places[kind].folder}/${name}`;
  return { kind, folder, name, source: join(sourceRoot, folder), module: pathToFileURL(join(built, folder, places[kind].module)).href };
}));

const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);

/** Passing by themselves: the module loader and the test runner make them, too. */
const passing: ReadonlySet<string> = new Set(['Immediate', 'CloseReq', 'FSReqCallback', 'FSReqPromise']);

/** What keeps a process alive or reaches out of it. */
const resources = (): string[] => process.getActiveResourcesInfo().filter((name) => !passing.has(name));

/** What is in the second list and not, or not as often, in the first. */
function added(before: readonly string[], now: readonly string[]): string[] {
  const rest = [...before];
  return now.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Counted by kind of event: a module that listens to the process changes it for everybody. */
const listeners = (): string => process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`).sort().join();

// Libraries that a plugin needs are loaded with the first import; what counts is what the definition's own module does.
const plugins = new Map<Found, Readonly<Record<string, unknown>>>();
for (const each of found) plugins.set(each, (await import(each.module)).default);

function shapeFaults(kind: PluginKind, plugin: unknown): string[] {
  if (typeof plugin !== 'object' || plugin === null) return ['has no default export made by define...()'];
  const given = new Map(Object.entries(plugin));
  const faults: string[] = [];
  if (given.get('kind') !== kind) faults.push(`is of kind ${String(given.get('kind'))}`);
  if (given.get('contract') !== 1) faults.push('must be of contract 1');
  for (const name of ['title', 'describe']) {
    const text = given.get(name);
    if (typeof text !== 'string' || text.trim() === '') faults.push(`${name} must say something`);
  }
  const describe = given.get('describe');
  if (typeof describe === 'string' && !/[.]$/.test(describe)) faults.push('describe must be sentences');
  for (const [name, type] of Object.entries(members[kind])) if (!type.split(' | ').includes(typeof given.get(name)) || given.get(name) === null) faults.push(`${name} must be of type ${type}`);
  faults.push(...schemaFaults(given.get('params')));
  return faults;
}

function schemaFaults(params: unknown): string[] {
  if (typeof params !== 'object' || params === null || !('type' in params) || params.type !== 'object') return ['params must be a JSON Schema of type object'];
  const { properties, required = [] } = params as ObjectSchema;
  if (typeof properties !== 'object') return ['params has no properties'];
  const faults = required.filter((name) => !Object.hasOwn(properties, name)).map((name) => `params requires ${name}, which it does not describe`);
  for (const name of Object.keys(properties)) if (!/^[a-z][a-zA-Z0-9_]*$/.test(name)) faults.push(`parameter ${name} must be a word`);
  try {
    const ajv = new Ajv({ strict: true, useDefaults: true, keywords: ['secret'] });
    ajv.compile(params);
    // Every default must pass its own schema, or a config that says nothing is refused.
    for (const [name, schema] of Object.entries(properties)) {
      if (!('default' in schema)) continue;
      const validate = ajv.compile({ type: 'object', properties: { [name]: schema } });
      if (!validate({})) faults.push(`the default of ${name} does not fit its own schema`);
    }
  } catch (thrown) {
    faults.push(`params does not compile: ${String(thrown)}`);
  }
  return faults;
}

function fileFaults({ kind, source, folder, name }: Found): string[] {
  const files = readdirSync(source);
  const faults: string[] = [];
  const module = kind === 'provider' ? 'provider.ts' : 'plugin.ts';
  if (!files.includes(module)) faults.push(`${folder}: ${module} is missing`);
  if (!files.includes('README.md')) faults.push(`${folder}: README.md is missing`);
  else if (!/^# \S[^]*\n\S/.test(readFileSync(join(source, 'README.md'), 'utf8'))) faults.push(`${folder}: README.md must have a heading and say something`);
  if (kind !== 'provider' && !files.includes('plugin.test.ts')) faults.push(`${folder}: plugin.test.ts is missing`);
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) || parseId(name) === undefined) faults.push(`${folder}: the folder must be named in kebab-case`);
  else if (folderOf(nameOf(name)) !== name && kind === 'guardrail') faults.push(`${folder}: the id made of this name does not lead back to it`);
  return faults;
}

describe('plugin folders', () => {
  test('are found, each with its built module', () => {
    assert.ok(found.length > 40, `only ${found.length}`);
    for (const kind of ['strategy', 'storage', 'exporter', 'secrets', 'provider']) assert.ok(found.some((each) => each.kind === kind), kind);
    none(found.filter((each) => !existsSync(fileURLToPath(each.module))).map(({ folder }) => `${folder} has no built module`));
  });

  test('lie in the folder of a kind', () => {
    const known = Object.values(places).map(({ folder }) => folder).filter((folder) => folder.startsWith('plugins/'));
    assert.deepEqual(foldersIn(join(sourceRoot, 'plugins')).map((name) => `plugins/${name}`).filter((folder) => !known.includes(folder)), []);
  });

  test('have their module, README and test, or are told what is missing', () => none(found.flatMap(fileFaults)));
});

describe('plugin definitions', () => {
  test('keep to the contract of their kind', () => none([...plugins].flatMap(([{ folder, kind }, plugin]) => shapeFaults(kind, plugin).map((fault) => `${folder}: ${fault}`))));

  test('have titles of their own within a kind', () => {
    const titles = [...plugins].map(([{ kind }, { title }]) => `${kind} ${String(title)}`);
    none(titles.filter((title, index) => titles.indexOf(title) !== index));
  });

  test('open nothing and change nothing around them when they are imported', async () => {
    const globals = Object.getOwnPropertyNames(globalThis).sort();
    const environment = JSON.stringify(process.env);
    for (const { module, folder } of found) {
      const resourcesBefore = resources();
      const listenersBefore = listeners();
      // A query makes it a module of its own, evaluated anew.
      const again = await import(`${module}?purity`);
      assert.notEqual(again.default, undefined);
      assert.deepEqual(added(resourcesBefore, resources()), [], `${folder} opens something`);
      assert.equal(listeners(), listenersBefore, `${folder} listens to the process`);
    }
    assert.deepEqual(Object.getOwnPropertyNames(globalThis).sort(), globals);
    assert.equal(JSON.stringify(process.env), environment);
  });
});

describe('the rules for plugins', () => {
  const good = { kind: 'strategy', contract: 1, title: 'T', describe: 'D.', params: { type: 'object', properties: {} }, create: () => ({}) };

  test('find nothing in a good definition', () => assert.deepEqual(shapeFaults('strategy', good), []));

  test('find each fault of a definition', () => {
    const bad: readonly (readonly [change: object, fault: RegExp])[] = [
      [{ kind: 'hook' }, /is of kind hook/], [{ contract: 2 }, /contract 1/], [{ contract: '1' }, /contract 1/], [{ title: '' }, /title must/], [{ describe: ' ' }, /describe must say/],
      [{ describe: 'no stop' }, /sentences/], [{ create: null }, /create must be/], [{ params: undefined }, /JSON Schema/], [{ params: { type: 'array' } }, /type object/],
      [{ params: { type: 'object' } }, /no properties/], [{ params: { type: 'object', properties: {}, required: ['a'] } }, /requires a/],
      [{ params: { type: 'object', properties: { a: { type: 'text' } } } }, /does not compile/], [{ params: { type: 'object', properties: { 'a-b': { type: 'string' } } } }, /must be a word/],
      [{ params: { type: 'object', properties: { a: { type: 'integer', minimum: 5, default: 1 } } } }, /default of a/],
    ];
    for (const [change, fault] of bad) {
      const faults = shapeFaults('strategy', { ...good, ...change });
      assert.ok(faults.some((each) => fault.test(each)), `${JSON.stringify(change)}: ${faults.join('; ')}`);
    }
    assert.equal(shapeFaults('strategy', undefined).length, 1);
    assert.ok(shapeFaults('provider', { ...good, kind: 'provider' }).length >= 3);
  });

  test('notice a module that opens something', () => {
    const before = resources();
    const timer = setTimeout(() => {}, 1000);
    assert.deepEqual(added(before, resources()), ['Timeout']);
    clearTimeout(timer);
  });
});
