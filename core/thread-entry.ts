// Entry of the threads beside the main one. Started by app.ts.

import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from './errors/gateway-error.js';
import type { Settings } from './settings/read.js';
import { DataThread, type SharedMemory } from './thread.js';

export interface ThreadData {
  readonly settings: Settings;
  readonly shared: SharedMemory;
  readonly port: number;
  readonly index: number;
}

export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stop'; readonly deadlineMs: number };

const port = parentPort;
if (port === null) throw new Error('thread-entry.js runs in a worker thread only');
const data: ThreadData = workerData;
try {
  const thread = await DataThread.start(data.settings, data.shared, data.port, data.index);
  port.on('message', (message: ThreadMessage) => {
    if (message.kind !== 'stop') return;
    void thread.stop(message.deadlineMs).then(() => port.close());
  });
  port.postMessage({ kind: 'ready' } satisfies ThreadMessage);
} catch (thrown) {
  port.postMessage({ kind: 'failed', reason: reasonOf(thrown) } satisfies ThreadMessage);
  port.close();
}
