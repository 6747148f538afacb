// Slugs and names for the ids in records, each row read once for a reply.

import type { LogRecord } from '@gateway/plugin-sdk';
import type { Repository } from '../../../storage/repository.js';
import { configs } from '../../../storage/tables/configs.js';
import { organisations } from '../../../storage/tables/organisations.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import type { LogNames } from './log-view.js';

const alwaysMetadata: ReadonlySet<string> = new Set(['x-gateway-metadata', 'baggage']);
/** More names than these are of no use to remember: they are read again. */
const knownMax = 10_000;

export class KnownNames implements LogNames {
  readonly #workspaces = new Map<string, string | null>();
  readonly #configs = new Map<string, string>();

  private constructor(readonly repository: Repository, readonly origin: string, readonly organisationName: string, readonly metadataHeaders: ReadonlySet<string>) {}

  /** `metadataHeaders`: those that the operator makes metadata of, in lower case. */
  static async of(repository: Repository, organisationId: string, origin: string, metadataHeaders: ReadonlySet<string>): Promise<KnownNames> {
    return new KnownNames(repository, origin, (await repository.get(organisations, organisationId))?.row.name ?? '', metadataHeaders);
  }

  /** Learns the names that these records need. */
  async learn(records: readonly LogRecord[]): Promise<void> {
    if (this.#workspaces.size > knownMax) this.#workspaces.clear();
    if (this.#configs.size > knownMax) this.#configs.clear();
    for (const { workspaceId, configId } of records) {
      if (!this.#workspaces.has(workspaceId)) this.#workspaces.set(workspaceId, (await this.repository.get(workspaces, workspaceId))?.row.slug ?? null);
      if (configId !== '' && !this.#configs.has(configId)) this.#configs.set(configId, (await this.repository.get(configs, configId))?.row.slug ?? configId);
    }
  }

  workspaceSlug(id: string): string | null {
    return this.#workspaces.get(id) ?? null;
  }

  configSlug(id: string): string {
    return this.#configs.get(id) ?? id;
  }

  isMetadataHeader(name: string): boolean {
    return alwaysMetadata.has(name) || this.metadataHeaders.has(name);
  }
}
