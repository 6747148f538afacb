// A file system that is soon full: a mount of 3 MB where this process may mount, else this machine's own with a limit on what the processes
// of the test may add to files. Either way the gateway's writes are refused by the kernel, not by a double.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { temporaryFolder } from './child-gateway.js';

const size = '3m';
const pieceBytes = 4096;
/** More than the mount holds. */
const piecesMax = 2000;

export interface SmallDisk {
  readonly folder: string;
  /** No write to a file adds anything from now on, of this process (what it starts inherits it) and of `pids`. */
  fill(...pids: number[]): void;
  empty(...pids: number[]): void;
}

export function makeSmallDisk(): SmallDisk {
  const folder = temporaryFolder();
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder]).status === 0;
  if (isMounted) after(() => { execFileSync('umount', ['-l', folder]); });
  return isMounted ? mounted(folder) : limited(folder);
}

function mounted(folder: string): SmallDisk {
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill: () => {
      const file = openSync(ballast, 'a');
      let isFull = false;
      try {
        for (let piece = 0; piece < piecesMax; piece += 1) writeSync(file, Buffer.alloc(pieceBytes, 1));
      } catch (thrown) {
        assert.equal((thrown as NodeJS.ErrnoException).code, 'ENOSPC');
        isFull = true;
      } finally {
        closeSync(file);
      }
      assert.ok(isFull, 'the mount is larger than it should be');
    },
    empty: () => { rmSync(ballast, { force: true }); },
  };
}

function limited(folder: string): SmallDisk {
  const limit = (soft: string, pids: readonly number[]): void => {
    for (const pid of [process.pid, ...pids]) execFileSync('prlimit', ['--pid', String(pid), `--fsize=${soft}:`]);
  };
  return { folder, fill: (...pids) => limit('0', pids), empty: (...pids) => limit('unlimited', pids) };
}
