// Hot: runs for each call.
// Replacements on bytes, collected in ascending order and applied in one copy. What no replacement covers stays as it is.

const nothing = new Uint8Array(0);

export class Patch {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #texts: string[] = [];
  readonly #values: Uint8Array[] = [];
  #end = 0;

  get isEmpty(): boolean {
    return this.#starts.length === 0;
  }

  remove(start: number, end: number): void {
    this.replace(start, end, '', nothing);
  }

  /** Puts `text` and then `value` where [start, end) was. Each start is at or behind the end of the one before. */
  replace(start: number, end: number, text: string, value: Uint8Array): void {
    if (start < this.#end || end < start) throw new RangeError('replacements must ascend and not overlap');
    this.#end = end;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#texts.push(text);
    this.#values.push(value);
  }

  /** A new buffer; `bytes` itself is left alone. */
  apply(bytes: Buffer): Buffer {
    const count = this.#starts.length;
    let length = bytes.length;
    for (let index = 0; index < count; index += 1) {
      length += this.#start(index) - this.#stop(index) + Buffer.byteLength(this.#text(index)) + this.#value(index).length;
    }
    const patched = Buffer.allocUnsafe(length);
    let from = 0;
    let at = 0;
    for (let index = 0; index < count; index += 1) {
      const start = this.#start(index);
      if (start > from) at += bytes.copy(patched, at, from, start);
      from = this.#stop(index);
      const text = this.#text(index);
      if (text !== '') at += patched.write(text, at);
      const value = this.#value(index);
      if (value.length > 0) {
        patched.set(value, at);
        at += value.length;
      }
    }
    if (from < bytes.length) bytes.copy(patched, at, from);
    return patched;
  }

  // The four lists have the same length; the fallbacks are never reached.
  #start(index: number): number { return this.#starts[index] ?? 0; }
  #stop(index: number): number { return this.#ends[index] ?? 0; }
  #text(index: number): string { return this.#texts[index] ?? ''; }
  #value(index: number): Uint8Array { return this.#values[index] ?? nothing; }
}
