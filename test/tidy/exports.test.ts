import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isTest, parseSource, sources, type Source } from './sources.js';

/** Functions, classes and constants; types may be there for whoever wants to name them. The start of a line is enough: nothing is exported further in. */
const exported = /^export (?:async )?(?:const|let|function\*?|(?:abstract )?class) ([\w$]+)/gm;
const word = /[\w$]+/g;
/** Kept for what it says. */
const allowed: readonly string[] = ['plugins/caches/semantic/labelled.ts blind'];

/** What somebody else imports stands in another file by its name. */
function unusedExports(all: readonly Source[], isJudged: (source: Source) => boolean): readonly string[] {
  const files = new Map<string, number>();
  for (const { text } of all) for (const each of new Set(text.match(word) ?? [])) files.set(each, (files.get(each) ?? 0) + 1);
  return all.filter(isJudged).flatMap(({ path, text }) => [...text.matchAll(exported)].flatMap(([, name = '']) => (files.get(name) === 1 && !allowed.includes(`${path} ${name}`) ? [`${path} exports ${name}, which no other file names; leave the export out, or all of it`] : [])));
}

describe('exports', () => {
  test('are used by another file', () => {
    const found = unusedExports(sources, ({ path }) => !path.startsWith('plugin-sdk/') && !isTest(path));
    assert.deepEqual(found, [], `\n  ${found.join('\n  ')}\n`);
  });

  test('are judged by name', () => {
    const of = (...texts: readonly string[]): number => unusedExports(texts.map((text, index) => parseSource(`core/${index}.ts`, text)), () => true).length;
    for (const text of ['export const a = 1;', 'export function a() {}', 'export async function* a() {}', 'export abstract class a {}', 'const b = 1;\nexport const a = b + b;']) assert.equal(of(text), 1, text);
    assert.equal(of('export const a = 1;', "import { a } from './0.js';"), 0);
    assert.equal(of('export interface A {}', 'export default 1;'), 0);
  });
});
