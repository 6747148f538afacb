// Files of exports: where they are, and the links by which they are fetched. A link is good for one file and a short time, and needs no key.

import { join } from 'node:path';
import type { Sealer } from '../../../storage/sealer.js';

const folderName = 'exports';
/** A link is good for so long. */
export const linkMs = 900_000;
const purpose = 'file of a log export';

export const exportsFolder = (dataDir: string): string => join(dataDir, folderName);
export const exportFileName = (exportId: string): string => `${exportId}.jsonl`;
export const exportPartName = (exportId: string, runId: string): string => `${exportId}.${runId}.part`;
/** The export that a file in the folder belongs to; undefined: it is none of ours. */
export const exportOfFile = (name: string): { readonly exportId: string; readonly isPart: boolean } | undefined => {
  const [, exportId, end] = /^([0-9a-f-]{36})\.(jsonl|[0-9a-f-]{36}\.part)$/.exec(name) ?? [];
  return exportId === undefined ? undefined : { exportId, isPart: end !== 'jsonl' };
};

const signed = (exportId: string, expires: string): string => `${exportId} ${expires}`;

export function linkTo(exportId: string, origin: string, sealer: Sealer, nowMs: number): string {
  const expires = String(nowMs + linkMs);
  return `${origin}/v1/logs/exports/${exportId}/file?expires=${expires}&signature=${sealer.sign(purpose, signed(exportId, expires))}`;
}

const linkPath = /^\/v1\/logs\/exports\/([0-9a-f-]{36})\/file$/;

/** The export whose file a path names; undefined: it is another path. */
export const exportOfLink = (path: string): string | undefined => linkPath.exec(path)?.[1];

export function isLinkValid(exportId: string, query: string, sealer: Sealer, nowMs: number): boolean {
  const given = new URLSearchParams(query);
  const [expires, signature] = [given.get('expires') ?? '', given.get('signature') ?? ''];
  // What was signed is as the gateway wrote it.
  return /^\d{1,15}$/.test(expires) && sealer.isSigned(purpose, signed(exportId, expires), signature) && nowMs < Number(expires);
}
