// Run by young-generation.test.ts in a process of its own: what the young generations of its threads grow to, in megabytes.
import { once } from 'node:events';
import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { servingGeneration, youngGeneration } from '../../../core/workers/young-generation.js';

/** Of both halves, when so much has outlived a collection that they are as large as they may be. */
function grown(): number {
  let kept: unknown[] = [];
  for (let index = 0; index < 1_500_000; index += 1) {
    kept.push({ index, list: [index] });
    if (kept.length > 200_000) kept = [];
  }
  return Math.round((getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0) / 1_048_576);
}

const file = new URL(import.meta.url);

async function grownOf(resourceLimits: ReturnType<typeof youngGeneration>): Promise<unknown> {
  const [megabytes]: unknown[] = await once(new Worker(file, { resourceLimits }), 'message');
  return megabytes;
}

if (isMainThread) {
  const found = await Promise.all([grownOf(youngGeneration(12)), grownOf(servingGeneration())]);
  console.log(JSON.stringify([...found, grown()]));
} else {
  parentPort?.postMessage(grown());
}
