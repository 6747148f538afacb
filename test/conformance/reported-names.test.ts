// What of a request was left out is named in a header that programs read: one parameter, one name, whichever provider leaves it out.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../tidy/sources.js';

const folders = ['providers', 'core/dialect'];

/** The names that are written out in `report` and `omit`, and where. */
function namesIn(folder: string): [name: string, place: string][] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).flatMap((file) => {
    const source = readFileSync(join(root, folder, file), 'utf8');
    return [...source.matchAll(/\.(?:report|omit)\('([^']+)'/g)].map((match): [string, string] => [match[1] ?? '', `${folder}/${file}`]);
  });
}

test('a parameter has one name', () => {
  const byEnd = new Map<string, Map<string, string>>();
  const found = folders.flatMap(namesIn);
  assert.ok(found.length > 100, String(found.length));
  for (const [name, place] of found) {
    assert.match(name, /^[a-z_]+(?:\.[a-z_]+)*$/, `${name} in ${place}: the path in the body, without indexes`);
    const end = name.slice(name.lastIndexOf('.') + 1);
    const names = byEnd.get(end) ?? new Map<string, string>();
    byEnd.set(end, names.set(name, place));
  }
  // Parameters of other endpoints, or of the client's own dialect, that end alike.
  const alike = new Set(['context', 'mode', 'summary', 'description', 'detail']);
  const twice = [...byEnd].filter(([end, names]) => names.size > 1 && !alike.has(end)).map(([, names]) => [...names].map(([name, place]) => `${name} (${place})`).join(', '));
  assert.deepEqual(twice, []);
});
