// Where rows of logs lie: those of callers with a key, and apart from them, in a small share of the room, those of callers without one. Nobody
// without a key can push out the record of somebody who has one.

export interface Partition {
  /** Before the time in each key. */
  readonly prefix: string;
  /** The keys: `from <= key < to`. */
  readonly from: string;
  readonly to: string;
}

export const ofCallers: Partition = { prefix: '', from: '0', to: ':' };
export const ofRefused: Partition = { prefix: 'r', from: 'r', to: 's' };
/** Both, for readers that want all there is: `from <= key < to`. */
export const allRows = { from: ofCallers.from, to: ofRefused.to } as const;

/** Of all the room, and in bytes: what is kept of callers without a key. */
const refusedShare = 16;
const refusedBytesMax = 2 * 1024 * 1024;
export const refusedRoom = (bytesMax: number): number => Math.min(refusedBytesMax, Math.floor(bytesMax / refusedShare));

/** Sorts as text the way the times sort, up to the year 2286. */
export const timeKey = (atMs: number): string => String(Math.max(0, Math.floor(atMs))).padStart(13, '0');
