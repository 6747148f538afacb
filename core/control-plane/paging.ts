// Pages of lists: `current_page` from 0 and `page_size`, newest first.

import { Type } from '../storage/type.js';
import { fail } from '../errors/gateway-error.js';
import { listReply } from './envelope.js';
import type { ControlContext } from './context.js';
import type { Stored } from '../storage/change.js';
import type { Row, Table } from '../storage/define-table.js';
import type { WorkspaceRow } from '../storage/tables/workspaces.js';

export const pageSizeMax = 1000;
export const pageSizeDefault = 100;

/** Members of a list's query; spread them into its schema. Texts, as all of a query is. */
export const pageQuery = (defaultSize: number = pageSizeDefault, maximum: number = pageSizeMax) => ({
  current_page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum, default: defaultSize })),
});

/** Of the rows in one reply, about. Fewer of them are asked for at once when they are large. */
const replyCharsMax = 8 * 1024 * 1024;

/** The rows of one reply: so many as one thread can write, and others wait for. */
export class PageRows {
  readonly rows: unknown[] = [];
  #chars = 0;

  /** Throws FIELD_INVALID when there is no room for it; for the first there is. */
  add(row: unknown): void {
    this.#chars += JSON.stringify(row).length;
    if (this.#chars > replyCharsMax && this.rows.length > 0) throw fail('FIELD_INVALID', { param: 'page_size', reason: `asks for more than ${replyCharsMax / 1024 / 1024} MiB of rows at once; these are large, so ask for at most ${this.rows.length}` });
    this.rows.push(row);
  }
}

/** Where a list begins: the rows of a workspace, or of all of the organisation. */
export const inReach = ({ caller }: ControlContext, workspace: WorkspaceRow | undefined): { readonly index: string; readonly parts: readonly string[] } =>
  (workspace === undefined ? { index: 'organisation', parts: [caller.organisationId] } : { index: 'workspace', parts: [workspace.id] });

export const searchField = () => Type.Optional(Type.String({ maxLength: 255 }));

/** Whether the name or the slug has the text that is searched for, in letters of any case. */
export function isFound({ name, slug }: { readonly name: string; readonly slug: string }, search = ''): boolean {
  const text = search.toLowerCase();
  return name.toLowerCase().includes(text) || slug.toLowerCase().includes(text);
}

export interface Page {
  readonly current_page?: number;
  readonly page_size?: number;
}

/** One page of the rows of an index, newest first, and how many there are. */
export async function pageOf<R extends Row>(
  context: ControlContext, table: Table<R>, at: { readonly index?: string; readonly parts?: readonly string[] }, page: Page, view: (stored: Stored<R>) => unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const size = page.page_size ?? pageSizeDefault;
  const shown = new PageRows();
  for await (const stored of context.repository.page(table, { ...at, limit: size, offset: (page.current_page ?? 0) * size, reverse: true })) shown.add(await view(stored));
  return listReply(await context.repository.count(table, at.index, at.parts), shown.rows);
}

/** The same of rows that a filter has to look at one by one; newest first. */
export async function filteredPage<R extends Row>(
  context: ControlContext, table: Table<R>, at: { readonly index?: string; readonly parts?: readonly string[] }, page: Page,
  isWanted: (row: R) => boolean, view: (stored: Stored<R>) => unknown,
): Promise<Readonly<Record<string, unknown>>> {
  return pageAmong(context.repository.each(table, { ...at, reverse: true }), page, ({ row }) => isWanted(row), view);
}

/** One page of what is wanted among all of these, and how many there are. */
export async function pageAmong<T>(all: AsyncIterable<T>, page: Page, isWanted: (each: T) => boolean, view: (each: T) => unknown): Promise<Readonly<Record<string, unknown>>> {
  const size = page.page_size ?? pageSizeDefault;
  const first = (page.current_page ?? 0) * size;
  const shown = new PageRows();
  let total = 0;
  for await (const each of all) {
    if (!isWanted(each)) continue;
    if (total >= first && shown.rows.length < size) shown.add(await view(each));
    total += 1;
  }
  return listReply(total, shown.rows);
}
