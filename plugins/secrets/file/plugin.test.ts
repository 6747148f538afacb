import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { conformSecrets, fakeHost } from '@gateway/plugin-sdk/testing';
import file from './plugin.js';

const root = mkdtempSync(join(tmpdir(), 'gateway-secrets-'));
after(() => rmSync(root, { recursive: true, force: true }));
const allowed = join(root, 'allowed');
mkdirSync(join(allowed, '..data'), { recursive: true });
writeFileSync(join(root, 'outside'), 'out-of-bounds');
writeFileSync(join(allowed, 'key'), 'sk-of-a-file\n');
writeFileSync(join(allowed, '..data', 'mounted'), 'sk-mounted');
writeFileSync(join(allowed, 'master.key'), 'the-master-key');
symlinkSync('..data/mounted', join(allowed, 'mounted'));
symlinkSync('../outside', join(allowed, 'escape'));
symlinkSync('/proc/self/environ', join(allowed, 'environ'));
writeFileSync(join(allowed, 'huge'), Buffer.alloc(70_000, 'x'));
execFileSync('mkfifo', [join(allowed, 'pipe')]);

conformSecrets(file, {}, {
  allowed: [allowed],
  values: { [join(allowed, 'key')]: 'sk-of-a-file', [join(allowed, 'mounted')]: 'sk-mounted' },
  absent: join(allowed, 'absent'),
  refused: [join(root, 'outside'), `${allowed}-other/key`, `${allowed}/../outside`, 'key', './key', '', join(allowed, 'master.key'), allowed, '/etc/passwd'],
});

test('links that lead out, pipes, folders and large files are refused', async () => {
  const source = await file.create({}, fakeHost(), [allowed]);
  const read = (name: string): Promise<unknown> => source.read(join(allowed, name), new AbortController().signal);
  await assert.rejects(read('escape'), /leads out of the directories/);
  await assert.rejects(read('environ'), /leads out of the directories/);
  await assert.rejects(read('pipe'), /is not that of a file/);
  await assert.rejects(read('..data'), /is not that of a file/);
  await assert.rejects(read('huge'), /larger than 65536 bytes/);
});

test('no rule makes files of the system secrets', async () => {
  const source = await file.create({}, fakeHost(), ['/', 'relative']);
  assert.match(source.pathFault?.('/proc/self/environ') ?? '', /secret_sources/);
  await assert.rejects(source.read(join(allowed, 'environ'), new AbortController().signal), /leads out of/);
});
