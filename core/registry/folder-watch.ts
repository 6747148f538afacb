// Tells when something in a package's folder has changed, after it has been quiet for a moment: builds write many files. Installed packages and
// sources are not looked at. Runs beside the calls; costs one watch for each folder.

import { readdirSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../errors/gateway-error.js';
import { isIgnored } from './package-versions.js';

const foldersMax = 256;
/** Quiet for so long: the build is done. */
const quietMs = 80;
/** Told at the latest, though it is never quiet. */
const waitMsMax = 2_000;
/** How often a folder that has gone is looked for. */
const absentMs = 1_000;

export interface FolderEvents {
  onChange(): void;
  /** It cannot be watched (any more) as a whole. */
  onFault(reason: string): void;
}

export class FolderWatch {
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  #changedSinceMs = 0;
  #isClosed = false;
  #hasFault = false;

  constructor(readonly folder: string, readonly events: FolderEvents) {
    this.#watchAll();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unwatch();
  }

  #unwatch(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  #watchAll(): void {
    this.#unwatch();
    let isAbsent = false;
    const visit = (folder: string): void => {
      if (this.#watchers.length === foldersMax) throw new Error(`it has more than ${foldersMax} folders`);
      const watcher = watch(folder, { persistent: false }, (_, name) => this.#onEvent(name));
      // A folder that was removed.
      watcher.on('error', () => this.#onEvent(null));
      this.#watchers.push(watcher);
      for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory() && !isIgnored(entry.name)) visit(join(folder, entry.name));
    };
    try {
      visit(this.folder);
    } catch (thrown) {
      isAbsent = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
      if (!isAbsent && !this.#hasFault) {
        this.#hasFault = true;
        this.events.onFault(reasonOf(thrown));
      }
    }
    if (isAbsent) this.#later(absentMs);
  }

  #onEvent(name: string | null): void {
    if (this.#isClosed || (name !== null && isIgnored(name))) return;
    const nowMs = performance.now();
    if (this.#changedSinceMs === 0) this.#changedSinceMs = nowMs;
    this.#later(Math.max(0, Math.min(quietMs, this.#changedSinceMs + waitMsMax - nowMs)));
  }

  #later(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#changedSinceMs = 0;
      // Watched anew before it is read: what changes from here on is told again.
      this.#watchAll();
      this.events.onChange();
    }, delayMs);
    this.#timer.unref();
  }
}
