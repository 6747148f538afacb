// The stored objects as documents that apply takes: with slugs for ids, without default values, in an order that stays the same, and with variables in the
// places of secrets.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { DeclaredSecret, type Declared, type Members } from '../../define-declared.js';
import { nextTurn } from '../../next-turn.js';
import { isStored } from './differences.js';
import { requireRead } from './apply.js';
import { entriesMax } from './entries.js';

interface Exported {
  readonly documents: readonly Members[];
  /** Those that the documents need, with what each is for. */
  readonly variables: readonly { readonly name: string; readonly of: string }[];
}

interface Found {
  readonly declared: Declared;
  readonly stored: Stored;
  readonly name: string;
  readonly workspaceId: string | null;
  /** True: it is to be exported; false: only if an exported object refers to it. */
  readonly isOwn: boolean;
  readonly view: Members;
}

interface Shown {
  readonly declared: Declared;
  readonly name: string;
  readonly workspaceId: string | null;
  readonly entry: Members;
}

/** `only`: one workspace, and what of the organisation's own it stands on. */
export async function exportDocuments(context: ControlContext, known: readonly Declared[], only: WorkspaceRow | undefined): Promise<Exported> {
  const variables = new Variables();
  const slugs = await workspaceSlugs(context);
  const found: Found[] = [];
  for (const declared of known) {
    requireRead(context, declared);
    const rows: Found[] = [];
    for await (const stored of declared.all(context)) {
      const workspaceId = declared.workspaceIdOf(stored.row);
      const isOwn = only === undefined ? workspaceId === null || slugs.has(workspaceId) : workspaceId === only.id || stored.row.id === only.id;
      // Objects of the organisation may be used by the workspace.
      if (!isOwn && (only === undefined || workspaceId !== null || declared.level !== 'either')) continue;
      if (rows.length + found.length >= entriesMax) throw fail('FIELD_INVALID', { param: 'workspace_id', reason: `is needed: there are more than ${entriesMax} objects, and each workspace is exported for itself` });
      await nextTurn();
      rows.push({ declared, stored, name: declared.nameOf(stored.row), workspaceId, isOwn, view: await declared.view(context, stored) });
    }
    found.push(...rows.sort((left, right) => (left.name < right.name ? -1 : 1)));
  }
  const shown: Shown[] = [];
  for (const { declared, stored, name, workspaceId, view } of withReferred(found)) {
    const whole = { ...view, ...await declared.exported(context, stored, only) };
    const ofWorkspace = slugs.get(workspaceId ?? '') ?? '';
    shown.push({ declared, name, workspaceId, entry: entryOf(declared, whole, name, (secret) => variables.of(secret, declared, name, ofWorkspace)) });
  }
  const stated = withoutImplied(shown, slugs);
  const documents = [null, ...slugs.keys()].map((workspaceId) => documentOf(stated.filter((each) => each.workspaceId === workspaceId), workspaceId === null ? null : slugs.get(workspaceId) ?? ''));
  return { documents: documents.filter((each) => each !== undefined), variables: variables.all };
}

/** Active ones, by their ids, in the order of their slugs. */
async function workspaceSlugs({ repository, caller }: ControlContext): Promise<ReadonlyMap<string, string>> {
  const slugs: [string, string][] = [];
  for await (const { row } of repository.each(workspaces, { index: 'organisation', parts: [caller.organisationId] })) if (row.status === 'active') slugs.push([row.id, row.slug]);
  return new Map(slugs.sort(([, left], [, right]) => (left < right ? -1 : 1)));
}

/** The objects to export, and all others that they refer to, directly or through others. */
function withReferred(found: readonly Found[]): readonly Found[] {
  const wanted = new Set<Found>(found.filter(({ isOwn }) => isOwn));
  const others = new Map(found.filter(({ isOwn }) => !isOwn).map((each) => [JSON.stringify([each.declared.section, each.name]), each]));
  // Iterating over a set includes members that are added meanwhile.
  for (const { declared, view } of wanted) {
    for (const { section, name } of declared.references(view)) {
      const other = others.get(JSON.stringify([section, name]));
      if (other !== undefined) wanted.add(other);
    }
  }
  return found.filter((each) => wanted.has(each));
}

