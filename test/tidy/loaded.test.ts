// What each thread of a gateway loads when it starts: code that it never runs is memory all the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, it } from 'node:test';

const root = new URL('../../', import.meta.url);
/** As built: what is imported as a type only is gone. import() is not there at the start. */
const staticImport = /^(?:import|export)\s(?:[\w*{}\s,$]*?\sfrom\s+)?['"](\.[^'"]+)['"];/gm;

function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    for (const [, specifier = ''] of readFileSync(new URL(path, root), 'utf8').matchAll(staticImport)) loaded.add(posix.join(posix.dirname(path), specifier));
  }
  return loaded;
}

const controlCalls = 'core/control-plane/resources/index.js';
const modelCalls = 'core/pipeline/request/run.js';
const logQueries = 'plugins/exporters/store/reader.js';

describe('what threads load', () => {
  it('leaves the code of control calls to the thread that runs them', () => {
    assert.ok(loadedBy('core/control-thread-entry.js').has(controlCalls));
    for (const entry of ['core/main.js', 'core/app.js', 'core/thread-entry.js', 'core/log-thread-entry.js', 'core/log-reader-entry.js']) assert.ok(!loadedBy(entry).has(controlCalls), entry);
  });

  it('leaves the code of calls to models to the threads that serve them', () => {
    for (const entry of ['core/app.js', 'core/thread-entry.js']) assert.ok(loadedBy(entry).has(modelCalls), entry);
    for (const entry of ['core/log-thread-entry.js', 'core/log-reader-entry.js']) assert.ok(!loadedBy(entry).has(modelCalls), entry);
  });

  it('leaves queries of the log to who asks them', () => {
    assert.ok(!loadedBy('plugins/exporters/store/plugin.js').has(logQueries));
  });
});
