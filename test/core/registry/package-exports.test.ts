import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportedPath } from '../../../core/registry/package-exports.js';

test('exports lead a path where Node would for an import', () => {
  const exports = {
    './package.json': './package.json', './a/first': './dist/a.js', './a/*': './dist/a/*.js', './a/deep/*': { types: './x.d.ts', require: './no.cjs', import: { node: './node/*.js', default: './web/*.js' } },
    './b/*.js': ['./b/*.mjs', './c.js'], './none': null, './a/gone/*': null, './out': '../out.js', './up': './dist/../../x.js', './modules': './node_modules/x.js', './bare': 'other', './only': { require: './x.cjs' },
    './twice/*': './*/*.js',
  };
  for (const [place, path] of [
    ['./a/first', './dist/a.js'], ['./a/second', './dist/a/second.js'], ['./a/deep/x', './node/x.js'], ['./b/x.js', './b/x.mjs'], ['./twice/x', './x/x.js'],
    ['./none', undefined], ['./a/gone/x', undefined], ['./out', undefined], ['./up', undefined], ['./modules', undefined], ['./bare', undefined], ['./only', undefined], ['./c', undefined], ['./a/', undefined],
  ] as const) assert.equal(exportedPath(exports, place), path, place);
  for (const other of ['./index.js', undefined, null, ['./index.js'], { import: './index.js' }]) assert.equal(exportedPath(other, './strategy/first'), undefined);
});
