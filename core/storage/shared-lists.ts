// Lists of texts that many rows have alike, such as the scopes of keys: rows that are read share one of each, for a hundred thousand copies of a
// hundred texts are half a gigabyte.

/** Different lists that are remembered; of more, each row keeps its own. */
const listsMax = 64;

export class SharedLists {
  readonly #byLength = new Map<number, (readonly unknown[])[]>();
  #count = 0;

  /** The first list that had the same texts, frozen; what is not a list of texts is given back as it is. */
  share(value: unknown): unknown {
    if (!Array.isArray(value)) return value;
    const list: readonly unknown[] = value;
    const known = this.#byLength.get(list.length);
    if (known !== undefined) for (const each of known) if (isSame(each, list)) return each;
    if (this.#count >= listsMax || !list.every((text) => typeof text === 'string')) return list;
    this.#count += 1;
    Object.freeze(list);
    if (known === undefined) this.#byLength.set(list.length, [list]);
    else known.push(list);
    return list;
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}
