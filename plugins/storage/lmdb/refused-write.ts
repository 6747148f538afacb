// What became of a write, in words and with the `code` that the gateway goes by. LMDB tells a disk without room as an I/O error when a part of
// the write still fitted, so the disk is asked as well.

import { statfsSync } from 'node:fs';

/** Numbers of errno that mean the same here. */
const codes: ReadonlyMap<number, string> = new Map([[5, 'EIO'], [27, 'EFBIG'], [28, 'ENOSPC'], [30, 'EROFS'], [122, 'EDQUOT']]);
/** A file system with less than this left counts as full: LMDB writes whole pages, several for each commit. */
const fullBytes = 1024 * 1024;

class RefusedWrite extends Error {
  constructor(readonly code: string, reason: string, cause: unknown) {
    super(reason, { cause });
    this.name = 'RefusedWrite';
  }
}

const noRoomCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27]);

/** The disk, the quota or the limit of the process is used up: it may be well again later. */
export const isNoRoom = (thrown: unknown): boolean => typeof thrown === 'object' && thrown !== null && 'code' in thrown && noRoomCodes.has(thrown.code);

/** `fault`: an errno of LMDB, or what it threw. */
export function refusedWrite(folder: string, fault: unknown): RefusedWrite {
  const given: unknown = typeof fault === 'object' && fault !== null && 'code' in fault ? fault.code : fault;
  const code = typeof given === 'number' ? codes.get(given) ?? 'EIO' : typeof given === 'string' ? given : 'EIO';
  const reason = fault instanceof Error ? fault.message : `error ${String(fault)}`;
  if (noRoomCodes.has(code) || isFull(folder)) {
    return new RefusedWrite(code === 'EIO' ? 'ENOSPC' : code, `there is no room for ${folder} (${reason}); make some, or use another directory`, fault);
  }
  return new RefusedWrite(code, `${folder} could not be written (${reason})`, fault);
}

/** The disk itself, which says how much room it has; not a quota or a limit. */
export const isDiskFull = (thrown: unknown): boolean => thrown instanceof RefusedWrite && thrown.code === 'ENOSPC';

export const noRoomYet = (folder: string): RefusedWrite => new RefusedWrite('ENOSPC', `there is no room for ${folder} yet; make some, or use another directory`, undefined);

const isFull = (folder: string): boolean => freeBytes(folder) < fullBytes;

/** Infinity when the disk does not say: then LMDB's own word stands. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
