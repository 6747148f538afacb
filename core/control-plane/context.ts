// The surroundings of a handler: who calls, the rows, the clock, and the change that dispatch commits when the handler has returned. A handler runs again from
// the beginning, with a new context, when a row that it read was changed before its own change was written.

import { fail } from '../errors/gateway-error.js';
import { Change, type Stored } from '../storage/change.js';
import type { Row, Table } from '../storage/define-table.js';
import { newId } from '../storage/new-id.js';
import type { Repository } from '../storage/repository.js';
import type { Sealer } from '../storage/sealer.js';
import type { KeyType } from '../storage/tables/api-keys.js';
import type { WorkspaceRole } from '../storage/tables/workspace-members.js';
import { workspaces, type WorkspaceRow } from '../storage/tables/workspaces.js';
import { ownOrigin, type RequestFacts } from './request-facts.js';
import type { ControlServices } from './services.js';

/** The caller, from the key, token or session. Plain values, since it comes from another thread. */
export interface Caller {
  /** Empty: nobody, in a call of a public operation. */
  readonly keyId: string;
  /** `session`: a person who is signed in; `keyId` is the session's. */
  readonly keyType: KeyType | 'session' | 'none';
  readonly organisationId: string;
  /** Empty for a key of the organisation. */
  readonly workspaceId: string;
  readonly scopes: readonly string[];
  /** It came in place of a key, and says itself for whom. */
  readonly token?: { readonly userId: string | null };
  /** For whom the call is made; dispatch finds it in the rows. Absent for services. */
  readonly person?: Person;
}

export interface Person {
  readonly userId: string;
  /** Of the organisation for its owners and admins, else of the workspace; `none`: not a member of it. */
  readonly role: 'owner' | WorkspaceRole | 'none';
  /** Scopes that the role takes from the key. */
  readonly withheld: readonly string[];
  /** Scopes of keys reach those alone that act for this person. */
  readonly hasOwnKeysAlone?: boolean;
}

/** The error for a call that lacks the scope: ROLE_MISSING if the person's role withholds it, else SCOPE_MISSING. */
export function scopeFault({ person }: Caller, ...wanted: readonly string[]): Error {
  const scope = wanted.join(' or ');
  return person !== undefined && wanted.some((each) => person.withheld.includes(each)) ? fail('ROLE_MISSING', { scope, role: person.role === 'none' ? 'no member' : person.role }) : fail('SCOPE_MISSING', { scope });
}

/** Without a key. */
export const nobody: Caller = Object.freeze({ keyId: '', keyType: 'none', organisationId: '', workspaceId: '', scopes: [] });

export class ControlContext {
  /** The changes of rows; committed, with the audit entry, when the handler has returned. */
  readonly change = new Change();
  /** What is to be done, one after the other, once the change is written: for what is not a row. Not when the call was refused. */
  readonly afterCommit: (() => void | Promise<void>)[] = [];
  /** Details for the audit entry, beside those of the request. Never a secret. */
  readonly auditDetails: Record<string, unknown> = {};
  /** Written into the audit entry in place of the body. */
  auditBody: Readonly<Record<string, unknown>> | null = null;
  /** True: the call changed nothing that is managed, so it gets no audit entry. */
  isUnrecorded = false;
  /** Version of the row that a conditional request is about and that its reply shows; null: the operation has none. */
  subject: Stored | null = null;
  /** The caller of a public operation, once the handler knows it; for the audit entry. */
  actor: Caller | null = null;
  /** Status, headers and, in place of the handler's reply, a text for the answer. */
  readonly answer: { status: number; /** Name, value, name, value. */ readonly headers: string[]; /** JSON that has been written already; null: the reply of the handler is written. */ text: string | null } = { status: 200, headers: [], text: null };

