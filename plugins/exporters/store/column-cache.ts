/** What was read lately, by name, as many bytes as it may take; what was not asked for the longest goes first. */
export class ColumnCache {
  readonly #held = new Map<string, { readonly value: unknown; readonly bytes: number }>();
  #bytes = 0;

  constructor(readonly bytesMax: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  get(name: string): unknown {
    const found = this.#held.get(name);
    if (found === undefined) return undefined;
    this.#held.delete(name);
    this.#held.set(name, found);
    return found.value;
  }

  set(name: string, value: unknown, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(name)?.bytes ?? 0);
    this.#held.delete(name);
    this.#held.set(name, { value, bytes });
    for (const [oldest, held] of this.#held) {
      if (this.#bytes <= this.bytesMax) return;
      this.#held.delete(oldest);
      this.#bytes -= held.bytes;
    }
  }
}
