// The stored rows that a plan is made of. Looked up while it is compiled, and held against what is stored now when something that routes calls has
// changed: a plan whose rows are the same objects still goes.

import type { StoredConfig, StoredGuardrail, StoredIntegration, StoredProvider } from '../snapshot/stored-provider.js';
import type { SecretValue, StoredReference } from '../snapshot/stored-reference.js';
import type { View } from '../snapshot/view.js';

/** Where compiling finds stored rows; the view is another object, or has another epoch, after each change. */
export interface StoredRows {
  readonly view: View;
}

export interface PlanSource {
  readonly kind: 'provider' | 'integration' | 'config' | 'guardrail' | 'reference' | 'secret';
  readonly name: string;
  /** Undefined: there was none. */
  readonly found: StoredConfig | StoredGuardrail | StoredIntegration | StoredProvider | StoredReference | SecretValue | undefined;
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

  guardrail(slugOrId: string): StoredGuardrail | undefined {
    const found = this.rows.view.guardrail(this.workspaceId, slugOrId);
    this.#found.push({ kind: 'guardrail', name: slugOrId, found });
    return found;
  }

  reference(id: string): StoredReference | undefined {
    const found = this.rows.view.reference(id);
    this.#found.push({ kind: 'reference', name: id, found });
    return found;
  }

  /** A plan holds as long as the reference has this value. */
  holdValue(referenceId: string, found: SecretValue): void {
    this.#found.push({ kind: 'secret', name: referenceId, found });
  }

  /** Null when nothing was looked up. */
  get list(): readonly PlanSource[] | null {
    return this.#found.length === 0 ? null : Object.freeze([...this.#found]);
  }
}

/** Every row is there as it was found. */
export function areCurrent(sources: readonly PlanSource[], workspaceId: string, view: View): boolean {
  for (const { kind, name, found } of sources) {
    if (rowNow(kind, workspaceId, name, view) !== found) return false;
  }
  return true;
}

function rowNow(kind: PlanSource['kind'], workspaceId: string, name: string, view: View): PlanSource['found'] {
  switch (kind) {
    case 'provider': return view.provider(workspaceId, name);
    case 'integration': return view.integration(name);
    case 'config': return view.config(workspaceId, name);
    case 'guardrail': return view.guardrail(workspaceId, name);
    case 'reference': return view.reference(name);
    case 'secret': return view.secretValue(name);
  }
}
