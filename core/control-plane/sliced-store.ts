// The store as control calls read it: a long range gives others their turn now and then, so that the list of a hundred thousand keys holds up no other call.

import type { Maybe, RangeOptions, Row, Store, Write } from '@gateway/plugin-sdk';
import { nextTurn } from './next-turn.js';

const rowsOfTurn = 250;

export class SlicedStore implements Store {
  constructor(readonly store: Store) {}

  get(key: string): Maybe<Row | undefined> {
    return this.store.get(key);
  }

  async *range(options: RangeOptions): AsyncGenerator<Row> {
    let rows = 0;
    for await (const row of this.store.range(options)) {
      rows += 1;
      if (rows % rowsOfTurn === 0) await nextTurn();
      yield row;
    }
  }

  write(batch: readonly Write[]): Promise<boolean> {
    return this.store.write(batch);
  }

  revision(): Maybe<number> {
    return this.store.revision();
  }
}
