import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { entriesBelow, folders, readText, root } from './sources.js';

const allowedAtTop = [
  'package.json', 'package-lock.json', 'tsconfig.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'CONTRIBUTING.md', 'node_modules', 'dist', 'data', ...folders,
];
/** Words that say nothing about what is inside. */
const empty = ['util', 'utils', 'helper', 'helpers', 'misc', 'manager', 'managers', 'stuff', 'impl'];
/** Files that carry the name their readers look for. */
const conventional = ['README.md', 'LICENSE', 'NOTICE'];

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const codeName = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.cases|\.bench|\.d)?\.(?:ts|mjs|js)$/;

/** Recorded traffic keeps the names its folder's readme gives. */
const isRecorded = (path: string): boolean => path.includes('/fixtures/');
const entries = folders.flatMap(entriesBelow).filter(({ path }) => !isRecorded(path));
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const isWellNamed = (name: string, isFolder: boolean): boolean => isFolder
  ? kebab.test(name)
  : conventional.includes(name) || name.startsWith('.') || (/\.(?:ts|mjs|js)$/.test(name) ? codeName.test(name) : /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name));
const saysNothing = (name: string): boolean => name.split(/[-.]/).some((word) => empty.includes(word.toLowerCase()));

/** Git leaves these out, so they are nobody's source. Only the plain forms that .gitignore here uses. */
function isIgnored(name: string): boolean {
  return readText('.gitignore').split('\n').map((line) => line.trim().replace(/^\//, '').replace(/\/$/, '')).filter((line) => line !== '' && !line.startsWith('#') && !line.includes('/'))
    .some((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name));
}

describe('names', () => {
  test('of files and folders are kebab-case', () => {
    assert.ok(entries.length > 100);
    assert.deepEqual(entries.filter(({ path, isFolder }) => !isWellNamed(nameOf(path), isFolder)).map(({ path }) => path), []);
  });

  test('of files and folders say what is inside', () => {
    assert.deepEqual(entries.filter(({ path }) => saysNothing(nameOf(path))).map(({ path }) => path), []);
  });

  test('at the top level are the agreed ones', () => {
    const others = readdirSync(root).filter((name) => !allowedAtTop.includes(name) && !name.startsWith('.') && !isIgnored(name));
    assert.deepEqual(others, []);
  });

  test('are judged rightly', () => {
    for (const name of ['request-head.ts', 'a.test.ts', 'stream.bench.ts', 'setup.mjs', 'README.md', 'budget.json', '.keep']) assert.ok(isWellNamed(name, false), name);
    for (const name of ['requestHead.ts', 'Request.ts', 'request_head.ts', 'a..ts', 'notes.MD']) assert.ok(!isWellNamed(name, false), name);
    assert.ok(isWellNamed('together-ai', true) && !isWellNamed('togetherAi', true));
    for (const name of ['utils', 'string-utils.ts', 'helpers.ts', 'plan-manager.ts', 'misc']) assert.ok(saysNothing(name), name);
    for (const name of ['common', 'utilisation.ts', 'management.ts']) assert.ok(!saysNothing(name), name);
  });
});
