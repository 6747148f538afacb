// Hot: runs for each piece of reasoning of providers that tell it in OpenRouter's form.
// `reasoning_details`: a list of entries, each with a type and an index. In streams an entry comes in pieces, which say both again.

import { isObject, type Json } from '@gateway/plugin-sdk';
import { bytesOf, Fragments } from '../common/members.js';

const growing: ReadonlySet<string> = new Set(['text', 'summary']);
/** What an entry takes with nothing in it. */
const entryBytes = 64;

export class ReasoningDetails {
  readonly #entries: (Fragments | Json)[] = [];
  /** By type and index. */
  readonly #known = new Map<string, Fragments>();

  /** Entries of one delta are never pieces of each other, so that a list that is told whole stays as it is. */
  read(entries: readonly Json[]): number {
    let bytes = 0;
    const begun: [string, Fragments][] = [];
    for (const entry of entries) {
      if (!isObject(entry) || typeof entry.index !== 'number') {
        this.#entries.push(entry);
        bytes += bytesOf(entry) + 1;
        continue;
      }
      const key = `${String(entry.type)} ${entry.index}`;
      let fragments = this.#known.get(key);
      if (fragments === undefined) {
        fragments = new Fragments(growing);
        this.#entries.push(fragments);
        begun.push([key, fragments]);
        bytes += entryBytes;
      }
      bytes += fragments.setAll(entry);
    }
    for (const [key, fragments] of begun) this.#known.set(key, fragments);
    return bytes;
  }

  list(): Json[] {
    return this.#entries.map((entry) => (entry instanceof Fragments ? entry.object() : entry));
  }
}