function entryOf(declared: Declared, view: Members, name: string, variableOf: (secret: DeclaredSecret) => string): Members {
  const known: Members = { ...Object(Object(declared.entry).properties) };
  const entry: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(view)) {
    if (!Object.hasOwn(known, member) || value === undefined || value === null) continue;
    if (member !== declared.identity && Object.hasOwn(declared.defaults, member) && isStored(declared.defaults[member], value)) continue;
    if (member === 'name' && declared.identity === 'slug' && value === name) continue;
    entry[member] = plain(value, variableOf);
  }
  return entry;
}

function plain(value: unknown, variableOf: (secret: DeclaredSecret) => string): unknown {
  if (value instanceof DeclaredSecret) return `\${env:${variableOf(value)}}`;
  // The stored text is not a variable, so it is escaped. By a function, because in a replacement text `$$` means one `$`.
  if (typeof value === 'string') return value.replaceAll('${env:', () => '$${env:');
  if (Array.isArray(value)) return value.map((each) => plain(each, variableOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined).map(([name, each]) => [name, plain(each, variableOf)]));
}

/** Leaves out objects that other entries imply. */
function withoutImplied(shown: readonly Shown[], slugs: ReadonlyMap<string, string>): readonly Shown[] {
  const implied = new Map<string, Members>();
  const keyOf = (section: string, workspace: string, name: unknown): string => JSON.stringify([section, workspace, name]);
  for (const { declared, entry, workspaceId } of shown) {
    for (const each of declared.implied(entry, workspaceId === null)) {
      const { slug, ...members }: Members = each.entry;
      implied.set(keyOf(each.section, each.workspace ?? slugs.get(workspaceId ?? '') ?? '', slug), members.name === slug ? { ...members, name: undefined } : members);
    }
  }
  return shown.filter(({ declared, name, entry: { slug: _slug, ...entry }, workspaceId }) => {
    const same = implied.get(keyOf(declared.section, slugs.get(workspaceId ?? '') ?? '', name));
    return same === undefined || !isDeepStrictEqual(JSON.parse(JSON.stringify(same)), JSON.parse(JSON.stringify(entry)));
  });
}

function documentOf(shown: readonly Shown[], workspace: string | null): Members | undefined {
  if (shown.length === 0) return undefined;
  const document: Record<string, unknown> = workspace !== null || shown.some(({ declared }) => declared.level === 'either') ? { workspace_id: workspace } : {};
  for (const { declared: { section, identity }, entry } of shown) {
    if (identity === null) {
      if (Object.keys(entry).length > 0) document[section] = entry;
      continue;
    }
    const list = document[section];
    if (Array.isArray(list)) list.push(entry);
    else document[section] = [entry];
  }
  return Object.keys(document).length === 0 ? undefined : document;
}

/** Names of the variables for secrets, made from the objects that have them. */
class Variables {
  readonly #names = new Map<string, string>();

  of({ hint }: DeclaredSecret, { kind }: Declared, name: string, workspace: string): string {
    const purpose = `${hint} of ${kind} ${name}${workspace === '' ? '' : ` in ${workspace}`}`;
    const plainName = nameOf(`${name}_${hint}`);
    const tries = [plainName, nameOf(`${workspace}_${plainName}`)];
    for (let number = 2; ; number += 1) {
      const free = tries.find((each) => !this.#names.has(each));
      if (free !== undefined) {
        this.#names.set(free, purpose);
        return free;
      }
      tries.push(`${plainName}_${number}`);
    }
  }

  get all(): Exported['variables'] {
    return [...this.#names].map(([name, of]) => ({ name, of }));
  }
}

/** Variables that begin as the settings do are refused by the start. */
const nameOf = (text: string): string => text.normalize('NFKD').replace(/\p{Mark}/gu, '').toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(/^_+|_+$/g, '').replace(/^(?=\d|$|GATEWAY_)/, 'STORED_');
