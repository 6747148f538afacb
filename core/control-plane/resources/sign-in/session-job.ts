// Sessions whose time is over are removed; they were refused before.

import { Change } from '../../../storage/change.js';
import { sessions } from '../../../storage/tables/sessions.js';
import { isCommitted, type Job, type JobContext, type Memory } from '../../jobs.js';

/** Rows of one run; the rest follow in the next. */
const rowsMax = 1_000;

export const sessionJob: Job = Object.freeze({ name: 'sessions', isDue, run });

async function isDue({ repository, nowMs }: JobContext): Promise<boolean> {
  const [first] = await repository.list(sessions, { index: 'expiry', limit: 1 });
  return first !== undefined && first.row.expiresAtMs <= nowMs;
}

async function run({ repository, nowMs }: JobContext): Promise<Memory> {
  const change = new Change();
  for (const stored of await repository.list(sessions, { index: 'expiry', limit: rowsMax })) if (stored.row.expiresAtMs <= nowMs) change.remove(stored);
  if (!change.isEmpty) await isCommitted(repository, change);
  return {};
}
