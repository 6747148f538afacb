import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpendAlerts } from '../../../core/control-plane/spend-alerts.js';
import type { Alert } from '../../../core/limits/keeper.js';
import type { Repository } from '../../../core/storage/repository.js';
import { ownerOf } from '../limits/spend-kit.js';

const alertOf = (workspaceId: string, key: string): Alert => ({
  kind: 'exhausted', counter: { key, counted: 'cost', period: 0, startMs: 0, told: 0 }, owner: ownerOf(key, { workspaceId, level: 'policy', id: 'p', kind: 'policy' }), used: 1, resetsAtMs: null,
});

test('posts that hang are bounded, and those of one workspace leave room for those of others', async () => {
  const posted: string[] = [];
  const faults: string[] = [];
  let commits = 0;
  const alerts = new SpendAlerts({
    repository: { commit: async () => { commits += 1; } } as unknown as Repository, webhookUrl: 'http://127.0.0.1:1/alerts', now: () => 1, notify: () => undefined, onFault: (reason) => faults.push(reason),
    post: (_, body, __, signal) => {
      posted.push(JSON.parse(body).workspace_id);
      return new Promise((_resolve, reject) => { signal.addEventListener('abort', () => reject(new Error('the end'))); });
    },
  });
  for (let index = 0; index < 200; index += 1) await alerts.tell(alertOf('hostile', `policy/p/model:${index}`));
  for (let index = 0; index < 10; index += 1) await alerts.tell(alertOf('fair', `policy/p/model:fair ${index}`));
  const of = (workspace: string): number => posted.filter((each) => each === workspace).length;
  assert.deepEqual([of('hostile'), of('fair'), faults.length, commits], [20, 10, 180, 210]);
  for (let workspace = 0; workspace < 200; workspace += 1) await alerts.tell(alertOf(`w${workspace}`, 'policy/p/model:x'));
  assert.equal(posted.length, 100);
  await alerts.stop();
});
