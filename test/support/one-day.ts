import { setTimeout as sleep } from 'node:timers/promises';

const dayMs = 86_400_000;
/** What the calls of a file take on a busy machine. */
const fileMsMax = 60_000;

/** Limits by the day, the week and the month begin anew at midnight, UTC. Where it would come between the calls of a file, they begin behind it. */
export async function withinOneDay(): Promise<void> {
  const leftMs = dayMs - Date.now() % dayMs;
  if (leftMs < fileMsMax) await sleep(leftMs + 1);
}
