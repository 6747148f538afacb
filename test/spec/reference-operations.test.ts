import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { resources } from '../../core/control-plane/resources/index.js';
import { inferenceRoutes } from '../../core/openapi/inference-paths.js';
import { referenceSections } from './control/reference-operations.js';

/** Sections that are still to be built. Whoever builds one takes it off. */
const left = ['A.20'];

const plain = (text: string): string => text.replace(/\{[\w-]+\}/g, '{}');
const served = new Set([
  ...resources.flatMap(({ operations }) => Object.values(operations)).flatMap(({ method, path, aliases }) => [path, ...aliases].map((each) => plain(`${method} /v1${each}`))),
  ...inferenceRoutes().map(({ method, path }) => plain(`${method} ${path}`)),
]);
const counted = Object.entries(referenceSections).map(([section, { about, operations }]) => ({ section, about, all: operations.length, missing: operations.filter((each) => !served.has(plain(each))) }));

describe('the operations of the reference', () => {
  it('are served, but for the sections that are left', () => {
    for (const { section, missing } of counted) if (!left.includes(section)) assert.deepEqual(missing, [], section);
  });

  it('of a section that is left are not all there: it would be left no more', () => {
    for (const { section, missing, all } of counted) if (left.includes(section)) assert.ok(missing.length > 0 && all > 0, `${section} is served: take it off the list`);
  });

  it('are 162, each once', () => {
    const all = Object.values(referenceSections).flatMap(({ operations }) => operations);
    assert.deepEqual([all.length, new Set(all).size], [162, 162]);
  });

  after(() => {
    const sum = (numbers: readonly number[]): number => numbers.reduce((before, each) => before + each, 0);
    const [all, missing] = [sum(counted.map((each) => each.all)), sum(counted.map((each) => each.missing.length))];
    process.stdout.write(`# reference-operations: ${all - missing} of ${all} are served; left are ${counted.filter((each) => each.missing.length > 0).map((each) => `${each.missing.length} of ${each.about} (${each.section})`).join(', ')}\n`);
  });
});
