import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ProviderPlugin } from '../src/kinds/provider.js';
import { fixtureResults } from './conform-provider.js';
import { readFixtures } from './fixtures.js';

export interface WrittenFixture {
  readonly name: string;
  /** Files of the case that are new or changed; none when all were as they are now. */
  readonly changed: readonly string[];
}

/**
 * Writes what the provider makes of each case below `folder`: `upstream-request.json`, and `response.json` or `response.sse.json`. A case needs
 * `request.json` and the provider's answer, from its documentation. What is written is what the provider does, right or wrong: read it.
 */
export function writeFixtures(plugin: ProviderPlugin, folder: string): WrittenFixture[] {
  return readFixtures(folder).map((fixture) => {
    const { upstreamRequest, response, events } = fixtureResults(plugin, fixture);
    const files: Readonly<Record<string, unknown>> = { 'upstream-request.json': upstreamRequest, 'response.json': response, 'response.sse.json': events };
    const changed = Object.entries(files).filter(([file, value]) => value !== undefined && isWritten(join(folder, fixture.name, file), value)).map(([file]) => file);
    return { name: fixture.name, changed };
  });
}

/** A file that says the same keeps its layout. */
function isWritten(path: string, value: unknown): boolean {
  if (existsSync(path) && isDeepStrictEqual(JSON.parse(readFileSync(path, 'utf8')), value)) return false;
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
  return true;
}
