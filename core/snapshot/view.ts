// Hot: read for each call.
// The control store as calls need it: frozen projections of rows, found synchronously. Rows are put in and taken out between calls, all of a
// commit at once, so a call never sees half of a change. A call takes what it needs in one go, at its beginning, and keeps it to its end.

import type { Row, Table } from '../storage/define-table.js';
import type { Sealer } from '../storage/sealer.js';
import { ownText, ownTexts } from '../storage/own-text.js';
import { apiKeys, type ApiKeyRow } from '../storage/tables/api-keys.js';
import { configs, type ConfigRow } from '../storage/tables/configs.js';
import { guardrails, type GuardrailRow } from '../storage/tables/guardrails.js';
import { integrations, type IntegrationRow } from '../storage/tables/integrations.js';
import { organisations, type OrganisationRow } from '../storage/tables/organisations.js';
import type { LogBodySettings } from '../storage/tables/log-body-settings.js';
import { ratePolicies, usagePolicies } from '../storage/tables/policies.js';
import { providers, type ProviderRow } from '../storage/tables/providers.js';
import { secretReferences, type SecretReferenceRow } from '../storage/tables/secret-references.js';
import { sessions, type SessionRow } from '../storage/tables/sessions.js';
import { workspaces, type WorkspaceRow } from '../storage/tables/workspaces.js';
import { limitSpecs } from './limit-specs.js';
import type { KeyDefaults, Principal } from './principal.js';
import { hasEnded } from './session-age.js';
import { configOf, guardrailOf, integrationOf, providerOf, type StoredConfig, type StoredGuardrail, type StoredIntegration, type StoredProvider } from './stored-provider.js';
import { SecretValue, StoredReference } from './stored-reference.js';
import { defaultGuardrails, type WorkspaceGuardrails } from './workspace-guardrails.js';
import { promptTables, StoredPrompts } from './stored-prompts.js';
import type { RatePolicy, UsagePolicy } from './policy.js';
import { policyTables, StoredPolicies } from './workspace-policies.js';
import { bodyRulesOf } from './body-rules.js';
import { limitsOfWorkspace, rulesOf, WorkspaceState } from './workspace-state.js';

/** Keys held in memory; about 1,000 bytes each. */
const keysMax = 1_000_000;
/** People who are signed in; about 300 bytes each. */
const sessionsMax = 100_000;
/** Characters of a key that tell whether it may be one of ours; a stored `keyPrefix` has at least as many. */
export const filterChars = 4;
/** Generated keys begin so (auth/key.ts). */
const generatedPrefix = 'gw_';

/** The tables whose rows calls read. */
export const projectedTables: readonly Table[] = [organisations, workspaces, secretReferences, integrations, providers, guardrails, configs, ...policyTables, apiKeys, sessions, ...promptTables];

/** Of all views of a thread, so that no two states have the same number. */
let epochs = 0;

/** The parts of a key that are needed to take it out again. */
interface KeyEntry {
  readonly keyHash: string;
  readonly prefix: string;
  /** Empty: it has none. */
  readonly previousHash: string;
  readonly previousPrefix: string;
}

