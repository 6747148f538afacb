// What is stored, as documents that apply takes: by slugs, without what goes without saying, in an order that stays the same, and with variables in the
// places of secrets.

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { DeclaredSecret, type Declared, type Members } from '../../define-declared.js';
import { isStored } from './differences.js';
import { entriesMax } from './entries.js';

export interface Exported {
  readonly documents: readonly Members[];
  /** Those that the documents need, with what each is for. */
  readonly variables: readonly { readonly name: string; readonly of: string }[];
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
  const shown: Shown[] = [];
  for (const declared of known) {
    if (declared.readScopes.length > 0 && !declared.readScopes.some((scope) => context.has(scope))) throw fail('SCOPE_MISSING', { scope: declared.readScopes.join(' or ') });
    const rows: Stored[] = [];
    for await (const stored of declared.all(context)) {
      if (rows.length + shown.length >= entriesMax) throw fail('FIELD_INVALID', { param: 'workspace_id', reason: `is needed: there are more than ${entriesMax} objects, and each workspace is exported for itself` });
      if (isWanted(declared, stored, only, slugs)) rows.push(stored);
    }
    rows.sort((left, right) => (declared.nameOf(left.row) < declared.nameOf(right.row) ? -1 : 1));
    for (const stored of rows) {
      const [name, workspaceId] = [declared.nameOf(stored.row), declared.workspaceIdOf(stored.row)];
      const view = { ...await declared.view(context, stored), ...await declared.exported(context, stored) };
      const ofWorkspace = slugs.get(workspaceId ?? '') ?? '';
      shown.push({ declared, name, workspaceId, entry: entryOf(declared, view, name, (secret) => variables.of(secret, declared, name, ofWorkspace)) });
    }
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

function isWanted(declared: Declared, { row }: Stored, only: WorkspaceRow | undefined, slugs: ReadonlyMap<string, string>): boolean {
  const workspaceId = declared.workspaceIdOf(row);
  if (only === undefined) return workspaceId === null || slugs.has(workspaceId);
  return workspaceId === only.id || row.id === only.id;
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
  // What looks like a variable was none.
  if (typeof value === 'string') return value.replaceAll('${env:', '$${env:');
  if (Array.isArray(value)) return value.map((each) => plain(each, variableOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined).map(([name, each]) => [name, plain(each, variableOf)]));
}

/** Without what others stand for already. */
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

/** Names for secrets, told by what they are for. */
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
