import { defineStorage, type RangeOptions, type Row, type Storage, type Store, type Write } from '@gateway/plugin-sdk';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { checkStoreName } from '../common/check-batch.js';
import { faultOfFile } from './check-file.js';
import { LmdbStore } from './lmdb-store.js';
import { makeFiles } from './make-files.js';
import { isNoRoom, refusedWrite } from './refused-write.js';

const folderMode = 0o700;

/** One environment for each name, shared by those who opened it. */
class LmdbStorage implements Storage {
  readonly #open = new Map<string, { readonly store: LmdbStore; holders: number }>();

  constructor(readonly path: string) {}

  open(name: string): Store {
    checkStoreName(name);
    let entry = this.#open.get(name);
    if (entry === undefined) this.#open.set(name, entry = { store: openFolder(join(this.path, name)), holders: 0 });
    entry.holders += 1;
    return new Handle(entry.store, () => this.#release(name));
  }

  async close(): Promise<void> {
    const entries = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(entries.map(({ store }) => store.close()));
  }

  async #release(name: string): Promise<void> {
    const entry = this.#open.get(name);
    if (entry === undefined) return;
    entry.holders -= 1;
    if (entry.holders > 0) return;
    this.#open.delete(name);
    await entry.store.close();
  }
}

/** One opening of a name; closing it leaves the others be. */
class Handle implements Store {
  #isClosed = false;

  constructor(readonly store: LmdbStore, readonly release: () => Promise<void>) {}

  get(key: string): Row | undefined { return this.store.get(key); }
  range(options: RangeOptions): AsyncIterable<Row> { return this.store.range(options); }
  count(range: Pick<RangeOptions, 'from' | 'to'>): number { return this.store.count(range); }
  write(batch: readonly Write[]): Promise<boolean> { return this.store.write(batch); }
  revision(): number { return this.store.revision(); }
  size(): number { return this.store.size(); }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.release();
  }
}

function openFolder(folder: string): LmdbStore {
  makeFolder(folder);
  const file = join(folder, 'data.mdb');
  let fault: string | undefined;
  let undo = (): void => {};
  try {
    fault = faultOfFile(file);
    if (fault === undefined) {
      undo = makeFiles(folder);
      return new LmdbStore(folder);
    }
  } catch (thrown) {
    undo();
    if (isNoRoom(thrown)) throw refusedWrite(folder, thrown);
    fault = reasonOf(thrown);
  }
  throw new Error(`${file} cannot be opened: ${fault}; restore it from a backup, or move ${folder} away to begin with an empty one`);
}

/** Folder by folder: a recursive mkdir never returns where a file system such as /proc answers ENOENT to each try. */
function makeFolder(folder: string): void {
  try {
    const missing: string[] = [];
    let parent = folder;
    while (statSync(parent, { throwIfNoEntry: false }) === undefined && dirname(parent) !== parent) {
      missing.push(parent);
      parent = dirname(parent);
    }
    for (const next of missing.reverse()) makeOne(next);
    if (!statSync(folder).isDirectory()) throw new Error('it is not a directory');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (thrown) {
    if (isNoRoom(thrown)) throw refusedWrite(folder, thrown);
    throw new Error(`the directory ${folder} cannot be used (${reasonOf(thrown)}); choose one that this user may write to`, { cause: thrown });
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: folderMode });
  } catch (thrown) {
    // Another thread may be faster.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
}

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

export default defineStorage({
  title: 'LMDB',
  describe: 'Keeps rows on the local disk in LMDB files: durable commits, safe against a crash, shared by the threads and processes of one machine.',
  params: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1, description: 'Directory of the files; each store gets a folder in it. Not on a network file system.' } },
    required: ['path'],
  },
  create: ({ path }) => {
    const folder = resolve(path);
    // Here rather than at the first open: a directory that cannot be used is a mistake in the settings.
    makeFolder(folder);
    return new LmdbStorage(folder);
  },
});
