const marker: unique symbol = Symbol.for('gateway.binary-answer');

/** An answer that is not JSON: sound, an image. Given by an endpoint's `response`. */
export class BinaryAnswer {
  readonly [marker] = true;
  constructor(readonly contentType: string, readonly bytes: Uint8Array) {}
}

/** Known by its marker: two copies of this package agree. */
export const isBinaryAnswer = (value: unknown): value is BinaryAnswer => typeof value === 'object' && value !== null && marker in value;
