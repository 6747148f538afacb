// The order in which entries are made: an object comes after those that it refers to.

import type { Entry } from './entries.js';
import { invalid, titleOf } from './entries.js';

/** An entry, with the slug of its workspace; null: it belongs to the organisation. */
export interface OrderedEntry {
  readonly entry: Entry;
  readonly workspace: string | null;
}

const keyOf = (section: string, workspace: string | null, name: string): string => JSON.stringify([section, workspace ?? '', name]);

/** Throws DECLARATION_INVALID for two of one name, and for a circle. */
export function ordered(entries: readonly OrderedEntry[]): OrderedEntry[] {
  const byKey = new Map<string, OrderedEntry>();
  for (const each of entries) {
    const { declared, name, place } = each.entry;
    const key = keyOf(declared.section, each.workspace, name);
    if (byKey.has(key)) throw invalid(place, `${titleOf(declared, name)} is given more than once${each.workspace === null ? '' : ` in the workspace ${each.workspace}`}`);
    byKey.set(key, each);
  }
  const done = new Set<OrderedEntry>();
  const order: OrderedEntry[] = [];
  // Not by recursion: a chain may be as long as a file.
  for (const first of entries) {
    const path: { readonly each: OrderedEntry; readonly rest: Iterator<Needed> }[] = [];
    const enter = (each: OrderedEntry): void => { path.push({ each, rest: neededBy(each, byKey) }); };
    if (!done.has(first)) enter(first);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { value, done: isOver } = top.rest.next();
      if (isOver === true) {
        path.pop();
        done.add(top.each);
        order.push(top.each);
        continue;
      }
      const { each: needed, place } = value;
      if (done.has(needed)) continue;
      const start = path.findIndex(({ each }) => each === needed);
      if (start !== -1) {
        const circle = [...path.slice(start).map(({ each }) => each), needed].map(({ entry }) => titleOf(entry.declared, entry.name));
        throw invalid(place, `refers to itself in a circle: ${circle.join(' -> ')}`);
      }
      enter(needed);
    }
  }
  return order;
}

interface Needed {
  readonly each: OrderedEntry;
  readonly place: string;
}

function* neededBy({ entry, workspace }: OrderedEntry, byKey: ReadonlyMap<string, OrderedEntry>): Generator<Needed> {
  const { declared, members, place } = entry;
  const own = workspace === null ? undefined : byKey.get(keyOf('workspaces', null, workspace));
  if (own !== undefined) yield { each: own, place: `${place}.workspace_id` };
  const early = Object.fromEntries(Object.entries(members).filter(([name]) => !declared.late.includes(name)));
  for (const reference of declared.references(early)) {
    // Of its own workspace, else of the organisation.
    const needed = byKey.get(keyOf(reference.section, workspace, reference.name)) ?? byKey.get(keyOf(reference.section, null, reference.name));
    if (needed !== undefined) yield { each: needed, place: `${place}.${reference.place}` };
  }
}
