// Makes the stored objects match the files: each object by the operations of its resource, in the order of their references, one after the other on a
// draft. An operation that leaves an object as it was is not a change. Nothing is written here: all changes become one change of the call at the end, so that
// all of them are written or none.

import { fail, isGatewayError } from '../../../errors/gateway-error.js';
import { CommitConflict, type Stored } from '../../../storage/change.js';
import { declarations, type DeclarationRow, type DeclaredObject } from '../../../storage/tables/declarations.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { ControlContext, scopeFault } from '../../context.js';
import type { Declared, DeclaredPlace, Members } from '../../define-declared.js';
import { nextTurn } from '../../next-turn.js';
import type { Row } from '../../../storage/define-table.js';
import { differing, isStored, memberChanges, type MemberChange } from './differences.js';
import { Draft } from './draft.js';
import { entriesOf, invalid, placed, titleOf, type Entry } from './entries.js';
import { ordered } from './order.js';

export interface ApplyRequest {
  readonly source: string;
  readonly documents: readonly unknown[];
  readonly isDryRun: boolean;
  readonly isPruning: boolean;
}

interface AppliedChange {
  readonly action: 'created' | 'updated' | 'removed';
  readonly declared: Declared;
  readonly id: string;
  readonly name: string;
  /** Its slug. */
  readonly workspace: string | null;
  readonly workspaceId: string | null;
  /** Drift: somebody else changed it since it was applied. */
  readonly isDrift: boolean;
  readonly members: readonly MemberChange[];
}

interface NamedObject {
  readonly section: string;
  readonly name: string;
  readonly workspace: string | null;
}

export interface Applied {
  readonly changes: readonly AppliedChange[];
  readonly unchanged: number;
  /** Secrets that were generated for API keys without one in the files. */
  readonly keys: readonly { readonly name: string; readonly workspace: string | null; readonly key: string }[];
  /** Made from these files earlier, and not in them any more. */
  readonly left: readonly NamedObject[];
}

/** Attempts, since others may change the stored objects while they are read. */
const triesMax = 10;

/** Puts the changes into `context.change`, unless it is a dry run. Throws DECLARATION_INVALID, and the errors of the operations. */
export async function applyDocuments(context: ControlContext, known: readonly Declared[], request: ApplyRequest): Promise<Applied> {
  const entries = entriesOf(request.documents, known);
  for (let tries = 1; ; tries += 1) {
    const sequence = await context.repository.sequence();
    try {
      return await new Application(context, known, request).run(entries);
    } catch (thrown) {
      // Files that are right can look wrong when half was read before another commit and half after it.
      const isMoved = thrown instanceof CommitConflict || await context.repository.sequence() !== sequence;
      if (!isMoved || tries === triesMax) throw thrown;
    }
  }
}

/** Needed because the answer shows the values from before. Throws SCOPE_MISSING, ROLE_MISSING. */
export function requireRead({ caller }: ControlContext, { readScopes }: Declared): void {
  if (readScopes.length > 0 && !readScopes.some((scope) => caller.scopes.includes(scope))) throw scopeFault(caller, ...readScopes);
}

interface Placed {
  readonly entry: Entry;
  readonly workspace: string | null;
}

interface Done {
  readonly id: string;
  /** As it was before; null: it was not there. */
  readonly before: Members | null;
}

class Application {
  readonly #draft: Draft;
  readonly #changes: AppliedChange[] = [];
  readonly #keys: { readonly name: string; readonly workspace: string | null; readonly key: string }[] = [];
  readonly #done = new Map<Entry, Done>();
  #defaultWorkspace: string | undefined = undefined;

  constructor(readonly context: ControlContext, readonly known: readonly Declared[], readonly request: ApplyRequest) {
    this.#draft = new Draft(context.repository);
  }

