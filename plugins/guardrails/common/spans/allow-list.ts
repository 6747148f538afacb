/** Values that never count: whole ones, and domains with all that is below them. */
export class AllowList {
  readonly #values: ReadonlySet<string>;

  constructor(values: readonly string[]) {
    this.#values = new Set(values.map((value) => value.trim().toLowerCase().replace(/^@/, '')));
  }

  has(value: string): boolean {
    if (this.#values.size === 0) return false;
    const plain = value.toLowerCase();
    if (this.#values.has(plain)) return true;
    const at = plain.lastIndexOf('@');
    if (at < 0) return false;
    for (let domain = plain.slice(at + 1); domain !== ''; domain = domain.includes('.') ? domain.slice(domain.indexOf('.') + 1) : '') if (this.#values.has(domain)) return true;
    return false;
  }
}