  constructor(
    readonly caller: Caller,
    /** `workspace_id` of query or body. */
    readonly workspaceId: string | undefined,
    readonly repository: Repository,
    readonly services: ControlServices,
    /** Milliseconds since the Unix epoch, the same for the whole call. */
    readonly nowMs: number,
    readonly request: RequestFacts = { headers: [] },
  ) {}

  /** Where people and clients reach the gateway, without a slash at its end. */
  get origin(): string {
    return ownOrigin(this.request, this.services.publicUrl, this.services.isTls === true);
  }

  get sealer(): Sealer {
    return this.services.sealer;
  }

  newId(): string {
    return newId(this.nowMs);
  }

  get isOrganisationKey(): boolean {
    return this.caller.workspaceId === '' && this.caller.keyType !== 'none';
  }

  has(scope: string): boolean {
    return this.caller.scopes.includes(scope);
  }

  /** Throws SCOPE_MISSING, ROLE_MISSING. */
  require(scope: string): void {
    if (!this.has(scope)) throw scopeFault(this.caller, scope);
  }

  /** Who is named as the one who made or changed a row. */
  get actorId(): string {
    return this.caller.person?.userId ?? this.caller.keyId;
  }

  /**
   * The workspace that an operation is about: the key's own, or the one that an organisation key names by id or slug. Throws WORKSPACE_MISSING,
   * WORKSPACE_FOREIGN for one that a workspace key is not locked to, REFERENCE_UNKNOWN.
   */
  async workspace(given: string | null | undefined = this.workspaceId): Promise<WorkspaceRow> {
    const { caller } = this;
    if (given === undefined || given === null || given === '') {
      if (this.isOrganisationKey) throw fail('WORKSPACE_MISSING', { param: 'workspace_id' });
      return (await this.ownWorkspace()).row;
    }
    if (this.isOrganisationKey) return this.namedWorkspace(given, 'workspace_id');
    const row = (await this.byIdOrSlug(workspaces, given, [caller.organisationId]))?.row;
    // Whether it exists is nothing that a locked key learns.
    if (row === undefined || row.organisationId !== caller.organisationId || row.id !== caller.workspaceId) throw fail('WORKSPACE_FOREIGN', { kind: 'workspace', id: given.slice(0, 64), param: 'workspace_id' });
    return row;
  }

  /** One of the organisation that is in use, by its id or slug; `param` names it. Throws REFERENCE_UNKNOWN. */
  async namedWorkspace(given: string, param: string): Promise<WorkspaceRow> {
    const { organisationId } = this.caller;
    const row = (await this.byIdOrSlug(workspaces, given, [organisationId]))?.row;
    if (row === undefined || row.organisationId !== organisationId || row.status === 'archived') throw fail('REFERENCE_UNKNOWN', { kind: 'workspace', id: given.slice(0, 64), param });
    return row;
  }

  /** As `workspace`; undefined when an organisation key names none. */
  async workspaceIfNamed(given: string | null | undefined = this.workspaceId): Promise<WorkspaceRow | undefined> {
    return this.isOrganisationKey && (given === undefined || given === null || given === '') ? undefined : this.workspace(given);
  }

  /** A row by its id, else by the `slug` index with `scope` before the slug. */
  async byIdOrSlug<R extends Row>(table: Table<R>, idOrSlug: string, scope: readonly string[]): Promise<Stored<R> | undefined> {
    return await this.byId(table, idOrSlug) ?? this.repository.find(table, 'slug', [...scope, idOrSlug]);
  }

  /** What cannot be an id is not asked for. */
  async byId<R extends Row>(table: Table<R>, id: string): Promise<Stored<R> | undefined> {
    return /^[0-9a-f-]{36}$/.test(id) ? this.repository.get(table, id) : undefined;
  }

  async ownWorkspace(): Promise<Stored<WorkspaceRow>> {
    const stored = await this.repository.get(workspaces, this.caller.workspaceId);
    if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'workspace', id: this.caller.workspaceId });
    return stored;
  }
}
