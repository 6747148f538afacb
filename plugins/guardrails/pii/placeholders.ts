import { ParameterError } from '@gateway/plugin-sdk';

/** Placeholders of one exchange, and what they stand for. */
export type Mapping = Map<string, string>;

/** How a find is written instead: `{category}` and `{number}` are filled in. */
export class PlaceholderStyle {
  readonly #template: string;
  /** Every value has a placeholder of its own. */
  readonly isNumbered: boolean;

  constructor(template: string, isRestored: boolean) {
    if (/["\\\p{Cc}]/u.test(template)) throw new ParameterError('placeholder', 'must not have quotes, backslashes or control characters: it is written into JSON too');
    if (isRestored && !template.includes('{number}')) throw new ParameterError('placeholder', 'needs {number} when values are restored, so that each has a placeholder of its own');
    if (isRestored && template.replace(/\{(?:category|number)\}/g, '') === '') throw new ParameterError('placeholder', 'needs signs around {number}, such as [{category}_{number}]');
    if (template.length > templateCharsMax) throw new ParameterError('placeholder', `must not be longer than ${templateCharsMax} characters`);
    this.#template = template;
    this.isNumbered = template.includes('{number}');
  }

  write(category: string, number: number): string {
    return this.#template.replaceAll('{category}', category).replaceAll('{number}', String(number));
  }
}

const templateCharsMax = 64;

/** Numbers the values of one exchange: the same value of a category has the same placeholder wherever it stands. */
export class Numbering {
  readonly #style: PlaceholderStyle;
  readonly #byValue = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #mapping: Mapping;

  constructor(style: PlaceholderStyle, mapping: Mapping = new Map()) {
    this.#style = style;
    this.#mapping = mapping;
    for (const [placeholder, value] of mapping) this.#byValue.set(value, placeholder);
  }

  placeholderOf(category: string, value: string, isTaken: (placeholder: string) => boolean): string {
    if (!this.#style.isNumbered) return this.#style.write(category, 0);
    const known = this.#byValue.get(value);
    if (known !== undefined) return known;
    let placeholder: string;
    do {
      const number = (this.#counts.get(category) ?? 0) + 1;
      this.#counts.set(category, number);
      placeholder = this.#style.write(category, number);
      // One that the client wrote itself, or another check of this exchange gave, must not be taken for ours.
    } while (this.#mapping.has(placeholder) || isTaken(placeholder));
    this.#byValue.set(value, placeholder);
    this.#mapping.set(placeholder, value);
    return placeholder;
  }
}

export interface Place {
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

/** Finds the placeholders of a mapping in text, also where a stream cut them. */
export class Restoration {
  readonly #mapping: ReadonlyMap<string, string>;
  readonly #placeholders: readonly string[];
  /** Placeholders begin alike, mostly: a cheap look for where one could be. */
  readonly #firsts: string;
  readonly charsMax: number;

  constructor(mapping: ReadonlyMap<string, string>) {
    this.#mapping = mapping;
    this.#placeholders = [...mapping.keys()].sort((left, right) => right.length - left.length);
    this.#firsts = [...new Set(this.#placeholders.map((placeholder) => placeholder.charAt(0)))].join('');
    this.charsMax = this.#placeholders[0]?.length ?? 0;
  }

  /** In order; `settled` is where a placeholder may begin that is not all there. */
  find(text: string, isLast: boolean): { readonly places: readonly Place[]; readonly settled: number } {
    const places: Place[] = [];
    for (let at = this.#next(text, 0); at >= 0; at = this.#next(text, at)) {
      const placeholder = this.#placeholders.find((known) => text.startsWith(known, at));
      // The longest one counts, so a longer one that may yet come has to be waited for.
      if (!isLast && this.#mayBecome(text, at, placeholder)) return { places, settled: at };
      if (placeholder === undefined) {
        at += 1;
        continue;
      }
      places.push({ from: at, to: at + placeholder.length, value: this.#mapping.get(placeholder) ?? '' });
      at += placeholder.length;
    }
    return { places, settled: text.length };
  }

  #next(text: string, from: number): number {
    let first = -1;
    for (const char of this.#firsts) {
      const at = text.indexOf(char, from);
      if (at >= 0 && (first < 0 || at < first)) first = at;
    }
    return first;
  }

  #mayBecome(text: string, at: number, found: string | undefined): boolean {
    const left = text.length - at;
    if (left >= this.charsMax) return false;
    const rest = text.slice(at);
    return this.#placeholders.some((known) => known.length > left && known.length > (found?.length ?? 0) && known.startsWith(rest));
  }
}
