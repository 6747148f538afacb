// Whose turn it is: a row that says until when. One of all threads and processes on the same store does what it is about, the others leave it to that one.

import type { Host, Store } from '@gateway/plugin-sdk';

/** One that died gives its turn back after this long. */
const turnMs = 60_000;

export class Turn {
  constructor(readonly host: Host, readonly store: Store, readonly key: string) {}

  /** False: it is another's. */
  async run(work: () => Promise<void>): Promise<boolean> {
    const version = await this.#take();
    if (version === undefined) return false;
    try {
      await work();
    } finally {
      await this.store.write([{ op: 'remove', key: this.key, ifVersion: version }]);
    }
    return true;
  }

  /** The version of the row when it is ours now. */
  async #take(): Promise<number | undefined> {
    const now = this.host.now();
    const row = await this.store.get(this.key);
    if (row !== undefined) {
      const until = Number(new TextDecoder().decode(row.value));
      // A clock that was set back must not keep a turn taken for longer than it lasts.
      if (until > now && until <= now + turnMs) return undefined;
    }
    const version = row?.version ?? 0;
    const value = new TextEncoder().encode(String(now + turnMs));
    return await this.store.write([{ op: 'put', key: this.key, value, ifVersion: version }]) ? version + 1 : undefined;
  }
}
