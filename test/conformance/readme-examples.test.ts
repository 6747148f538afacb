// Every TypeScript example in the SDK's readme compiles against the SDK as it is built, and what it exports is a plugin of its kind.

import { conformCache, conformExporter, conformGuardrail, conformHook, conformSecrets, conformStorage, conformStrategy } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const require = createRequire(import.meta.url);
const sdkFolder = dirname(require.resolve('@gateway/plugin-sdk/package.json'));
const installed = dirname(dirname(require.resolve('typescript/package.json')));
const folder = mkdtempSync(join(tmpdir(), 'gateway-readme-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const readme = readFileSync(join(sdkFolder, 'README.md'), 'utf8');
const examples = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map((match, index) => {
  const before = readme.slice(0, match.index);
  return { name: `example-${index + 1}`, heading: /^#{2,3} (.+)$/m.exec(before.slice(before.lastIndexOf('\n## ') + 1))?.[1] ?? '', line: before.split('\n').length, text: match[1] ?? '' };
});

mkdirSync(join(folder, 'node_modules/@gateway'), { recursive: true });
mkdirSync(join(folder, 'node_modules/@types'));
symlinkSync(sdkFolder, join(folder, 'node_modules/@gateway/plugin-sdk'));
symlinkSync(join(installed, '@types/node'), join(folder, 'node_modules/@types/node'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
for (const { name, text } of examples) writeFileSync(join(folder, `${name}.ts`), text);

const program = ts.createProgram(examples.map(({ name }) => join(folder, `${name}.ts`)), {
  target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: ['node'], typeRoots: [join(folder, 'node_modules/@types')],
  strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, verbatimModuleSyntax: true, noUnusedLocals: true, skipLibCheck: true, rootDir: folder, outDir: folder,
});

program.emit();
const plugins: { readonly heading: string; readonly plugin: any }[] = [];
for (const { name, heading, text } of examples) if (text.includes('export default')) plugins.push({ heading, plugin: (await import(pathToFileURL(join(folder, `${name}.js`)).href)).default });

describe('the readme of the SDK', () => {
  it('has a whole example for each kind of plugin', () => {
    for (const kind of ['Strategy', 'Compatible', 'Provider', 'Guardrail', 'Hook', 'Cache', 'Exporter', 'Storage']) {
      assert.ok(examples.some(({ text }) => text.includes(`export default define${kind}(`)), kind);
    }
  });

  it('has examples that compile', () => {
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
      const example = examples.find(({ name }) => file?.fileName.endsWith(`${name}.ts`) === true);
      const line = file === undefined || start === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
      return `README.md:${(example?.line ?? 0) + line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
    assert.deepEqual(faults, [], `\n  ${faults.join('\n  ')}\n`);
  });

  for (const { heading, plugin } of plugins) {
    it(`has under "${heading}" what the heading says: ${plugin.title}`, () => {
      assert.ok(heading.toLowerCase().includes(plugin.kind), `${heading}: ${plugin.kind}`);
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title !== '' && plugin.describe.endsWith('.'));
    });
  }
});

// What the readme shows passes the suites that the readme shows.
const titled = (title: string): any => plugins.find(({ plugin }) => plugin.title === title)?.plugin ?? assert.fail(`the readme has no example ${title}`);
conformStrategy(titled('Round robin'), {
  cases: [{ tries: ['b'] }, { params: { skip: 2 }, tries: ['a'] }, { answers: { b: 500 }, tries: ['b'] }],
  refuses: [{ params: { skip: 3 }, path: 'skip' }],
});
conformGuardrail(titled('Codeword'), {
  passes: [{ params: { word: 'bluebird' }, text: 'blue bird' }, { params: { word: 'x' }, text: '' }],
  fails: [{ params: { word: 'bluebird' }, text: 'The BlueBird flies' }, { params: { word: 'bluebird' }, text: 'bluebird', stage: 'output' }],
  changes: [{ params: { word: 'bluebird', mask: true }, text: 'A bluebird, a Bluebird', changed: 'A ********, a ********' }],
  refuses: [{ word: '  ' }],
  streams: [
    { params: { word: 'bluebird', mask: true }, text: 'bluebluebird bluebird', streamed: 'blue******** ********' },
    { params: { word: 'bluebird' }, text: 'a bluebird', streamed: undefined },
    { params: { word: 'bluebird' }, text: 'a bluebir', streamed: 'a bluebir' },
  ],
});
conformHook(titled('Quorum'), [
  { results: ['pass', 'fail'], pass: false, deny: false }, { results: ['fail', 'error that counts', 'pass'], pass: false, deny: true },
  { params: { atLeast: 1 }, results: ['error'], pass: true, deny: false }, { results: [], pass: true, deny: false },
]);
conformCache(titled('Recent'));
conformExporter(titled('Webhook'), { url: 'https://hook.example/in' }, {
  host: { fetch: () => ({ status: 204 }) },
  exported: (host) => host.requests.flatMap(({ body }) => JSON.parse(String(body))),
});
let archives = 0;
conformExporter(titled('Archive'), () => ({ path: join(folder, `archive-${archives += 1}.jsonl`), bodies: false }), {
  exported: (_, params) => readFileSync((params as { readonly path: string }).path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line)),
});
conformSecrets(titled('Acme safe'), { safe_url: 'https://safe.example', safe_token: 'token-of-the-safe' }, {
  host: { fetch: ({ url }) => (url.endsWith('/items/openai') ? { body: 'sk-in-the-safe' } : { status: 404 }) },
  values: { openai: 'sk-in-the-safe' }, absent: 'nothing', refused: ['../openai'],
});
conformStorage(titled('Map'), {});
