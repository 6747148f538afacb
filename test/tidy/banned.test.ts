import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import ts from 'typescript';
import { entriesBelow, folders, isTest, parseSource, placeOf, readText, sources, walk, type Source } from './sources.js';

interface Ban {
  readonly name: string;
  /** What to do instead. */
  readonly instead: string;
  readonly applies: (source: Source) => boolean;
  readonly matches: (node: ts.Node) => boolean;
}

const always = (): boolean => true;
const isProduct = ({ path }: Source): boolean => /^(?:core|plugins|providers|plugin-sdk\/src)\//.test(path) && !isTest(path);
const isHot = ({ text }: Source): boolean => text.startsWith('// Hot:');
/** Definitions of plugins, and what the worker pool calls. */
const hasDefault = ({ path }: Source): boolean => /^(?:plugins\/.*\/plugin|providers\/.*\/provider)\.ts$/.test(path) || path === 'core/workers/entry.ts';

const hasModifier = (node: ts.Node, kind: ts.SyntaxKind): boolean => ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);
const isFunction = (node: ts.Node): boolean => ts.isFunctionLike(node) || ts.isArrowFunction(node);

const testNames = ['test', 'it', 'describe', 'suite', 't', 'context'];
const leftOut = ['skip', 'todo', 'only'];

/** `test.skip(...)`, `t.todo()`, `it('...', { only: true }, ...)`. */
function isLeftOut(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return leftOut.includes(node.name.text) && ts.isIdentifier(node.expression) && testNames.includes(node.expression.text);
  if (!(ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) || !leftOut.includes(node.name.getText())) return false;
  const call = node.parent.parent;
  return ts.isCallExpression(call) && testNames.includes(call.expression.getText().split('.')[0] ?? '');
}

/** Async functions in hot files that no call and no chunk waits for, and when they run. An entry whose function is gone fails the test. */
const coldFunctions: ReadonlyMap<string, string> = new Map([
  ['core/plan/plan-cache.ts #compile', 'when no plan is cached'],
  ['core/plan/plan-cache.ts #configOf', 'when no plan is cached'],
  ['core/server/listener.ts listen', 'at the start'],
  ['core/server/listener.ts reservePort', 'at the start'],
  ['core/auth/tokens.ts #verify', 'once for each token'],
  ['core/auth/tokens.ts #signed', 'once for each token'],
  ['core/snapshot/snapshot.ts #reload', 'when the stored revision moved'],
  ['core/snapshot/snapshot.ts #read', 'when the stored revision moved'],
  ['core/snapshot/snapshot.ts #readAll', 'when the stored revision moved'],
  ['core/telemetry/queue.ts flush', 'at the end'],
  ['core/telemetry/queue.ts close', 'at the end'],
  ['core/telemetry/queue.ts #exportAll', 'for each batch'],
  ['core/telemetry/queue.ts #export', 'for each batch'],
]);

const functionKey = (node: ts.Node): string =>
  `${node.getSourceFile().fileName} ${(ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) && node.name !== undefined ? node.name.getText() : ''}`;
const isAsync = (node: ts.Node): boolean => isFunction(node) && hasModifier(node, ts.SyntaxKind.AsyncKeyword);

