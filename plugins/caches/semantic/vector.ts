// Vectors of length 1: their dot product is the cosine of the angle between them.

/** Scales to length 1, in place. A vector without length stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!(squares > 0)) return vector;
  const factor = 1 / Math.sqrt(squares);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) * factor;
  return vector;
}

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

/** A vector in one byte for each dimension: scaled so that its largest component is 127. The scale cancels out in a cosine. */
export function toBytes(vector: Float32Array): Int8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const bytes = new Int8Array(vector.length);
  if (largest === 0) return bytes;
  for (let index = 0; index < vector.length; index += 1) bytes[index] = Math.round(((vector[index] ?? 0) * 127) / largest);
  return bytes;
}

/** The cosine of a vector of length 1 and one kept in bytes, whose own length is given. */
export function byteCosine(vector: Float32Array, bytes: Int8Array, from: number, length: number): number {
  let sum = 0;
  for (let index = 0; index < vector.length; index += 1) sum += (vector[index] ?? 0) * (bytes[from + index] ?? 0);
  return length === 0 ? 0 : sum / length;
}

export function byteLength(bytes: Int8Array): number {
  let squares = 0;
  for (const value of bytes) squares += value * value;
  return Math.sqrt(squares);
}
