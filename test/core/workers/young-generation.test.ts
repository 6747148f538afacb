import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, it } from 'node:test';
import { servingGeneration } from '../../../core/workers/young-generation.js';

const program = fileURLToPath(new URL('./young-threads.js', import.meta.url));

describe('young generations of threads', () => {
  it('are as large as each thread is told, whatever the process is told', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--max-semi-space-size=32', program], { env: { ...process.env, NODE_OPTIONS: '' } });
    const [told, serving, main]: unknown[] = JSON.parse(stdout);
    assert.deepEqual({ told, serving, main }, { told: 8, serving: 64, main: 64 });
  });

  it('of serving threads are those of the process, however it was told', () => {
    const threeTimes = (megabytes: number): object => ({ maxYoungGenerationSizeMb: megabytes * 3 });
    assert.deepEqual(servingGeneration('', ['--max-semi-space-size=32', '--single-threaded-gc']), threeTimes(32));
    assert.deepEqual(servingGeneration('', ['--max_semi_space_size', '8']), threeTimes(8));
    assert.deepEqual(servingGeneration('--no-warnings --max-semi-space-size=16', []), threeTimes(16));
    assert.deepEqual(servingGeneration('--max-semi-space-size=16', ['--max-semi-space-size=64']), threeTimes(64));
    assert.deepEqual(servingGeneration('', ['--max-semi-space-size=0']), {});
    assert.deepEqual(servingGeneration('', ['--single-threaded-gc']), {});
  });
});
