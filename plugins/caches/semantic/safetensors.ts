// Reads half precision weights: 8 bytes of header length, a JSON header, then the tensors' bytes (little endian).

export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

export class Weights {
  readonly #bytes: Buffer;
  readonly #entries: Readonly<Record<string, Entry>>;
  readonly #dataStart: number;
  readonly #table = halfTable();

  constructor(bytes: Buffer) {
    const headerBytes = Number(bytes.readBigUInt64LE(0));
    this.#bytes = bytes;
    this.#dataStart = 8 + headerBytes;
    this.#entries = JSON.parse(bytes.toString('utf8', 8, this.#dataStart)) as Record<string, Entry>;
  }

  tensor(name: string): Tensor {
    const entry = this.#entries[name];
    if (entry === undefined || entry.dtype !== 'F16') throw new Error(`the model's weights have no half precision tensor ${name}; reinstall the weights`);
    const [from, to] = entry.data_offsets;
    const values = new Float32Array((to - from) / 2);
    for (let index = 0; index < values.length; index += 1) {
      values[index] = this.#table[this.#bytes.readUInt16LE(this.#dataStart + from + 2 * index)] ?? 0;
    }
    return { shape: entry.shape, values };
  }
}

/** All 65,536 half precision numbers (IEEE 754 binary16) as single precision ones. */
function halfTable(): Float32Array {
  const table = new Float32Array(65_536);
  for (let bits = 0; bits < table.length; bits += 1) {
    const sign = bits >>> 15 === 1 ? -1 : 1;
    const exponent = (bits >>> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 0) table[bits] = sign * 2 ** -24 * fraction;
    else if (exponent === 31) table[bits] = fraction === 0 ? sign * Infinity : NaN;
    else table[bits] = sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
  }
  return table;
}

/** Rows become columns: the weights are kept as (out, in), the graph multiplies by (in, out). */
export function transposed(tensor: Tensor): Tensor {
  const [rows = 0, columns = 0] = tensor.shape;
  const values = new Float32Array(tensor.values.length);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) values[column * rows + row] = tensor.values[row * columns + column] ?? 0;
  }
  return { shape: [columns, rows], values };
}