const bans: readonly Ban[] = [
  {
    name: 'any', instead: 'unknown, and a check', matches: (node) => node.kind === ts.SyntaxKind.AnyKeyword,
    // The erased defaults of the plugin kinds: nothing else is assignable in both directions. Tests read the JSON of others.
    applies: ({ path }) => !path.startsWith('plugin-sdk/src/kinds/') && !path.startsWith('test/') && !isTest(path),
  },
  {
    name: 'encodeURIComponent in a provider', instead: 'pathSegment of the SDK, which checks as well', applies: ({ path }) => path.startsWith('providers/') && !isTest(path),
    matches: (node) => ts.isIdentifier(node) && (node.text === 'encodeURIComponent' || node.text === 'encodeURI'),
  },
  { name: 'enum', instead: 'a union of strings', applies: always, matches: (node) => ts.isEnumDeclaration(node) },
  { name: '! after an expression', instead: 'a check', applies: (source) => isProduct(source), matches: (node) => ts.isNonNullExpression(node) },
  {
    name: 'export default', instead: 'a named export', applies: (source) => isProduct(source) && !hasDefault(source),
    matches: (node) => ts.isExportAssignment(node) || hasModifier(node, ts.SyntaxKind.DefaultKeyword),
  },
  {
    name: 'guard for objects of its own', instead: 'isObject of the SDK', applies: (source) => isProduct(source) && source.path !== 'plugin-sdk/src/json.ts',
    matches: (node) => ts.isBinaryExpression(node) && /^typeof (\w+) === 'object' && \1 !== null && !Array\.isArray\(\1\)$/.test(node.getText()),
  },
  {
    name: 'young generation of a thread', instead: 'youngGeneration of core/workers/young-generation.ts: a flag of the process outranks it otherwise',
    applies: (source) => isProduct(source) && source.path !== 'core/workers/young-generation.ts',
    matches: (node) => ts.isPropertyAssignment(node) && node.name.getText() === 'maxYoungGenerationSizeMb',
  },
  {
    name: 'fast-check without the seed', instead: 'test/support/fast-check.ts, which draws what GATEWAY_TEST_SEED says', applies: ({ path }) => path !== 'test/support/fast-check.ts',
    matches: (node) => ts.isImportDeclaration(node) && node.moduleSpecifier.getText() === "'fast-check'",
  },
  { name: 'test that is left out', instead: 'a test that runs', applies: ({ path }) => isTest(path), matches: isLeftOut },
  {
    name: 'async function in a hot file', instead: 'a callback; if no call and no chunk waits for it, list it in coldFunctions', applies: isHot,
    matches: (node) => isAsync(node) && !coldFunctions.has(functionKey(node)),
  },
  { name: 'rest parameters in a hot file', instead: 'named parameters', applies: isHot, matches: (node) => ts.isParameter(node) && node.dotDotDotToken !== undefined && ts.isFunctionLike(node.parent) && !ts.isFunctionTypeNode(node.parent) },
  { name: 'spread arguments in a hot file', instead: 'named arguments', applies: isHot, matches: (node) => ts.isSpreadElement(node) && (ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent)) },
  { name: 'delete in a hot file', instead: 'a field that is set to undefined or null', applies: isHot, matches: (node) => ts.isDeleteExpression(node) },
];

const faultsOf = (source: Source, ban: Ban): string[] => {
  if (!ban.applies(source)) return [];
  const faults: string[] = [];
  walk(source, (node) => { if (ban.matches(node)) faults.push(`${placeOf(source, node)}: ${ban.name}; write ${ban.instead}`); });
  return faults;
};

/** Joined here, so that this file does not hold the words it looks for. */
const word = (left: string, right: string): string => `${left}${right}`;
const bannedWords: readonly (readonly [word: RegExp, instead: string])[] = [
  [new RegExp(`\\b(?:${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('X', 'XX')}|${word('HA', 'CK')})\\b`), 'do it, or open an issue'],
  [new RegExp(word('@ts-', '(?:ignore|nocheck)')), 'fix the type'],
];

function wordFaults(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => bannedWords.flatMap(([banned, instead]) => {
    const match = banned.exec(line);
    return match === null ? [] : [`${path}:${index + 1}: ${match[0]}; ${instead}`];
  }));
}

const none = (faults: readonly string[]): void => assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);

describe('the sources', () => {
  test('include hot files', () => assert.ok(sources.filter(isHot).length >= 5));
  for (const ban of bans) test(`have no ${ban.name}`, () => none(sources.flatMap((source) => faultsOf(source, ban))));
  test('still have every function that is listed as cold', () => {
    const found = new Set<string>();
    for (const source of sources.filter(isHot)) walk(source, (node) => { if (isAsync(node)) found.add(functionKey(node)); });
    none([...coldFunctions.keys()].filter((key) => !found.has(key)).map((key) => `${key} is not an async function in a hot file any more; take it off coldFunctions`));
  });

  test('have no notes about unfinished work and no silenced types', () => {
    const paths = folders.flatMap(entriesBelow).filter(({ path, isFolder }) => !isFolder && /\.(?:ts|mjs|md)$/.test(path)).map(({ path }) => path);
    none(paths.flatMap((path) => wordFaults(path, readText(path))));
  });
});

