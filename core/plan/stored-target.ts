// Hot: runs for each try of a target whose provider is stored.
// The stored rows behind `@slug`, as each call sees them: whether the provider is in use, which models it may be asked for, where single models
// live and which headers go along. Its headers may be secrets: printed it says nothing of them.

import { fail } from '../errors/gateway-error.js';
import type { LimitSpec } from '../snapshot/limit-specs.js';
import type { StoredIntegration, StoredProvider } from '../snapshot/stored-provider.js';
import type { Base } from './base.js';
import type { SecretFault } from './mapped-credentials.js';

/** Of one model, where it differs from the integration. */
export interface StoredModelTarget {
  readonly base: Base | null;
  readonly headers: readonly string[] | null;
}

export class StoredTarget {
  readonly #provider: StoredProvider;
  readonly #integration: StoredIntegration;
  readonly #headers: readonly string[];
  readonly #fault: SecretFault | null;
  readonly #models: ReadonlyMap<string, StoredModelTarget>;
  #headerNames: ReadonlySet<string> | null = null;
  /** The model is looked at: the body is needed. */
  readonly readsModel: boolean;
  /** Some models may not be asked for: what names its model in a way that others could read differently is refused. */
  readonly isSelective: boolean;
  /** Of the provider, then of its integration in this workspace; null: none. */
  readonly limits: readonly LimitSpec[] | null;

  constructor(provider: StoredProvider, integration: StoredIntegration, headers: readonly string[], models: ReadonlyMap<string, StoredModelTarget>, fault: SecretFault | null = null) {
    this.#provider = provider;
    this.#integration = integration;
    this.#headers = headers;
    this.#models = models;
    this.#fault = fault;
    this.readsModel = !integration.allowsAllModels || integration.models.size > 0;
    this.isSelective = !integration.allowsAllModels || [...integration.models.values()].some(({ isEnabled }) => !isEnabled);
    const ofAccess = integration.limitsIn(provider.workspaceId);
    this.limits = provider.limits === null ? ofAccess : ofAccess === null ? provider.limits : [...provider.limits, ...ofAccess];
    Object.freeze(this);
  }

  get slug(): string {
    return this.#provider.slug;
  }

  /** Throws when no call may use the provider now. */
  checkUse(nowMs: number): void {
    const { status, slug, expiresAtMs } = this.#provider;
    const refused = (state: string): Error => fail('PROVIDER_INACTIVE', { slug, state, param: 'provider' });
    if (status === 'archived') throw refused('archived');
    if (expiresAtMs <= nowMs) throw refused('expired');
    if (status === 'exhausted') throw fail('PROVIDER_EXHAUSTED', { slug, param: 'provider' });
    if (!this.#integration.isOpenTo(this.#provider)) throw refused('closed: its integration is archived, or not open to this workspace');
    if (this.#fault !== null) throw fail('SECRET_UNAVAILABLE', { slug: this.#fault.slug, reason: this.#fault.reason, param: 'provider' });
  }

  /** `model` is empty when the call names none. Throws MODEL_NOT_ALLOWED. */
  checkModel(model: string, mustName: boolean): void {
    if (model === '') {
      if (mustName && this.isSelective) throw fail('MODEL_NOT_ALLOWED', { slug: this.slug, model: '(none)', param: 'model' });
      return;
    }
    if (!this.#integration.allows(model)) throw fail('MODEL_NOT_ALLOWED', { slug: this.slug, model: model.slice(0, 128), param: 'model' });
  }

  /** The integration says something of this model. */
  names(model: string): boolean {
    return this.#integration.models.has(model);
  }

  /** Null: that of the target. */
  baseFor(model: string): Base | null {
    return this.#models.get(model)?.base ?? null;
  }

  /** Name, value, ...; they take the place of others with the same name. */
  headersFor(model: string): readonly string[] {
    return this.#models.get(model)?.headers ?? this.#headers;
  }

  /** Names of the headers that it adds for any model. Only calls whose bodies are kept ask, so the first of them makes it. */
  headerNames(): ReadonlySet<string> {
    return this.#headerNames ??= namesOf([this.#headers, ...[...this.#models.values()].map(({ headers }) => headers ?? [])]);
  }
}

function namesOf(lists: readonly (readonly string[])[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const headers of lists) for (let at = 0; at < headers.length; at += 2) names.add(headers[at] as string);
  return names;
}
