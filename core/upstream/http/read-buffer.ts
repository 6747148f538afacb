// The one buffer that all sockets of a thread read into. What is in it is lent: it stays as it is until the running callback of the socket is
// over and what it queued with process.nextTick and as promise jobs has run; the next read of any socket may overwrite it. Node reads again
// only when that queue is empty, for TLS and for several reads in one turn of the loop as well (test/core/upstream/http/sockets.test.ts).

/** One read of a socket brings at most so much. */
export const readBytesMax = 65_536;

export const readBuffer: Buffer = Buffer.allocUnsafeSlow(readBytesMax);

/** A power of two. */
const viewCount = 256;
/** Views that were lent, by their length. The pieces of streams are of few lengths, and a view costs more to make than to find. */
const views: Buffer[] = new Array<Buffer>(viewCount).fill(readBuffer.subarray(0, 0));
const viewsFrom = new Int32Array(viewCount);
const viewsTo = new Int32Array(viewCount);

/** The bytes of `readBuffer` between `from` and `to`; the view may be lent again, like what it shows. */
export function lend(from: number, to: number): Buffer {
  const slot = (to - from) & (viewCount - 1);
  if (viewsFrom[slot] !== from || viewsTo[slot] !== to) {
    viewsFrom[slot] = from;
    viewsTo[slot] = to;
    views[slot] = readBuffer.subarray(from, to);
  }
  return views[slot] as Buffer;
}

let isPoisoned = false;
let isPlanned = false;

/** For tests: what was lent is overwritten as soon as nobody may look at it any more, so that whoever keeps it is found out. */
export function poisonReads(): void {
  isPoisoned = true;
}

/** Called with each read. */
export function onLent(): void {
  if (!isPoisoned || isPlanned) return;
  isPlanned = true;
  setImmediate(poison);
}

function poison(): void {
  isPlanned = false;
  readBuffer.fill('!lent!');
}