export class View {
  readonly #sealer: Sealer | null;
  readonly #principals = new Map<string, Principal>();
  readonly #keys = new Map<string, KeyEntry>();
  /** How many keys begin so. */
  readonly #prefixes = new Map<string, number>();
  #beginnings: readonly string[] = [];
  /** Most keys have the scopes of their type, and rows share such lists: one set serves them all. */
  readonly #scopeSets = new WeakMap<readonly string[], ReadonlySet<string>>();
  /** Ids of organisations and types of keys, few: each row that is read has a copy of its own. */
  readonly #words = new Map<string, string>();
  readonly #organisations = new Map<string, OrganisationRow>();
  readonly #workspaces = new Map<string, WorkspaceRow>();
  /** Ids, by organisation and slug. */
  readonly #workspaceSlugs = new Map<string, string>();
  /** By the hash of the token. */
  readonly #sessions = new Map<string, SessionRow>();
  /** Of the token, by the id of the session. */
  readonly #sessionHashes = new Map<string, string>();
  /** Those that a key or a row names, there or not. */
  readonly #states = new Map<string, WorkspaceState>();
  readonly #integrations = new Map<string, StoredIntegration>();
  readonly #references = new Map<string, StoredReference>();
  /** By the ids of references: values that plans are made of. */
  readonly #secretValues = new Map<string, SecretValue>();
  readonly #providers = new Named<StoredProvider>();
  readonly #configs = new Named<StoredConfig>();
  readonly #guardrails = new Named<StoredGuardrail>();
  readonly #policies = new StoredPolicies();
  /** Looked at by calls of prompts alone. */
  readonly prompts = new StoredPrompts();
  #epoch = epochs;
  #guardrailsEpoch = epochs += 1;

  /** `sealer` null: rows with secrets cannot be used. */
  constructor(sealer: Sealer | null) {
    this.#sealer = sealer;
  }

  /** Another number after each change of what routes calls: integrations, providers, configs, guardrails, workspaces, organisations; not after a change of keys. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Expired keys are found as well: the caller looks at `expiresAtMs`. */
  principal(keyHash: string): Principal | undefined {
    return this.#principals.get(keyHash);
  }

  hasPrefix(prefix: string): boolean {
    return this.#prefixes.has(prefix);
  }

  get beginnings(): readonly string[] {
    return this.#beginnings;
  }

  hasOrganisation(id: string): boolean {
    return this.#organisations.has(id);
  }

  /** By id or slug; an archived one is found as well. By its slug not one that was made after `namedAtMs`: then another one was meant, which had the slug before. */
  workspaceIn(organisationId: string, idOrSlug: string, namedAtMs: number): WorkspaceState | undefined {
    const row = this.#workspaces.get(idOrSlug) ?? this.#workspaces.get(this.#workspaceSlugs.get(`${organisationId}/${idOrSlug}`) ?? '');
    if (row === undefined || row.organisationId !== organisationId || (row.id !== idOrSlug && row.createdAtMs > namedAtMs)) return undefined;
    return this.#stateOf(row.id);
  }

  /** One that is archived is found as long as no other has its slug. */
  provider(workspaceId: string, slug: string): StoredProvider | undefined {
    return this.#providers.bySlug(workspaceId, slug);
  }

  providersOf(workspaceId: string): Iterable<StoredProvider> {
    return this.#providers.all(workspaceId);
  }

  integration(id: string): StoredIntegration | undefined {
    return this.#integrations.get(id);
  }

  reference(id: string): StoredReference | undefined {
    return this.#references.get(id);
  }

  /** Some integration maps it. Looks at all that map any. */
  isMapped(referenceId: string): boolean {
    for (const { mappings } of this.#integrations.values()) if (mappings.some((mapping) => mapping.secret_reference_id === referenceId)) return true;
    return false;
  }

  secretValue(referenceId: string): SecretValue | undefined {
    return this.#secretValues.get(referenceId);
  }

  /** Plans with another value than this one are made anew. */
  putSecretValue(referenceId: string, value: SecretValue): void {
    if (this.#secretValues.get(referenceId) === value) return;
    this.#secretValues.set(referenceId, value);
    this.#changed(secretReferences.name);
  }

  config(workspaceId: string, slugOrId: string): StoredConfig | undefined {
    const config = this.#configs.bySlug(workspaceId, slugOrId) ?? this.#configs.byId(slugOrId);
    return config?.workspaceId === workspaceId ? config : undefined;
  }

  /** One of the workspace, else of its organisation. */
  guardrail(workspaceId: string, slugOrId: string): StoredGuardrail | undefined {
    const organisationId = this.#workspaces.get(workspaceId)?.organisationId ?? '';
    const byId = this.#guardrails.byId(slugOrId);
    return this.#guardrails.bySlug(workspaceId, slugOrId) ?? this.#guardrails.bySlug(organisationId, slugOrId)
      ?? (byId?.workspaceId === workspaceId || byId?.workspaceId === organisationId ? byId : undefined);
  }

  /** Those that every call of a workspace passes, whatever it says itself; null: none. Asked for when a plan is made. */
  guardrailsOf(workspaceId: string): WorkspaceGuardrails | null {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace === undefined) return null;
    const { organisationId } = workspace;
    return defaultGuardrails(workspace, this.#organisations.get(organisationId), {
      ofOrganisation: (name) => this.#guardrails.bySlug(organisationId, name), ofWorkspace: (name) => this.guardrail(workspaceId, name),
    });
  }