  async run(entries: readonly Entry[]): Promise<Applied> {
    const { context, request } = this;
    const all = await this.#declarations();
    const declaration = all.find(({ row }) => row.source === request.source);
    const ownObjects = new Map((declaration?.row.objects ?? []).map((each) => [objectKey(each), each]));
    // Objects that files of another source made belong to these files from now on.
    const others = new Map(all.filter((each) => each !== declaration).flatMap((each) => each.row.objects.map((object) => [objectKey(object), object] as const)));
    const named: Placed[] = [];
    for (const entry of entries) named.push({ entry, workspace: await this.#workspaceOf(entry, entries) });
    const order = ordered(withoutStated(named));
    for (const each of order) await this.#guarded(each.entry, () => this.#make(each));
    for (const each of order) await this.#guarded(each.entry, () => this.#finish(each));

    const earlier = new Map([...others, ...ownObjects]);
    const objects: DeclaredObject[] = [];
    const kept = new Set<string>();
    let unchanged = 0;
    for (const each of order) {
      await nextTurn();
      const { object, isChanged } = await this.#result(each, earlier);
      kept.add(objectKey(object));
      objects.push(object);
      if (!isChanged) unchanged += 1;
    }
    const left: NamedObject[] = [];
    const gone = [...ownObjects.values()].filter((each) => each.isMade && !kept.has(objectKey(each)));
    if (request.isPruning) await this.#prune(gone);
    else for (const each of gone) if (await this.#found(each) !== undefined) {
      objects.push(each);
      left.push({ section: each.section, name: each.name, workspace: await this.#slugOf(each.workspaceId) });
    }
    if (!request.isDryRun) {
      const isOther = objects.length !== ownObjects.size || objects.some((each) => JSON.stringify(each) !== JSON.stringify(ownObjects.get(objectKey(each))));
      // This row goes first: of two calls that apply the same files at once, the later one finds it changed, and starts again.
      if (isOther) this.#note(declaration, objects);
      for (const each of all) {
        const rest = each.row.objects.filter((object) => !kept.has(objectKey(object)));
        if (each !== declaration && rest.length < each.row.objects.length) context.change.update(each, { ...each.row, objects: rest, changedAtMs: context.nowMs });
      }
      context.change.rows.push(...this.#draft.rows);
    }
    return { changes: this.#changes, unchanged, keys: request.isDryRun ? [] : this.#keys, left };
  }

  async #guarded(entry: Entry, work: () => Promise<void>): Promise<void> {
    await nextTurn();
    try {
      await work();
    } catch (thrown) {
      throw placed(thrown, entry.declared, entry.name, entry.place);
    }
  }

  /** A context of its own for each operation, as calls have it, on the draft. */
  #contextFor(draft: Draft, workspace: WorkspaceRow | null): ControlContext {
    const { caller, services, nowMs, request } = this.context;
    return new ControlContext(caller, workspace?.id, draft.repository, { ...services, repository: draft.repository }, nowMs, request);
  }

  async #placeOf(draft: Draft, { workspace }: Placed): Promise<DeclaredPlace> {
    const row = workspace === null ? null : (await draft.repository.find(workspaces, 'slug', [this.context.caller.organisationId, workspace]))?.row ?? null;
    if (workspace !== null && row === null) throw fail('REFERENCE_UNKNOWN', { param: 'workspace_id', kind: 'workspace', id: workspace.slice(0, 64) });
    return { context: this.#contextFor(draft, row), workspace: row };
  }

  /** Makes the object, or updates it to match the file, except for its late members. */
  async #make(each: Placed): Promise<void> {
    const { entry: { declared, name, members } } = each;
    const place = await this.#placeOf(this.#draft, each);
    const early = Object.fromEntries(Object.entries(members).filter(([member]) => !declared.late.includes(member)));
    const stored = await declared.find(place, name);
    if (stored !== undefined) {
      requireRead(place.context, declared);
      this.#done.set(each.entry, { id: stored.row.id, before: await declared.view(place.context, stored) });
      if (each.entry.isImplied) return requireSame(each.entry, await this.#viewNow(this.#draft, each));
      const defaults = Object.fromEntries(Object.entries(declared.defaults).filter(([member]) => !declared.late.includes(member)));
      await this.#bring(each, { ...defaults, ...early });
      return;
    }
    const { key }: { readonly key?: unknown } = await declared.create(place, early);
    await this.#draft.take(place.context.change, declared.kind);
    const made = await declared.find(await this.#placeOf(this.#draft, each), name);
    if (made === undefined) throw new TypeError(`${titleOf(declared, name)} was made, and is not there`);
    this.#done.set(each.entry, { id: made.row.id, before: null });
    if (typeof key === 'string') this.#keys.push({ name, workspace: each.workspace, key });
  }

  async #finish(each: Placed): Promise<void> {
    const { declared, members } = each.entry;
    if (declared.late.length === 0) return;
    const all: Members = { ...declared.defaults, ...members };
    await this.#bring(each, Object.fromEntries(Object.entries(all).filter(([member]) => declared.late.includes(member))));
  }

  async #bring(each: Placed, wanted: Members): Promise<void> {
    const { members } = each.entry;
    const before = await this.#viewNow(this.#draft, each);
    // A member that the view does not have only says how the object is made; its effect shows in other members.
    const asked = Object.keys(wanted).filter((member) => Object.hasOwn(before, member) && !isStored(wanted[member], before[member]));
    if (asked.length === 0) return;
    const pick = (names: readonly string[]): Members => Object.fromEntries(names.map((member) => [member, wanted[member]]));
    // Tried on another draft first: the file may spell the stored value in another way, and then nothing is changed.
    const trial = new Draft(this.#draft.repository);
    await this.#update(trial, each, pick(asked), members);
    const after = await this.#viewNow(trial, each);
    const changed = differing(before, after);
    if (changed.length === 0) return;
    const meant = asked.filter((member) => changed.includes(member));
    await this.#update(this.#draft, each, pick(meant.length === 0 ? asked : meant), members);
  }

  async #update(draft: Draft, each: Placed, changed: Members, members: Members): Promise<void> {
    const { declared } = each.entry;
    const { place, stored } = await this.#now(draft, each);
    await declared.update(place, stored, changed, members);
    await draft.take(place.context.change, declared.kind);
  }

  async #now(draft: Draft, each: Placed): Promise<{ readonly place: DeclaredPlace; readonly stored: Stored }> {
    const place = await this.#placeOf(draft, each);
    const id = this.#done.get(each.entry)?.id ?? '';
    const stored = await draft.repository.get<Row>(each.entry.declared.table, id);
    if (stored === undefined) throw new TypeError(`${titleOf(each.entry.declared, each.entry.name)} is gone`);
    return { place, stored };
  }

  async #viewNow(draft: Draft, each: Placed): Promise<Members> {
    const { place, stored } = await this.#now(draft, each);
    return each.entry.declared.view(place.context, stored);
  }

  /** The object as it is recorded for this source, and whether the entry changed it. */
  async #result(each: Placed, known: ReadonlyMap<string, DeclaredObject>): Promise<{ readonly object: DeclaredObject; readonly isChanged: boolean }> {
    const { entry: { declared, name }, workspace } = each;
    const done = this.#done.get(each.entry);
    if (done === undefined) throw new TypeError(`${titleOf(declared, name)} was left out`);
    const { place, stored } = await this.#now(this.#draft, each);
    const { id } = stored.row;
    const workspaceId = place.workspace?.id ?? null;
    const earlier = known.get(objectKey({ section: declared.section, id }));
    const after = await declared.view(place.context, stored);
    const isChanged = done.before === null || differing(done.before, after).length > 0;
    const written = this.#draft.row(declared.table, id);
    const versionBefore = written === undefined ? stored.version : written.before?.version ?? 0;
    if (isChanged) {
      this.#changes.push({
        action: done.before === null ? 'created' : 'updated', declared, id, name, workspace, workspaceId,
        isDrift: done.before !== null && earlier !== undefined && earlier.version !== versionBefore, members: memberChanges(done.before, after),
      });
    }
    const version = isChanged || earlier === undefined ? versionBefore + (written === undefined ? 0 : 1) : earlier.version;
    return { object: { section: declared.section, id, name, workspaceId, isMade: earlier?.isMade ?? done.before === null, version }, isChanged };
  }

  /** Removes the objects that nothing uses, again and again until all are gone. Throws the refusal of the first that cannot go when none can. */
  async #prune(gone: readonly DeclaredObject[]): Promise<void> {
    for (const each of gone) await this.#loosen(each);
    let rest = gone.toReversed();
    for (let isMoving = true; isMoving && rest.length > 0;) {
      const held: DeclaredObject[] = [];
      let fault: unknown = undefined;
      for (const each of rest) {
        await nextTurn();
        try {
          await this.#remove(each);
        } catch (thrown) {
          if (!isGatewayError(thrown) || thrown.status !== 409) throw thrown;
          fault ??= thrown;
          held.push(each);
        }
      }
      isMoving = held.length < rest.length;
      if (!isMoving) throw fault;
      rest = held;
    }
  }

  /** Sets the late members to their defaults, so that objects which name each other can be removed. */
  async #loosen(object: DeclaredObject): Promise<void> {
    const found = await this.#found(object);
    if (found === undefined || found.declared.late.length === 0) return;
    const { declared, place, stored } = found;
    const view = await declared.view(place.context, stored);
    const held = declared.late.filter((member) => Object.hasOwn(declared.defaults, member) && !isStored(declared.defaults[member], view[member]));
    if (held.length === 0) return;
    await declared.update(place, stored, Object.fromEntries(held.map((member) => [member, declared.defaults[member]])), view);
    await this.#draft.take(place.context.change, declared.kind);
  }

  /** A recorded object, if it still exists, under any name. */
  async #found({ section, id, workspaceId }: DeclaredObject): Promise<{ readonly declared: Declared; readonly place: DeclaredPlace; readonly stored: Stored } | undefined> {
    const declared = this.known.find((each) => each.section === section);
    const workspace = await this.#workspaceById(this.#draft, workspaceId);
    const stored = declared === undefined ? undefined : await this.#draft.repository.get<Row>(declared.table, id);
    if (declared === undefined || stored === undefined || workspace === undefined) return undefined;
    const place = { context: this.#contextFor(this.#draft, workspace), workspace };
    // An archived object is not found by its name any more.
    return (await declared.find(place, declared.nameOf(stored.row)))?.row.id === id ? { declared, place, stored } : undefined;
  }

  async #remove(object: DeclaredObject): Promise<void> {
    const found = await this.#found(object);
    if (found?.declared.remove === undefined) return;
    const { declared, place, stored } = found;
    requireRead(place.context, declared);
    const before = await declared.view(place.context, stored);
    const versionBefore = this.#draft.row(declared.table, object.id)?.before?.version ?? stored.version;
    await found.declared.remove(place, stored);
    await this.#draft.take(place.context.change, declared.kind);
    this.#changes.push({
      action: 'removed', declared, id: object.id, name: object.name, workspace: place.workspace?.slug ?? null, workspaceId: object.workspaceId, isDrift: object.version !== versionBefore, members: memberChanges(before, null),
    });
  }

  /** Undefined: it is gone; null: there is none. */
  async #workspaceById(draft: Draft, id: string | null): Promise<WorkspaceRow | null | undefined> {
    if (id === null) return null;
    const row = (await draft.repository.get(workspaces, id))?.row;
    return row?.status === 'active' ? row : undefined;
  }

  async #slugOf(id: string | null): Promise<string | null> {
    return (await this.#workspaceById(this.#draft, id))?.slug ?? null;
  }

  /** Slug of the workspace of an entry, which the files may make; null: it belongs to the organisation. If the entry names none, it is the default workspace. */
  async #workspaceOf(entry: Entry, entries: readonly Entry[]): Promise<string | null> {
    const { workspace, declared: { level }, place } = entry;
    if (level === 'organisation' || (workspace === null && level === 'either')) return null;
    const { caller, workspaceId } = this.context;
    if (workspace === undefined || workspace === null) return this.#defaultWorkspace ??= workspaceId === undefined ? await this.#firstWorkspace() : (await this.context.workspace()).slug;
    const stored = await this.context.byIdOrSlug(workspaces, workspace, [caller.organisationId]);
    if (stored !== undefined && stored.row.organisationId === caller.organisationId && stored.row.status === 'active') return stored.row.slug;
    if (entries.some((each) => each.declared.section === 'workspaces' && each.name === workspace)) return workspace;
    throw invalid(`${place}.workspace_id`, `${titleOf(entry.declared, entry.name)}: there is no workspace ${workspace.slice(0, 64)}, and the files make none`);
  }

  async #firstWorkspace(): Promise<string> {
    for await (const { row } of this.context.repository.each(workspaces, { index: 'organisation', parts: [this.context.caller.organisationId] })) {
      if (row.isDefault && row.status === 'active') return row.slug;
    }
    throw fail('WORKSPACE_MISSING', { param: 'workspace_id' });
  }

  async #declarations(): Promise<readonly Stored<DeclarationRow>[]> {
    const all: Stored<DeclarationRow>[] = [];
    for await (const stored of this.context.repository.each(declarations, { index: 'organisation', parts: [this.context.caller.organisationId] })) all.push(stored);
    return all;
  }

  #note(declaration: Stored<DeclarationRow> | undefined, objects: readonly DeclaredObject[]): void {
    const { change, caller, nowMs } = this.context;
    const { source } = this.request;
    const row: DeclarationRow = { id: `${caller.organisationId}.${Buffer.from(source).toString('hex')}`, organisationId: caller.organisationId, source, changedAtMs: nowMs, objects };
    if (declaration === undefined) change.insert(declarations, row);
    else change.update(declaration, row);
  }
}

/** Leaves out implied entries that the files also declare themselves, even if they name the workspace in another way. */
function withoutStated(named: readonly Placed[]): Placed[] {
  const keyOf = ({ entry, workspace }: Placed): string => JSON.stringify([entry.declared.section, workspace, entry.name]);
  const stated = new Set(named.filter(({ entry }) => !entry.isImplied).map(keyOf));
  return named.filter((each) => !each.entry.isImplied || !stated.has(keyOf(each)));
}

/** An implied entry may be stored already, with another name or more members, but its own members must be the same. Throws DECLARATION_INVALID. */
function requireSame({ declared, name, members, place }: Entry, view: Members): void {
  const other = Object.keys(members).find((member) => member !== 'name' && !isStored(members[member], view[member]));
  if (other !== undefined) throw invalid(place, `${titleOf(declared, name)} would be made with it, and is there already with another ${other}; choose another slug, or make it in ${declared.section} yourself`);
}

const objectKey = ({ section, id }: Pick<DeclaredObject, 'section' | 'id'>): string => JSON.stringify([section, id]);
