// Shared by prompts and partials: versions numbered from 1, of which one is published, and the partials that their templates use.

import { fail } from '../../../errors/gateway-error.js';
import { isVersionNumber } from '../../../prompts/prompt-name.js';
import { TemplateFault, type PartialName } from '../../../prompts/template.js';
import type { Stored } from '../../../storage/change.js';
import type { Row, Table } from '../../../storage/define-table.js';
import { partialVersions, promptPartials, promptVersions, prompts, type PromptPartialRow, type PromptRow } from '../../../storage/tables/prompts.js';
import type { WorkspaceRow } from '../../../storage/tables/workspaces.js';
import type { ControlContext } from '../../context.js';
import { isFound } from '../../paging.js';
import { collectionNamed } from '../collections/find-collection.js';

/** Versions that one prompt or partial keeps. Beyond, the oldest is deleted that is not published, has no label and is used by no template in use. */
export const versionsMax = 100;
export const versionsPage = 20;
/** Users of a partial that a refusal names. */
const usersShown = 5;
/** Partials that are visited in the search for a circle. */
const walkMax = 1000;

interface Versioned {
  readonly published: number;
  readonly latest: number;
  readonly uses: PromptRow['uses'];
  readonly labels?: PromptRow['labels'];
}

/** Numbers of the versions that calls reach without a number. */
const liveNumbers = ({ published, latest, labels = [] }: Versioned): ReadonlySet<number> => new Set([published, latest, ...labels.map(({ number }) => number)]);

/** `uses` of the row as it is now, with those of a version that has been read or made. */
export function usesWith(row: Versioned, number: number, partials: readonly PartialName[]): PromptRow['uses'] {
  const slugs = [...new Set(partials.map(({ slug }) => slug))];
  const all = [...row.uses.filter((use) => use.number !== number), { number, partials: slugs }];
  const live = liveNumbers(row);
  return all.filter((use) => live.has(use.number) && use.partials.length > 0);
}

/** Parses a template of the client. Throws FIELD_INVALID for `param` when it is wrong. */
export function parsedTemplate<T>(param: string, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof TemplateFault) throw fail('FIELD_INVALID', { param, reason: thrown.message });
    throw thrown;
  }
}

/** Of a list: those in the collection that the query names, by name or slug. Throws REFERENCE_UNKNOWN. */
export async function wantedBy(context: ControlContext, workspace: WorkspaceRow | undefined, query: { readonly collection_id?: string; readonly search?: string }): Promise<(row: PromptPartialRow) => boolean> {
  const { collection_id: given, search } = query;
  const collectionId = given === undefined || workspace === undefined ? given : (await collectionNamed(context, workspace, given, 'collection_id')).id;
  return (row) => (collectionId === undefined || row.collectionId === collectionId) && isFound(row, search);
}

/** Checks that each partial exists, and that none uses `own`, the partial that names them, directly or through others. Throws REFERENCE_UNKNOWN, FIELD_INVALID. */
export async function checkPartials(context: ControlContext, workspaceId: string, names: readonly PartialName[], own: string | null): Promise<void> {
  const { repository } = context;
  const open: string[] = [];
  for (const { slug, version } of names) {
    const shown = version === '' ? slug : `${slug}@${version}`;
    const stored = await repository.find(promptPartials, 'slug', [workspaceId, slug]);
    const isThere = stored !== undefined && stored.row.status === 'active' && (!/^\d/.test(version) || await repository.find(partialVersions, 'number', [stored.row.id, String(Number(version))]) !== undefined);
    if (!isThere) throw fail('REFERENCE_UNKNOWN', { param: 'string', kind: 'partial', id: `${shown} in this workspace` });
    open.push(slug);
  }
  if (own === null) return;
  const seen = new Set(open);
  for (let slug = open.pop(); slug !== undefined && seen.size <= walkMax; slug = open.pop()) {
    if (slug === own) throw fail('FIELD_INVALID', { param: 'string', reason: `names ${own} itself, or partials that do: partials cannot stand in a circle` });
    for (const { partials } of (await repository.find(promptPartials, 'slug', [workspaceId, slug]))?.row.uses ?? []) {
      for (const each of partials) if (!seen.has(each)) {
        seen.add(each);
        open.push(each);
      }
    }
  }
}

/** Throws ROW_IN_USE. */
export async function refuseUsedPartial(context: ControlContext, row: PromptPartialRow): Promise<void> {
  const users: string[] = [];
  const look = async <R extends Row & Versioned & { readonly slug: string }>(table: Table<R>, kind: string): Promise<void> => {
    for await (const { row: user } of context.repository.each(table, { index: 'workspace', parts: [row.workspaceId] })) {
      if (users.length === usersShown) return;
      const numbers = user.uses.filter(({ partials }) => partials.includes(row.slug)).map(({ number }) => number);
      if (numbers.length > 0) users.push(`the ${kind} ${user.slug} (version ${numbers.join(', ')})`);
    }
  };
  await look(prompts, 'prompt');
  await look(promptPartials, 'partial');
  if (users.length > 0) throw fail('ROW_IN_USE', { kind: 'partial', id: row.slug, users: users.join(', '), advice: 'publish versions without it first' });
}

/** Takes the oldest version away that nobody reaches without its number, when there are too many with the one that is made now. `pinned`: numbers that stay as well. Throws FIELD_INVALID. */
export async function dropOldest<V extends Row & { readonly number: number }>(context: ControlContext, table: Table<V>, index: string, id: string, row: Versioned, pinned?: () => Promise<ReadonlySet<number>>): Promise<void> {
  if (await context.repository.count(table, index, [id]) < versionsMax) return;
  const live = liveNumbers(row);
  const named = await pinned?.();
  for await (const version of context.repository.each(table, { index, parts: [id] })) {
    if (live.has(version.row.number) || named?.has(version.row.number) === true) continue;
    context.change.remove(version);
    return;
  }
  throw fail('FIELD_INVALID', { param: 'string', reason: `would be one more than the ${versionsMax} versions that are kept, and templates in use name all of them by their numbers; take some out first` });
}

/** Numbers of the versions of a partial that templates in use name: `{{>tone@2}}`. */
export async function pinnedNumbers({ repository }: ControlContext, { workspaceId, slug }: PromptPartialRow): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  const look = async <R extends Row & Versioned, V extends Row & { readonly template: string }>(table: Table<R>, versions: Table<V>): Promise<void> => {
    for await (const { row: user } of repository.each(table, { index: 'workspace', parts: [workspaceId] })) {
      for (const { number, partials } of user.uses) {
        if (!partials.includes(slug)) continue;
        const version = await repository.find(versions, 'number', [user.id, String(number)]);
        const named: { readonly partials: readonly PartialName[] } = JSON.parse(version?.row.template ?? '{"partials":[]}');
        for (const each of named.partials) if (each.slug === slug && isVersionNumber(each.version)) numbers.add(Number(each.version));
      }
    }
  };
  await look(prompts, promptVersions);
  await look(promptPartials, partialVersions);
  return numbers;
}

/** One of the versions, by its number. Throws ROW_UNKNOWN. */
export async function versionAt<V extends Row>(context: ControlContext, table: Table<V>, id: string, number: number, of: string): Promise<Stored<V>> {
  const stored = await context.repository.find(table, 'number', [id, String(number)]);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'version', id: `${number} of ${of}` });
  return stored;
}