  /** Another number after each change that `guardrailsOf` may notice. */
  get guardrailsEpoch(): number {
    return this.#guardrailsEpoch;
  }

  /** `row` is one of `table`. Throws when it cannot be used; then what was there before is to be removed. */
  put(table: string, row: Row): void {
    // Of a key hardly anything is kept; of others, whole rows are.
    if (table !== apiKeys.name) ownTexts(row);
    switch (table) {
      case apiKeys.name: this.putKey(row as ApiKeyRow); return;
      case sessions.name: this.#putSession(row as SessionRow); return;
      case organisations.name: this.#organisations.set(row.id, row as OrganisationRow); this.#changeOrganisation(row.id); break;
      case workspaces.name: this.#putWorkspace(row as WorkspaceRow); break;
      case secretReferences.name: this.#references.set(row.id, new StoredReference(row as SecretReferenceRow, this.#sealerFor(table))); break;
      case integrations.name: this.#integrations.set(row.id, integrationOf(row as IntegrationRow, this.#sealerFor(table))); break;
      case providers.name: this.#providers.put(providerOf(row as ProviderRow), (row as ProviderRow).status !== 'archived'); break;
      case guardrails.name: this.#guardrails.put(guardrailOf(row as GuardrailRow, this.#sealerFor(table)), true); break;
      case configs.name: this.#configs.put(configOf(row as ConfigRow, this.#sealerFor(table)), true); break;
      case usagePolicies.name: case ratePolicies.name: this.#changePolicies(this.#policies.put(table, row)); return;
      default: this.prompts.put(table, row); return;
    }
    this.#changed(table);
  }

  remove(table: string, id: string): void {
    switch (table) {
      case apiKeys.name: this.removeKey(id); return;
      case sessions.name: this.#removeSession(id); return;
      case organisations.name: this.#organisations.delete(id); this.#changeOrganisation(id); break;
      case workspaces.name: this.#removeWorkspace(id); break;
      case secretReferences.name: this.#references.delete(id); this.#secretValues.delete(id); break;
      case integrations.name: this.#integrations.delete(id); break;
      case providers.name: this.#providers.remove(id); break;
      case guardrails.name: this.#guardrails.remove(id); break;
      case configs.name: this.#configs.remove(id); break;
      case usagePolicies.name: case ratePolicies.name: this.#changePolicies(this.#policies.remove(id)); return;
      default: this.prompts.remove(table, id); return;
    }
    this.#changed(table);
  }

