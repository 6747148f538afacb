// Takes packages that are given by path over when their files change. Each thread does so for itself: all see the same files. A version that
// is at fault is refused, and the one in service stays.

import { reasonOf } from '../errors/gateway-error.js';
import type { Logger } from '../telemetry/logger.js';
import { FolderWatch } from './folder-watch.js';
import type { Registry } from './registry.js';

export interface ReloaderServices {
  readonly registry: Registry;
  readonly logger: Logger;
  /** One thread speaks for all. */
  readonly isReporting: boolean;
  /** New calls find other plugins under these names (`guardrail/acme.pii`). */
  readonly onSwitch: (plugins: ReadonlySet<string>) => void;
}

export class PluginReloader {
  readonly #watches: FolderWatch[] = [];
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(readonly services: ReloaderServices) {
    for (const { named, isPath, folder } of services.registry.packages) {
      if (!isPath || folder === undefined) continue;
      this.#watches.push(new FolderWatch(folder, {
        // One after the other: two packages may want the same namespace.
        onChange: () => { this.#work = this.#work.then(() => this.#reload(named)); },
        onFault: (reason) => this.#report('warn', 'plugin folder is not watched; restart the gateway to take changes over', named, { reason }),
      }));
    }
  }

  /** Resolves when what was seen so far is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const watch of this.#watches) watch.close();
    await this.#work;
  }

  async #reload(named: string): Promise<void> {
    if (this.#isClosed) return;
    const startedAtMs = performance.now();
    try {
      const result = await this.services.registry.reload(named);
      if (result.outcome === 'same') return;
      if (result.outcome === 'refused') {
        this.#report('error', 'new version of a plugin package refused; the one before stays in service', named, { reason: result.reason });
        return;
      }
      this.services.onSwitch(result.plugins);
      this.#report('info', 'plugin package reloaded', named, { version: result.version, plugins: [...result.plugins], tookMs: Math.round(performance.now() - startedAtMs) });
      for (const reason of result.faults) this.#report('error', 'plugin refused', named, { reason });
    } catch (thrown) {
      this.#report('error', 'plugin package could not be read again; the version before stays in service', named, { reason: reasonOf(thrown) });
    }
  }

  #report(level: 'info' | 'warn' | 'error', message: string, named: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.services.isReporting) this.services.logger[level](message, { package: named, ...fields });
  }
}
