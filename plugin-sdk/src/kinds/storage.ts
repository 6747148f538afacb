import type { Host } from '../host.js';
import type { FromSchema, ObjectSchema } from '../schema.js';
import type { Closable, Common, Maybe } from '../shared.js';
import type { Store } from '../store.js';

export interface Storage extends Closable {
  /** Opening a name twice gives stores over the same rows. A `code` as of a refused write says that it may be tried again later. */
  open(name: string): Maybe<Store>;
}

export interface StoragePlugin<S extends ObjectSchema = any> extends Common<'storage', S> {
  /** False: each instance has rows of its own, so the gateway can run one thread only. */
  readonly isShared?: boolean;
  create(params: FromSchema<S>, host: Omit<Host, 'store'>): Maybe<Storage>;
}
