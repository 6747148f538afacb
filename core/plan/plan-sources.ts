// The stored rows that a plan is made of. Looked up while it is compiled, and held against what is stored now when something that routes calls has
// changed: a plan whose rows are the same objects still goes.

import type { StoredConfig, StoredIntegration, StoredProvider } from '../snapshot/stored-provider.js';
import type { View } from '../snapshot/view.js';

/** Where compiling finds stored rows; the view is another object, or has another epoch, after each change. */
export interface StoredRows {
  readonly view: View;
}

export interface PlanSource {
  readonly kind: 'provider' | 'integration' | 'config';
  readonly name: string;
  /** Undefined: there was none. */
  readonly found: StoredConfig | StoredIntegration | StoredProvider | undefined;
}

export class PlanSources {
  readonly #found: PlanSource[] = [];

  constructor(readonly rows: StoredRows, readonly workspaceId: string) {}

  provider(slug: string): StoredProvider | undefined {
    const found = this.rows.view.provider(this.workspaceId, slug);
    this.#found.push({ kind: 'provider', name: slug, found });
    return found;
  }

  integration(id: string): StoredIntegration | undefined {
    const found = this.rows.view.integration(id);
    this.#found.push({ kind: 'integration', name: id, found });
    return found;
  }

  config(slugOrId: string): StoredConfig | undefined {
    const found = this.rows.view.config(this.workspaceId, slugOrId);
    this.#found.push({ kind: 'config', name: slugOrId, found });
    return found;
  }

  /** Null when nothing was looked up. */
  get list(): readonly PlanSource[] | null {
    return this.#found.length === 0 ? null : Object.freeze([...this.#found]);
  }
}

/** Every row is there as it was found. */
export function areCurrent(sources: readonly PlanSource[], workspaceId: string, view: View): boolean {
  for (const { kind, name, found } of sources) {
    const now = kind === 'provider' ? view.provider(workspaceId, name) : kind === 'integration' ? view.integration(name) : view.config(workspaceId, name);
    if (now !== found) return false;
  }
  return true;
}
