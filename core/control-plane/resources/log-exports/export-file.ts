// Files of exports: where they are, and the links by which they are fetched. A link is good for one file and a short time, and needs no key.

import { join } from 'node:path';
import type { Sealer } from '../../../storage/sealer.js';

const folderName = 'exports';
/** A link is good for so long. */
export const linkMs = 900_000;
const purpose = 'file of a log export';

export const exportsFolder = (dataDir: string): string => join(dataDir, folderName);
/** Each run has files of its own, so that one that was taken for dead and goes on touches nothing of the next. */
export const exportFileName = (exportId: string, runId: string): string => `${exportId}.${runId}.jsonl`;
export const exportPartName = (exportId: string, runId: string): string => `${exportId}.${runId}.part`;
/** The run that a file in the folder belongs to; undefined: it is none of ours. */
export const runOfFile = (name: string): { readonly exportId: string; readonly runId: string; readonly isPart: boolean } | undefined => {
  const [, exportId, runId, end] = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.(jsonl|part)$/.exec(name) ?? [];
  return exportId === undefined || runId === undefined ? undefined : { exportId, runId, isPart: end === 'part' };
};

/** The export whose file an earlier build named so. */
export const exportOfEarlierFile = (name: string): string | undefined => /^([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1];

const signed = (exportId: string, runId: string, expires: string): string => `${exportId} ${runId} ${expires}`;

export function linkTo(exportId: string, runId: string, origin: string, sealer: Sealer, nowMs: number): string {
  const expires = String(nowMs + linkMs);
  return `${origin}/v1/logs/exports/${exportId}/file?run=${runId}&expires=${expires}&signature=${sealer.sign(purpose, signed(exportId, runId, expires))}`;
}

const linkPath = /^\/v1\/logs\/exports\/([0-9a-f-]{36})\/file$/;

/** The export whose file a path names; undefined: it is another path. */
export const exportOfLink = (path: string): string | undefined => linkPath.exec(path)?.[1];

/** The run whose file the link is for; undefined: it is not valid, or not any more. */
export function runOfLink(exportId: string, query: string, sealer: Sealer, nowMs: number): string | undefined {
  const given = new URLSearchParams(query);
  const [runId, expires, signature] = [given.get('run') ?? '', given.get('expires') ?? '', given.get('signature') ?? ''];
  // What was signed is as the gateway wrote it.
  const isValid = /^[0-9a-f-]{36}$/.test(runId) && /^\d{1,15}$/.test(expires) && sealer.isSigned(purpose, signed(exportId, runId, expires), signature) && nowMs < Number(expires);
  return isValid ? runId : undefined;
}
