import { defineStorage, type RangeOptions, type Row, type Storage, type Store, type Write } from '@gateway/plugin-sdk';
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { checkStoreName } from '../common/check-batch.js';
import { faultOfFile } from './check-file.js';
import { LmdbStore } from './lmdb-store.js';
import { makeFiles } from './make-files.js';
import { isNoRoom, refusedWrite } from './refused-write.js';

const folderMode = 0o700;

/**
 * One for each file in a thread, whoever opens it and under whatever path: to open one takes the lock of writers, and a commit of this thread that
 * holds the lock waits for the thread.
 */
interface Environment {
  readonly file: string;
  readonly store: LmdbStore;
  holders: number;
  /** Under way. */
  readonly writes: Set<Promise<boolean>>;
}

/** By device and inode of the file. */
const environments = new Map<string, Environment>();

class LmdbStorage implements Storage {
  readonly #handles = new Set<Handle>();

  constructor(readonly path: string) {}

  open(name: string): Store {
    checkStoreName(name);
    const handle: Handle = new Handle(openFolder(join(this.path, name)), () => this.#handles.delete(handle));
    this.#handles.add(handle);
    return handle;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#handles].map((handle) => handle.close()));
  }
}

/** One opening of a name; closing it leaves the others be. */
class Handle implements Store {
  readonly store: LmdbStore;
  #isClosed = false;

  constructor(readonly environment: Environment, readonly onClosed: () => void) {
    this.store = environment.store;
  }

  get(key: string): Row | undefined { return this.#live().get(key); }
  range(options: RangeOptions): AsyncIterable<Row> { return this.#live().range(options); }
  count(range: Pick<RangeOptions, 'from' | 'to'>): number { return this.#live().count(range); }

  async write(batch: readonly Write[]): Promise<boolean> {
    const { writes } = this.environment;
    const written = this.#live().write(batch);
    writes.add(written);
    try {
      return await written;
    } finally {
      writes.delete(written);
    }
  }

  revision(): number { return this.#live().revision(); }
  size(): number { return this.#live().size(); }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClosed();
    const { environment } = this;
    environment.holders -= 1;
    // Until then who opens the file again gets this environment, and not one that waits for the lock of these.
    while (environment.holders === 0 && environment.writes.size > 0) await Promise.allSettled(environment.writes);
    if (environment.holders > 0) return;
    if (environments.get(environment.file) === environment) environments.delete(environment.file);
    await environment.store.close();
  }

  /** Others may have the environment open still. */
  #live(): LmdbStore {
    if (this.#isClosed) throw new Error('the store is closed');
    return this.store;
  }
}

function openFolder(folder: string): Environment {
  makeFolder(folder);
  const path = join(folder, 'data.mdb');
  let fault: string | undefined;
  let undo = (): void => {};
  try {
    fault = faultOfFile(path);
    if (fault === undefined) {
      undo = makeFiles(folder);
      const { dev, ino } = statSync(path, { bigint: true });
      const file = `${dev}:${ino}`;
      const environment = environments.get(file) ?? { file, store: new LmdbStore(folder), holders: 0, writes: new Set<Promise<boolean>>() };
      environment.holders += 1;
      environments.set(file, environment);
      return environment;
    }
  } catch (thrown) {
    undo();
    if (isNoRoom(thrown)) throw refusedWrite(folder, thrown);
    fault = reasonOf(thrown);
  }
  throw new Error(`${path} cannot be opened: ${fault}; restore it from a backup, or move ${folder} away to begin with an empty one`);
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
