import { defineStorage, type Storage, type Store } from '@gateway/plugin-sdk';
import { checkStoreName } from '../common/check-batch.js';
import { MemoryStore } from './memory-store.js';

/** Rows in the heap of one instance. */
class MemoryStorage implements Storage {
  readonly #stores = new Map<string, MemoryStore>();

  open(name: string): Store {
    checkStoreName(name);
    let store = this.#stores.get(name);
    if (store === undefined) this.#stores.set(name, store = new MemoryStore());
    return store;
  }

  close(): void {
    this.#stores.clear();
  }
}

export default defineStorage({
  title: 'Memory',
  describe: 'Keeps rows in the memory of one thread and forgets them when it is closed. For tests and trials.',
  params: { type: 'object', properties: {} },
  isShared: false,
  create: () => new MemoryStorage(),
});
