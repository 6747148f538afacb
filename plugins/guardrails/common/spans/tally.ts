import type { Json } from '@gateway/plugin-sdk';

/** What was found where, without what it was. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();
  count = 0;

  add(category: string, place: string): void {
    this.count += 1;
    const places = this.#counts.get(category);
    if (places === undefined) this.#counts.set(category, new Map([[place, 1]]));
    else places.set(place, (places.get(place) ?? 0) + 1);
  }

  categories(): string[] {
    return [...this.#counts.keys()].sort();
  }

  data(explanation: string): Json {
    const entities = this.categories().flatMap((category) => [...this.#counts.get(category) ?? []].map(([place, count]) => ({ category, place, count })));
    return { detectedCategories: this.categories(), entities, explanation };
  }
}
