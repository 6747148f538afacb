// Where a member stands in a JSON text, for messages that name the line to change. Runs when a package is refused.

/** Line of the member that `path` leads to; of the innermost one that is there, when it is missing. The text must be JSON. Counts from 1. */
export function lineOfMember(text: string, path: readonly string[]): number {
  const reader = new MemberReader(text);
  return lineAt(text, reader.find(path));
}

/** Line of the character at `at`. */
export const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

/** Line of the first place where `needle` stands; undefined when it does not. */
export function lineOfText(text: string, needle: string): number | undefined {
  const at = text.indexOf(needle);
  return at === -1 ? undefined : lineAt(text, at);
}

const closers: ReadonlySet<string> = new Set(['}', ']']);

class MemberReader {
  #at = 0;

  constructor(readonly text: string) {}

  find(path: readonly string[]): number {
    let found = this.#blank();
    for (const name of path) {
      const place = this.#enter(name);
      if (place === undefined) return found;
      found = place;
    }
    return found;
  }

  /** Stands at a value: goes into it, to the value of the member or the list item; gives the place of its name. */
  #enter(name: string): number | undefined {
    const opener = this.text[this.#blank()];
    if (opener !== '{' && opener !== '[') return undefined;
    this.#at += 1;
    for (let index = 0; !closers.has(this.text[this.#blank()] ?? '}'); index += 1) {
      const place = this.#at;
      let isIt = String(index) === name;
      if (opener === '{') {
        isIt = JSON.parse(this.#string()) === name;
        this.#blank();
        this.#at += 1;
        this.#blank();
      }
      if (isIt) return place;
      this.#skip();
      if (this.text[this.#blank()] === ',') this.#at += 1;
    }
    return undefined;
  }

  #skip(): void {
    let depth = 0;
    do {
      const character = this.text[this.#blank()];
      if (character === undefined) return;
      if (character === '"') this.#string();
      else if (character === '{' || character === '[') { depth += 1; this.#at += 1; }
      else if (closers.has(character)) { depth -= 1; this.#at += 1; }
      else this.#at += 1;
    } while (depth > 0 || !/[,\]}\s]/.test(this.text[this.#at] ?? ','));
  }

  #string(): string {
    const from = this.#at;
    for (this.#at += 1; this.#at < this.text.length && this.text[this.#at] !== '"'; this.#at += 1) if (this.text[this.#at] === '\\') this.#at += 1;
    this.#at += 1;
    return this.text.slice(from, this.#at);
  }

  #blank(): number {
    while (/\s/.test(this.text[this.#at] ?? '')) this.#at += 1;
    return this.#at;
  }
}
