/**
 * Every way to cut `bytes` into two pieces, the uncut whole first, then one piece a byte.
 * For short inputs: 1 + (length - 1) + 1 variants.
 */
export function* everySplit(bytes: Uint8Array): Generator<Uint8Array[]> {
  yield [bytes];
  for (let cut = 1; cut < bytes.length; cut += 1) yield [bytes.subarray(0, cut), bytes.subarray(cut)];
  if (bytes.length > 2) yield Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));
}

/** `count` random ways to cut `bytes` into pieces of 1 to `pieceMax` bytes, the same for the same seed. */
export function* randomSplits(bytes: Uint8Array, options: { readonly seed: number; readonly count: number; readonly pieceMax: number }): Generator<Uint8Array[]> {
  let state = options.seed >>> 0 || 1;
  const random = (): number => {
    // xorshift32 (Marsaglia 2003): enough for test cuts, and the same everywhere.
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state / 2 ** 32;
  };
  for (let round = 0; round < options.count; round += 1) {
    const pieces: Uint8Array[] = [];
    let at = 0;
    while (at < bytes.length) {
      const length = 1 + Math.floor(random() * options.pieceMax);
      pieces.push(bytes.subarray(at, at + length));
      at += length;
    }
    yield pieces;
  }
}
