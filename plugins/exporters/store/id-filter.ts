// A set of ids that may say yes of one that is not in it, and never no of one that is (a Bloom filter): so a look for an id reads few blocks.

const bitsPerId = 12;
const hashes = 6;

export function packIdFilter(ids: ReadonlySet<string>): Uint8Array {
  const bits = new Uint8Array(Math.max(8, Math.ceil((ids.size * bitsPerId) / 8)));
  for (const id of ids) {
    const [first, second] = hashesOf(id);
    for (let turn = 0; turn < hashes; turn += 1) {
      const bit = place(first, second, turn, bits.length);
      bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7));
    }
  }
  return bits;
}

export function mayHave(bits: Uint8Array, id: string): boolean {
  // A filter that was damaged says nothing.
  if (bits.length === 0) return true;
  const [first, second] = hashesOf(id);
  for (let turn = 0; turn < hashes; turn += 1) {
    const bit = place(first, second, turn, bits.length);
    if (((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

const place = (first: number, second: number, turn: number, bytes: number): number => (first + turn * second) % (bytes * 8);

/** FNV-1a, from two beginnings. */
function hashesOf(id: string): readonly [number, number] {
  let first = 0x811c9dc5;
  let second = 0x01000193 ^ id.length;
  for (let index = 0; index < id.length; index += 1) {
    const unit = id.charCodeAt(index);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ (unit + 0x9e37), 0x85ebca6b);
  }
  return [first >>> 0, (second | 1) >>> 0];
}
