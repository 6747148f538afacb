// The order in which rows arrive: each has a later time than all before it, whoever wrote them and whatever became of the clock. A row of the store has the last
// time, and whoever writes changes it in the same write, which holds only if nobody else was faster. So what is behind a time has arrived after it.

import type { Host, Row, Store, Write } from '@gateway/plugin-sdk';

const key = 'sequence';
/** A clock that was set back by more was wrong before: times go on from where it is now. */
export const setBackMsMax = 3_600_000;
/** Others that were faster, one after the other. */
const triesMax = 32;

const timeOf = (row: Row | undefined): number => (row === undefined ? 0 : Number(new TextDecoder().decode(row.value)) || 0);

/** Of the last row, whoever wrote it; zero: there was none. */
export const lastArrivalMs = async (store: Store): Promise<number> => timeOf(await store.get(key));

interface Last {
  readonly version: number;
  readonly atMs: number;
}

export class Arrivals {
  #last: Last = { version: 0, atMs: 0 };

  constructor(readonly host: Pick<Host, 'now'>, readonly store: Store) {}

  /** Writes what `writesAt` gives for the time of the row; it is asked again when another writer was faster. */
  async write(writesAt: (atMs: number) => Promise<readonly Write[]>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { version, atMs: lastMs } = this.#last;
      const nowMs = Math.max(0, Math.floor(this.host.now()));
      const atMs = nowMs <= lastMs && lastMs - nowMs < setBackMsMax ? lastMs + 1 : nowMs;
      const claim: Write = { op: 'put', key, value: new TextEncoder().encode(String(atMs)), ifVersion: version };
      if (await this.store.write([...await writesAt(atMs), claim])) {
        this.#last = { version: version + 1, atMs };
        return;
      }
      const row = await this.store.get(key);
      if ((row?.version ?? 0) === version || tries === triesMax) throw new Error('the log took no row: another one has its place');
      this.#last = { version: row?.version ?? 0, atMs: timeOf(row) };
    }
  }
}
