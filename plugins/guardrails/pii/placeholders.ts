import { ParameterError } from '@gateway/plugin-sdk';
import { categories } from './categories.js';

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

  /** All placeholders that stand in the texts already, found in one pass. A number may be cut anywhere, so those that begin it count too. */
  placeholdersIn(texts: readonly string[]): ReadonlySet<string> {
    const seen = new Set<string>();
    const pattern = this.#template.split(/(\{(?:category|number)\})/).map((part) => (seen.has(part) ? back[part] : seen.add(part) && first[part]) ?? escaped(part)).join('');
    const found = new Set<string>();
    for (const text of texts) {
      for (const { groups = {} } of text.matchAll(new RegExp(`(?=${pattern})`, 'g'))) {
        const { category = '', number = '' } = groups;
        for (let digits = 1; digits <= number.length; digits += 1) found.add(this.write(category, Number(number.slice(0, digits))));
      }
    }
    return found;
  }

  write(category: string, number: number): string {
    return this.#template.replaceAll('{category}', category).replaceAll('{number}', String(number));
  }
}

const templateCharsMax = 64;
/** Members of a template as a pattern, the first time and again. */
const first: Readonly<Record<string, string>> = { '{category}': `(?<category>${categories.join('|')})`, '{number}': '(?<number>\\d{1,9})' };
const back: Readonly<Record<string, string>> = { '{category}': '\\k<category>', '{number}': '\\k<number>' };
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Numbers the values of one exchange: the same value of a category has the same placeholder wherever it stands. */
export class Numbering {
  readonly #style: PlaceholderStyle;
  readonly #byValue = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #mapping: Mapping;
  readonly #taken: ReadonlySet<string>;

  /** What stands in `texts` already is not given: it must not be taken for ours. */
  constructor(style: PlaceholderStyle, mapping: Mapping = new Map(), texts: readonly string[] = []) {
    this.#style = style;
    this.#mapping = mapping;
    this.#taken = style.isNumbered ? style.placeholdersIn(texts) : new Set();
    for (const [placeholder, value] of mapping) this.#byValue.set(value, placeholder);
  }

  placeholderOf(category: string, value: string): string {
    if (!this.#style.isNumbered) return this.#style.write(category, 0);
    const known = this.#byValue.get(value);
    if (known !== undefined) return known;
    let placeholder: string;
    do {
      const number = (this.#counts.get(category) ?? 0) + 1;
      this.#counts.set(category, number);
      placeholder = this.#style.write(category, number);
      // One that the client wrote itself, or another check of this exchange gave, must not be taken for ours.
    } while (this.#mapping.has(placeholder) || this.#taken.has(placeholder));
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

/** Placeholders, character by character: they begin alike, mostly. */
interface Branch {
  readonly next: Map<number, Branch>;
  /** What the placeholder that ends here stands for. */
  value: string | undefined;
}

/** Finds the placeholders of a mapping in text, also where a stream cut them. */
export class Restoration {
  readonly #root: Branch = { next: new Map(), value: undefined };

  constructor(mapping: ReadonlyMap<string, string>) {
    for (const [placeholder, value] of mapping) {
      let branch = this.#root;
      for (let at = 0; at < placeholder.length; at += 1) {
        const code = placeholder.charCodeAt(at);
        let next = branch.next.get(code);
        if (next === undefined) branch.next.set(code, next = { next: new Map(), value: undefined });
        branch = next;
      }
      branch.value = value;
    }
  }

  /** In order; `settled` is where a placeholder may begin that is not all there. */
  find(text: string, isLast: boolean): { readonly places: readonly Place[]; readonly settled: number } {
    const places: Place[] = [];
    const { length } = text;
    for (let from = 0; from < length;) {
      let branch = this.#root.next.get(text.charCodeAt(from));
      if (branch === undefined) {
        from += 1;
        continue;
      }
      let at = from + 1;
      let to = from;
      let value = '';
      for (;;) {
        if (branch.value !== undefined) {
          to = at;
          value = branch.value;
        }
        // The longest one counts, so a longer one that may yet come has to be waited for.
        if (at === length && !isLast && branch.next.size > 0) return { places, settled: from };
        const next: Branch | undefined = at < length ? branch.next.get(text.charCodeAt(at)) : undefined;
        if (next === undefined) break;
        branch = next;
        at += 1;
      }
      if (to > from) places.push({ from, to, value });
      from = Math.max(to, from + 1);
    }
    return { places, settled: length };
  }
}