  #changed(table: string): void {
    this.#epoch = epochs += 1;
    if (table === guardrails.name || table === workspaces.name || table === organisations.name) this.#guardrailsEpoch = this.#epoch;
  }

  /** Undefined: there is none, or it has ended. */
  session(tokenHash: string, nowMs: number): SessionRow | undefined {
    const row = this.#sessions.get(tokenHash);
    return row === undefined || hasEnded(row, this.#organisations.get(row.organisationId)?.settings ?? {}, nowMs) ? undefined : row;
  }

  #putSession(row: SessionRow): void {
    this.#removeSession(row.id);
    if (row.endedAtMs !== null) return;
    if (this.#sessions.size >= sessionsMax) throw new Error(`more than ${sessionsMax} people are signed in`);
    this.#sessions.set(row.tokenHash, row);
    this.#sessionHashes.set(row.id, row.tokenHash);
  }

  #removeSession(id: string): void {
    const hash = this.#sessionHashes.get(id);
    if (hash === undefined) return;
    this.#sessionHashes.delete(id);
    this.#sessions.delete(hash);
  }

  putKey(row: ApiKeyRow): void {
    this.removeKey(row.id);
    if (this.#keys.size >= keysMax) throw new Error(`more than ${keysMax} API keys; remove some`);
    const { previous } = row;
    const entry: KeyEntry = {
      keyHash: ownText(row.keyHash), prefix: row.keyPrefix.slice(0, filterChars), previousHash: ownText(previous?.keyHash ?? ''), previousPrefix: previous?.keyPrefix.slice(0, filterChars) ?? '',
    };
    const keyId = ownText(row.id);
    const principal = this.#principalOf(row, keyId, row.expiresAtMs ?? Infinity);
    this.#keys.set(principal.keyId, entry);
    this.#principals.set(entry.keyHash, principal);
    this.#countPrefix(entry.prefix, 1);
    if (previous === null) return;
    this.#principals.set(entry.previousHash, this.#principalOf(row, keyId, Math.min(previous.expiresAtMs, principal.expiresAtMs)));
    this.#countPrefix(entry.previousPrefix, 1);
  }

  removeKey(id: string): void {
    const entry = this.#keys.get(id);
    if (entry === undefined) return;
    this.#keys.delete(id);
    this.#principals.delete(entry.keyHash);
    this.#countPrefix(entry.prefix, -1);
    if (entry.previousHash === '') return;
    this.#principals.delete(entry.previousHash);
    this.#countPrefix(entry.previousPrefix, -1);
  }

  #countPrefix(prefix: string, by: 1 | -1): void {
    const before = this.#prefixes.get(prefix) ?? 0;
    if (before + by > 0) this.#prefixes.set(prefix, before + by);
    else this.#prefixes.delete(prefix);
    if (before > 0 && before + by > 0) return;
    this.#beginnings = [...new Set([...this.#prefixes.keys()].map((each) => (each.startsWith(generatedPrefix) ? generatedPrefix : each)))];
  }

  #principalOf(row: ApiKeyRow, keyId: string, expiresAtMs: number): Principal {
    let scopes = this.#scopeSets.get(row.scopes);
    if (scopes === undefined) this.#scopeSets.set(row.scopes, scopes = new Set(row.scopes));
    const workspace = row.workspaceId === null ? null : this.#stateOf(row.workspaceId);
    return Object.freeze({
      keyId, organisationId: this.#wordOf(row.organisationId), workspaceId: workspace === null ? '' : workspace.id, scopes, type: this.#wordOf(row.type), expiresAtMs, defaults: defaultsOf(row), workspace,
      limits: row.rateLimits.length === 0 && row.usageLimits === null ? null : limitSpecs('key', keyId, ownText(row.name), row.rateLimits, row.usageLimits === null ? [] : [row.usageLimits]), token: null,
    });
  }

  #wordOf<T extends string>(text: T): T {
    const known = this.#words.get(text);
    // The very same text.
    if (known !== undefined) return known as T;
    const word = ownText(text);
    this.#words.set(word, word);
    return word as T;
  }

  #stateOf(workspaceId: string): WorkspaceState {
    let state = this.#states.get(workspaceId);
    if (state === undefined) {
      const id = ownText(workspaceId);
      this.#states.set(id, state = new WorkspaceState(id));
      this.#changeWorkspace(workspaceId);
    }
    return state;
  }

  #putWorkspace(row: WorkspaceRow): void {
    this.#forgetSlug(row.id);
    this.#workspaces.set(row.id, row);
    const place = `${row.organisationId}/${row.slug}`;
    // Another one may have the slug of one that is archived.
    if (row.status === 'active' || !this.#workspaceSlugs.has(place)) this.#workspaceSlugs.set(place, row.id);
    this.#changeWorkspace(row.id);
  }

  #removeWorkspace(id: string): void {
    this.#forgetSlug(id);
    this.#workspaces.delete(id);
    this.#changeWorkspace(id);
  }

  #forgetSlug(id: string): void {
    const row = this.#workspaces.get(id);
    if (row === undefined) return;
    const place = `${row.organisationId}/${row.slug}`;
    if (this.#workspaceSlugs.get(place) === id) this.#workspaceSlugs.delete(place);
  }

  #changeWorkspace(id: string): void {
    const row = this.#workspaces.get(id);
    const state = this.#states.get(id);
    if (state === undefined) return;
    state.rules = rulesOf(row, row === undefined ? undefined : this.#organisations.get(row.organisationId));
    state.policies = this.#policies.of(row);
    state.limits = limitsOfWorkspace(row);
    state.bodies = row === undefined ? null : bodyRulesOf(row.logBodies, this.#organisations.get(row.organisationId)?.settings.log_bodies as LogBodySettings | undefined);
  }

  #changePolicies(changed: readonly (UsagePolicy | RatePolicy)[]): void {
    for (const { organisationId, workspaceId } of changed) {
      const states = workspaceId === null ? this.#states.values() : [this.#states.get(workspaceId)];
      for (const state of states) {
        const row = state === undefined ? undefined : this.#workspaces.get(state.id);
        if (state !== undefined && row !== undefined && row.organisationId === organisationId) state.policies = this.#policies.of(row);
      }
    }
  }

  #changeOrganisation(id: string): void {
    for (const workspace of this.#workspaces.values()) if (workspace.organisationId === id) this.#changeWorkspace(workspace.id);
  }

  #sealerFor(table: string): Sealer {
    if (this.#sealer === null) throw new Error(`a row of ${table} holds secrets, and there is no master key here`);
    return this.#sealer;
  }
}

