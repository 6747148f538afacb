// The files of an environment, made before LMDB opens them: for their owner alone, and the lock file with room for all of it. LMDB makes that one
// sparse and writes to it through memory; where the disk has no room for a page of it then, the process is ended by a signal, past any catch.

import { chmodSync, closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export const fileMode = 0o600;
/** Readers that LMDB makes room for, and its lock file with them: a header, then 64 bytes for each. */
export const lockBytes = 64 * 126 + 208;

/** Undoes itself with what it gives back: what was not there before is not left half made. Throws when there is no room. */
export function makeFiles(folder: string): () => void {
  const lock = join(folder, 'lock.mdb');
  const data = join(folder, 'data.mdb');
  const made: string[] = [];
  const undo = (): void => { for (const path of made) rmSync(path, { force: true }); };
  try {
    if ((sizeOf(data) ?? 0) === 0) made.push(data);
    if (sizeOf(lock) === undefined) made.push(lock);
    const missing = lockBytes - (sizeOf(lock) ?? 0);
    if (missing > 0) append(lock, missing);
    append(data, 0);
    for (const path of [lock, data]) closeToOthers(path);
  } catch (thrown) {
    undo();
    throw thrown;
  }
  return undo;
}

/** For its owner alone, where the file is ours to say so. */
function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path);
  if ((mode & 0o777) !== fileMode && uid === process.getuid?.()) chmodSync(path, fileMode);
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

function append(path: string, bytes: number): void {
  const file = openSync(path, 'a', fileMode);
  try {
    for (let left = bytes; left > 0;) left -= writeSync(file, Buffer.alloc(left));
  } finally {
    closeSync(file);
  }
}