describe('the rules themselves', () => {
  const isCaught = (name: string, path: string, text: string): boolean => {
    const ban = bans.find((each) => each.name === name);
    assert.ok(ban !== undefined, name);
    return faultsOf(parseSource(path, text), ban).length > 0;
  };
  const hot = (text: string): string => `// Hot: runs for each chunk.\n${text}`;

  test('catch what they name', () => {
    for (const text of ['let a: any;', 'f(b as any);', 'const c = <any>d;', 'type E = Map<string, any>;', 'function f(a: any[]) {}']) assert.ok(isCaught('any', 'core/x.ts', text), text);
    assert.ok(isCaught('enum', 'core/x.ts', 'const enum A { b }'));
    assert.ok(isCaught('encodeURIComponent in a provider', 'providers/x/provider.ts', "model.split('/').map(encodeURIComponent);"));
    assert.ok(isCaught('! after an expression', 'core/x.ts', 'a!.b();'));
    assert.ok(isCaught('guard for objects of its own', 'core/x.ts', "const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);"));
    for (const text of ['export default {};', 'export default function f() {}']) assert.ok(isCaught('export default', 'core/x.ts', text), text);
    assert.ok(isCaught('young generation of a thread', 'core/x.ts', 'new Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: 16 } });'));
    assert.ok(isCaught('fast-check without the seed', 'plugins/caches/x/plugin.test.ts', "import fc from 'fast-check';"));
    for (const text of ["test.skip('x', () => {});", "it.only('x');", 't.todo();', "test('x', { skip: true }, () => {});", "describe.skip('x');"]) {
      assert.ok(isCaught('test that is left out', 'test/x.test.ts', text), text);
    }
    for (const text of ['async function f() {}', 'class A { async f() {} }', 'const f = async () => {};']) assert.ok(isCaught('async function in a hot file', 'core/x.ts', hot(text)), text);
    assert.ok(isCaught('rest parameters in a hot file', 'core/x.ts', hot('function f(...all: unknown[]) {}')));
    assert.ok(isCaught('spread arguments in a hot file', 'core/x.ts', hot('f(...all);')));
    assert.ok(isCaught('delete in a hot file', 'core/x.ts', hot('delete a.b;')));
    assert.equal(wordFaults('x', `${word('TO', 'DO')}: y`).length, 1);
    assert.equal(wordFaults('x', `// ${word('@ts-', 'ignore')}`).length, 1);
  });

  test('leave alone what only looks alike', () => {
    assert.ok(!isCaught('any', 'core/x.ts', "app.any('/*'); const any = 1; // any: as any"));
    assert.ok(!isCaught('any', 'plugin-sdk/src/kinds/x.ts', 'interface P<S = any> {}'));
    assert.ok(!isCaught('! after an expression', 'core/x.ts', 'if (!a && b !== c) d();'));
    assert.ok(!isCaught('export default', 'providers/groq/provider.ts', 'export default {};'));
    assert.ok(!isCaught('test that is left out', 'test/x.test.ts', "const page = { skip: 1 }; parser.skip(3); f({ only: 'x' });"));
    assert.ok(!isCaught('async function in a hot file', 'core/x.ts', 'async function f() {}'));
    assert.ok(!isCaught('async function in a hot file', 'core/server/listener.ts', hot('class L { async listen() {} }')));
    assert.ok(!isCaught('rest parameters in a hot file', 'core/x.ts', hot('const [a, ...b] = c; const d = [...b]; const e = { ...a };')));
    assert.deepEqual(wordFaults('x', 'a todo list'), []);
  });
});
