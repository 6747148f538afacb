import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FolderWatch } from '../../../core/registry/folder-watch.js';
import { temporaryFolder } from './plugin-package.js';

const root = temporaryFolder();
const open: FolderWatch[] = [];
after(() => { for (const watch of open) watch.close(); });

class Watched {
  changes = 0;
  readonly faults: string[] = [];
  readonly watch: FolderWatch;
  #wake: () => void = () => undefined;

  constructor(readonly folder: string) {
    this.watch = new FolderWatch(folder, { onChange: () => { this.changes += 1; this.#wake(); }, onFault: (reason) => { this.faults.push(reason); } });
    open.push(this.watch);
  }

  /** Resolves when a change is told after `work`. */
  async after(work: () => void): Promise<void> {
    const told = new Promise<void>((resolve) => { this.#wake = resolve; });
    work();
    // The watches do not keep the process alive, as they must not; the test has to.
    const alive = setInterval(() => undefined, 1_000);
    await told;
    clearInterval(alive);
  }
}

let made = 0;
function newFolder(): string {
  const folder = join(root, `f${made += 1}`);
  mkdirSync(join(folder, 'dist/inner'), { recursive: true });
  writeFileSync(join(folder, 'dist/inner/a.js'), '');
  return folder;
}

describe('a watched folder', { timeout: 120_000 }, () => {
  it('tells of many changes at once, in folders below and in such that are new', async () => {
    const folder = newFolder();
    const watched = new Watched(folder);
    await watched.after(() => { for (let count = 0; count < 50; count += 1) writeFileSync(join(folder, 'dist/inner/a.js'), String(count)); });
    assert.equal(watched.changes, 1);
    await watched.after(() => mkdirSync(join(folder, 'dist/new')));
    await watched.after(() => writeFileSync(join(folder, 'dist/new/b.js'), ''));
    assert.equal(watched.changes, 3);
  });

  it('tells of what replaces a folder that was removed or moved away, the watched one itself too', async () => {
    const folder = newFolder();
    const watched = new Watched(folder);
    await watched.after(() => rmSync(join(folder, 'dist'), { recursive: true }));
    await watched.after(() => mkdirSync(join(folder, 'dist')));
    await watched.after(() => writeFileSync(join(folder, 'dist/a.js'), ''));
    await watched.after(() => renameSync(folder, `${folder}-old`));
    await watched.after(() => renameSync(`${folder}-old`, folder));
    await watched.after(() => writeFileSync(join(folder, 'dist/a.js'), 'again'));
    assert.deepEqual(watched.faults, []);
  });

  it('says nothing of sources, logs and hidden files', async () => {
    const folder = newFolder();
    const watched = new Watched(folder);
    for (const name of ['a.ts', 'b.log', '.c', 'd.js.map', 'node_modules']) writeFileSync(join(folder, name), '');
    await watched.after(() => writeFileSync(join(folder, 'package.json'), '{}'));
    assert.equal(watched.changes, 1);
  });

  it('says nothing when it is closed', async () => {
    const folder = newFolder();
    const [closed, other] = [new Watched(folder), new Watched(folder)];
    closed.watch.close();
    await other.after(() => writeFileSync(join(folder, 'a.js'), ''));
    assert.equal(closed.changes, 0);
  });

  it('that has too many folders is told of once', async () => {
    const folder = newFolder();
    for (let count = 0; count < 300; count += 1) mkdirSync(join(folder, `d${count}`));
    const watched = new Watched(folder);
    await watched.after(() => writeFileSync(join(folder, 'a.js'), ''));
    assert.deepEqual(watched.faults, ['it has more than 256 folders']);
  });
});
