import type { Json } from '@gateway/plugin-sdk';

/** What was found where, without what it was. */
export class Tally {
  /** Most texts have nothing to be counted. */
  #counts: Map<string, Map<string, number>> | null = null;
  count = 0;

  add(category: string, place: string): void {
    this.count += 1;
    const counts = this.#counts ??= new Map<string, Map<string, number>>();
    const places = counts.get(category);
    if (places === undefined) counts.set(category, new Map([[place, 1]]));
    else places.set(place, (places.get(place) ?? 0) + 1);
  }

  categories(): string[] {
    return this.#counts === null ? [] : [...this.#counts.keys()].sort();
  }

  data(explanation: string): Json {
    const entities = this.categories().flatMap((category) => [...this.#counts?.get(category) ?? []].map(([place, count]) => ({ category, place, count })));
    return { detectedCategories: this.categories(), entities, explanation };
  }
}
