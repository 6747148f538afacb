import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SurfacePlugin } from '../src/kinds/surface.js';

export interface ConformSurfaceOptions {
  /** Files that must be there, from `assets`; default: `index.html`. */
  readonly files?: readonly string[];
}

/** Registers the tests that every surface has to pass. */
export function conformSurface(plugin: SurfacePlugin, options: ConformSurfaceOptions = {}): void {
  describe(`surface plugin: ${plugin.title}`, () => {
    it('is defined with a title, a description and an object schema', () => {
      assert.equal(plugin.kind, 'surface');
      assert.equal(plugin.contract, 1);
      assert.ok(plugin.title.length > 0 && plugin.describe.length > 0);
      assert.equal(plugin.params.type, 'object');
    });

    it('is mounted at a path of its own, without a trailing slash', () => {
      assert.match(plugin.mount, /^(?:\/[a-z0-9][a-z0-9-]*)+$/, 'mount must look like /console');
      assert.ok(!/^\/v\d+(?:\/|$)/.test(plugin.mount), 'mount must not lie over the API');
    });

    it('has its files in a folder', () => {
      assert.equal(plugin.assets.protocol, 'file:');
      assert.ok(plugin.assets.pathname.endsWith('/'), 'assets must end in a slash, so that names are found below it');
      const folder = fileURLToPath(plugin.assets);
      assert.ok(statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true, `${folder} is no folder`);
      for (const file of options.files ?? ['index.html']) assert.ok(statSync(join(folder, file), { throwIfNoEntry: false })?.isFile() === true, `${file} is missing in ${folder}`);
    });
  });
}
