// A reporter for the test runner, beside the usual one: says at the very end which tests failed, so that nobody has to look for them among
// thousands that passed. Plain JavaScript, as setup.mjs is, which starts it.

import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The rest is counted. */
const linesMax = 20;

/** As people know it: the source, from the root. */
const sourceOf = (file) => relative(root, file).split(sep).join('/')
  .replace(/^dist\/|(?<=^plugin-sdk\/)dist\//, '').replace(/\.js$/, '.ts');

export default async function* closingList(events) {
  const failed = [];
  /** Names from the outermost one, of each file's tests that have begun: those around a test begin before it. */
  const open = new Map();
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      const names = open.get(data.file) ?? [];
      names.length = data.nesting;
      names[data.nesting] = data.name;
      open.set(data.file, names);
    }
    if (type !== 'test:fail' || data.todo !== undefined || data.details.error.failureType === 'subtestsFailed') continue;
    const file = sourceOf(data.file ?? data.name);
    // A file that does not run is a test with the name of the file.
    const isFile = data.nesting === 0 && sourceOf(data.name) === file;
    const names = [...(open.get(data.file) ?? []).slice(0, data.nesting), data.name];
    failed.push({ file, line: isFile ? file : `${file}  ${names.join(' > ')}` });
  }
  if (failed.length === 0) return;
  yield `\n${failed.length} failed:\n`;
  for (const { line } of failed.slice(0, linesMax)) yield `${line}\n`;
  const counts = new Map();
  for (const { file } of failed.slice(linesMax)) counts.set(file, (counts.get(file) ?? 0) + 1);
  if (counts.size > 0) yield `and ${failed.length - linesMax} more: ${[...counts].map(([file, count]) => `${count} in ${file}`).join(', ')}\n`;
}