/** Null when there is nothing that a call would not do by itself. */
function defaultsOf({ defaults, type, creationMode }: ApiKeyRow): KeyDefaults | null {
  const hasMetadata = Object.keys(defaults.metadata).length > 0;
  const isOfMember = type === 'workspace-user' && creationMode === 'auto';
  const { config_id: config, provider, allow_config_override: allowsConfig } = defaults;
  if (config === null && provider === null && allowsConfig && !hasMetadata && !isOfMember) return null;
  return Object.freeze({
    config: config === null ? undefined : ownText(config),
    provider: provider === null ? undefined : ownText(provider),
    allowsConfig,
    metadata: hasMetadata ? Object.freeze(ownTexts({ ...defaults.metadata })) : null,
    isOfMember,
  });
}

interface NamedRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
}

/** Rows of workspaces, by their slugs there. */
class Named<T extends NamedRow> {
  readonly #byId = new Map<string, T>();
  readonly #bySlug = new Map<string, Map<string, T>>();

  byId(id: string): T | undefined {
    return this.#byId.get(id);
  }

  bySlug(workspaceId: string, slug: string): T | undefined {
    return this.#bySlug.get(workspaceId)?.get(slug);
  }

  all(workspaceId: string): Iterable<T> {
    return this.#bySlug.get(workspaceId)?.values() ?? [];
  }

  /** `isFirst`: it takes the slug from another one, which is out of use. */
  put(row: T, isFirst: boolean): void {
    this.remove(row.id);
    this.#byId.set(row.id, row);
    let slugs = this.#bySlug.get(row.workspaceId);
    if (slugs === undefined) this.#bySlug.set(row.workspaceId, slugs = new Map());
    if (isFirst || !slugs.has(row.slug)) slugs.set(row.slug, row);
  }

  remove(id: string): void {
    const row = this.#byId.get(id);
    if (row === undefined) return;
    this.#byId.delete(id);
    const slugs = this.#bySlug.get(row.workspaceId);
    if (slugs?.get(row.slug) !== row) return;
    slugs.delete(row.slug);
    if (slugs.size === 0) this.#bySlug.delete(row.workspaceId);
  }
}
