import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { apiKeys } from '../../../core/storage/tables/api-keys.js';
import { firstAdminKey, firstApiKey, startControl } from '../../support/control.js';

const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
/** Parts of the page whose calls are made one after the other, as a newcomer does. */
const parts: readonly (readonly [heading: string, calls: number])[] = [
  ['## Stored keys', 1], ['### Secrets in a secret manager', 2], ['### Guardrails', 3], ['## Models', 2], ['## Keys and workspaces', 3], ['## Limits, money and logs', 2], ['### Policies', 3], ['### Prices', 1], ['### Reading the log', 1], ['### Analytics', 1],
];

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly as: string;
  readonly body: string | undefined;
}

function* callsOf(heading: string): Generator<Shown> {
  const section = readme.slice(readme.indexOf(`\n${heading}\n`) + heading.length + 2).split(/\n#{2,3} /, 1)[0] ?? '';
  for (const [, block = ''] of section.matchAll(/```sh\n([\s\S]*?)```/g)) {
    for (const [line] of block.replaceAll("'\"$OPENAI_API_KEY\"'", 'sk-an-openai-key-of-the-test-0001').matchAll(/^curl (?:[^'\n\\]|\\\n|'[^']*')*/gm)) {
      const [, path = ''] = /(?:localhost|127\.0\.0\.1):8787(\/v1\/[^\s"]+)/.exec(line) ?? [];
      const [, body] = /-d '([^']*)'/.exec(line) ?? [];
      // Calls to models, and of exports, whose files are written by a gateway that runs.
      if (path === '' || /chat\/completions|v1\/models\?|\$id/.test(path)) continue;
      yield { method: /-X (\w+)/.exec(line)?.[1] ?? (body === undefined ? 'GET' : 'POST'), path, as: line.includes('$ADMIN_KEY') ? firstAdminKey : firstApiKey, body };
    }
  }
}

it('calls of the control plane that README.md shows work as they stand there, in their order', async () => {
  const control = await startControl();
  const [first] = (await control.repository.list(apiKeys, { limit: 10 })).filter(({ row }) => row.type === 'workspace-service');
  let workspace = 'ws-red-team-1a2b3c';
  for (const [heading, count] of parts) {
    const calls = [...callsOf(heading)];
    assert.equal(calls.length, count, `${heading}: ${calls.map(({ method, path }) => `${method} ${path}`).join(', ')}`);
    for (const { method, path, as, body } of calls) {
      const given: unknown = body === undefined ? undefined : JSON.parse(body.replaceAll('ws-red-team-1a2b3c', workspace));
      const reply = await control.call(method, path.replace('$KEY_ID', first?.row.id ?? ''), given, { as });
      assert.equal(reply.status, 200, `${method} ${path}: ${JSON.stringify(reply.body)}`);
      if (path === '/v1/workspaces') workspace = String(reply.body.slug);
    }
  }
  assert.deepEqual(control.faults, []);
});
