// Hot: runs for each call.
// drop_params: members and elements addressed by paths, taken out of a JSON body on its bytes. Only containers on the way to an address
// are walked member by member; everything else is stepped over and keeps its bytes. All paths mean the body as it came: dropping [0] does
// not move what [1] addresses.

import { ArrayCursor, ObjectCursor, skipBlank, skipValue } from './cursor.js';
import { Patch } from './patch.js';
import { cursorOf, isKey, notAnObject } from './scan.js';

export type DropStep =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'every' };
/** The first step is a name. */
export type DropPath = readonly DropStep[];

/** Steps of one path. Also bounds the recursion over a body. */
const stepsMax = 64;

/** `messages[*].name`, `tools[0].function.strict`; undefined when the text is no such path. */
export function parseDropPath(text: string): DropPath | undefined {
  const steps: DropStep[] = [];
  for (const segment of text.split('.')) {
    const match = /^([^[\]]+)((?:\[(?:\d{1,6}|\*)\])*)$/.exec(segment);
    if (match === null) return undefined;
    const [, name = '', indexes = ''] = match;
    steps.push({ kind: 'name', name });
    for (const [, index = ''] of indexes.matchAll(/\[(\d+|\*)\]/g)) {
      steps.push(index === '*' ? { kind: 'every' } : { kind: 'index', index: Number(index) });
    }
    if (steps.length > stepsMax) return undefined;
  }
  return Object.freeze(steps);
}

/** Returns the same bytes when no path leads anywhere. Throws BODY_INVALID when the body is not one JSON object. */
export function dropPaths(bytes: Uint8Array, paths: readonly DropPath[]): Uint8Array {
  const cursor = cursorOf(bytes);
  const patch = new Patch();
  const end = dropIn(cursor.bytes, cursor.start, paths, 0, patch);
  if (end === -1 || skipBlank(cursor.bytes, end) !== cursor.bytes.length) throw notAnObject();
  return patch.isEmpty ? bytes : patch.apply(cursor.bytes);
}

/** Drops below the value at `at`; returns the index behind the value, or -1. */
function dropIn(bytes: Buffer, at: number, paths: readonly DropPath[], depth: number, patch: Patch): number {
  if (bytes[at] === 0x7b) return dropMembers(new ObjectCursor(bytes, at), paths, depth, patch);
  // Only the body itself has to be an object.
  if (depth === 0) return -1;
  return bytes[at] === 0x5b ? dropElements(new ArrayCursor(bytes, at), paths, depth, patch) : skipValue(bytes, at);
}

function dropMembers(cursor: ObjectCursor, paths: readonly DropPath[], depth: number, patch: Patch): number {
  const removal = new Removal(patch);
  while (cursor.nextKey()) {
    const below = follow(paths, depth, cursor, -1);
    removal.begin(cursor.keyStart, below === 'drop');
    const { bytes, valueStart } = cursor;
    const end = typeof below === 'string' ? skipValue(bytes, valueStart) : dropIn(bytes, valueStart, below, depth + 1, patch);
    if (cursor.close(end)) removal.end(end);
  }
  removal.close();
  return cursor.isFault ? -1 : cursor.end;
}

function dropElements(cursor: ArrayCursor, paths: readonly DropPath[], depth: number, patch: Patch): number {
  const removal = new Removal(patch);
  for (let index = 0; cursor.nextElement(); index += 1) {
    const below = follow(paths, depth, null, index);
    removal.begin(cursor.valueStart, below === 'drop');
    const { bytes, valueStart } = cursor;
    const end = typeof below === 'string' ? skipValue(bytes, valueStart) : dropIn(bytes, valueStart, below, depth + 1, patch);
    if (cursor.close(end)) removal.end(end);
  }
  removal.close();
  return cursor.isFault ? -1 : cursor.end;
}

/** What becomes of one member (or, with `cursor` null, of the element `index`): the paths that lead on below it. */
function follow(paths: readonly DropPath[], depth: number, cursor: ObjectCursor | null, index: number): 'drop' | 'keep' | readonly DropPath[] {
  let below: DropPath[] | null = null;
  for (let at = 0; at < paths.length; at += 1) {
    const path = paths[at];
    const step = path === undefined ? undefined : path[depth];
    if (path === undefined || step === undefined) continue;
    const isHit = step.kind === 'name' ? cursor !== null && isKey(cursor, step.name) : cursor === null && (step.kind === 'every' || step.index === index);
    if (!isHit) continue;
    if (path.length === depth + 1) return 'drop';
    if (below === null) below = [path];
    else below.push(path);
  }
  return below ?? 'keep';
}

/** Turns the removed entries of one container into ranges that take the right commas along. */
class Removal {
  #hasKept = false;
  #isDropped = false;
  /** Start of a dropped entry with none kept before it: its range ends where the next entry begins. */
  #leading = -1;
  /** End of the entry before. */
  #last = -1;

  constructor(readonly patch: Patch) {}

  begin(start: number, isDropped: boolean): void {
    if (this.#leading !== -1) {
      this.patch.remove(this.#leading, start);
      this.#leading = -1;
    }
    this.#isDropped = isDropped;
    if (!isDropped) this.#hasKept = true;
    else if (!this.#hasKept) this.#leading = start;
  }

  end(end: number): void {
    if (this.#isDropped && this.#hasKept) this.patch.remove(this.#last, end);
    this.#last = end;
  }

  /** The last entry was dropped and none is left. */
  close(): void {
    if (this.#leading !== -1) this.patch.remove(this.#leading, this.#last);
  }
}
