import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, test } from 'node:test';
import { docsBlocks, readBlock } from '../../core/cli/docs-blocks.js';
import { entriesBelow, folders, readText, root } from './sources.js';

const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...folders.flatMap(entriesBelow).filter(({ path, isFolder }) => !isFolder && path.endsWith('.md')).map(({ path }) => path)]
  .filter((path) => existsSync(join(root, path)));

/** Code shows examples; its brackets are not links. */
const withoutCode = (text: string): string => text.replace(/^ *```[^]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');

/** Targets of `[text](target)` and of `[text]: target`, addresses of other sites left out. */
function linksIn(text: string): string[] {
  const prose = withoutCode(text);
  return [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g), ...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)]
    .map((match) => match[1] ?? '').filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target));
}

/** As pages are shown on the usual hosts: lower case, no punctuation, dashes for spaces, a number for repeated ones. */
function anchorsIn(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^ *```[^]*?^ *```/gm, '').matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    anchors.add(count === 0 ? plain : `${plain}-${count}`);
  }
  return anchors;
}

function linkFault(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#', 2);
  const target = path === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(path));
  if (target.startsWith('..') || !existsSync(join(root, target))) return `${page}: ${link} leads nowhere`;
  return anchor !== undefined && target.endsWith('.md') && !anchorsIn(readText(target)).has(anchor) ? `${page}: ${link} names no heading there` : undefined;
}

describe('the documentation', () => {
  test('has links that lead somewhere', () => {
    assert.ok(pages.includes('README.md') && pages.includes('CONTRIBUTING.md') && pages.includes('core/README.md'));
    const faults = pages.flatMap((page) => linksIn(readText(page)).flatMap((link) => linkFault(page, link) ?? []));
    assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
  });

  test('tells of each folder of core, and of each file beside the folders', () => {
    const told = new Set(linksIn(readText('core/README.md')).map((link) => posix.join('core', link.split('#', 1)[0] ?? '').replace(/\/$/, '')));
    const there = entriesBelow('core').filter(({ path }) => path.split('/').length === 2 && path !== 'core/README.md').map(({ path }) => path);
    assert.ok(there.length > 30);
    // A folder has its row in the table, or a page of its own.
    assert.deepEqual(there.filter((path) => !told.has(path) && !told.has(`${path}/README.md`)), []);
  });

  test('tells of each bench that can be run', () => {
    const page = readText('bench/README.md');
    const programs = entriesBelow('bench').map(({ path }) => path).filter((path) => path.endsWith('.bench.ts') || (path.endsWith('.ts') && /^\/\/.*`node dist\/bench\//m.test(readText(path))));
    assert.ok(programs.length > 15);
    assert.deepEqual(programs.filter((path) => !page.includes(path.endsWith('.bench.ts') ? `| \`${posix.basename(path)}\` |` : `node dist/${path.slice(0, -3)}.js`)), []);
  });

  for (const { file, name, text } of docsBlocks()) {
    test(`has the ${name} table in ${file} as the code has it`, () => {
      const written = existsSync(join(root, file)) ? readBlock(readText(file), name) : undefined;
      assert.equal(written, text, `${file}: the table between <!-- ${name} --> and <!-- /${name} --> is missing or old; run node dist/core/cli/print-docs.js --write`);
    });
  }
});

describe('the reading of pages', () => {
  test('finds links outside code, relative ones only', () => {
    assert.deepEqual(linksIn('[a](b.md) ![c](d.png "t") `[e](f.md)` [g](https://h.example/i)\n```\n[j](k.md)\n```\n[l]: m.md\n[n](#o)'), ['b.md', 'd.png', '#o', 'm.md']);
  });

  test('turns headings into anchors', () => {
    assert.deepEqual([...anchorsIn('# One two\n## `x-y`: [z](a.md)!\n```\n# no\n```\n# One two\n')], ['one-two', 'x-y-z', 'one-two-1']);
  });

  test('sees dead links and dead anchors', () => {
    assert.equal(linkFault('README.md', 'core/none.md'), 'README.md: core/none.md leads nowhere');
    assert.equal(linkFault('README.md', '../outside.md'), 'README.md: ../outside.md leads nowhere');
    assert.equal(linkFault('README.md', 'core/errors/codes.ts'), undefined);
    assert.equal(linkFault('core/README.md', '../CONTRIBUTING.md#no-such-heading'), 'core/README.md: ../CONTRIBUTING.md#no-such-heading names no heading there');
  });
});
