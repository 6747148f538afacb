import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { RestartedThread, startThread, type RestartedThreadOptions } from '../../core/started-thread.js';

const moduleOf = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';\n${code}`)}`);

describe('a thread that is started again', () => {
  // Neither the wait for the next start nor a port keeps a process alive.
  const alive = setInterval(() => undefined, 1000);
  after(() => clearInterval(alive));
  const made = (code: string, options: Partial<RestartedThreadOptions<unknown>>): RestartedThread<unknown> => new RestartedThread<unknown>({
    name: 'the thread', entry: moduleOf(code), youngGenerationMb: 8, restartMs: 1, restartMsMax: 4, logger: { error: () => undefined },
    startOf: () => ({ data: {} }), onMessage: () => undefined, onDeath: () => undefined, ...options,
  });

  it('waits twice as long after each death, up to its limit, until it is stopped', async () => {
    const deaths: unknown[] = [];
    await new Promise<void>((resolve) => {
      const thread = made("parentPort.postMessage({ kind: 'ready' }); parentPort.postMessage({ kind: 'died', reason: 'of hunger' });", {
        onDeath: (reason, inMs) => {
          deaths.push([reason, inMs]);
          if (deaths.length < 4) return;
          thread.stop('stop');
          resolve();
        },
      });
      thread.keep();
    });
    assert.deepEqual(deaths, [['of hunger', 1], ['of hunger', 2], ['of hunger', 4], ['of hunger', 4]]);
  });

  it('tells whoever waits for it why it does not come up, and then is not tried again', async () => {
    let deaths = 0;
    const thread = made("parentPort.postMessage({ kind: 'failed', reason: 'no room' });", { onDeath: () => { deaths += 1; } });
    await assert.rejects(thread.start(), { code: 'SETTINGS_INVALID', message: 'no room' });
    assert.deepEqual([thread.isThere, deaths], [false, 0]);
  });

  it('is ended by force when it does not hear, and that is told', async () => {
    const told: unknown[] = [];
    const thread = made("parentPort.on('message', () => undefined); parentPort.postMessage({ kind: 'ready' });", { logger: { error: (_, fields) => told.push(fields) } });
    await thread.start();
    thread.stop('stop');
    await thread.ended(1, false);
    assert.deepEqual(told, [{ what: 'the thread', reason: 'not closed after 1 ms' }]);
    await thread.ended(60_000, false);
    assert.deepEqual([thread.isThere, told.length], [false, 1]);
  });

  it('closes its ports when it cannot be made', async () => {
    const { port1, port2 } = new MessageChannel();
    const closed = new Promise<void>((resolve) => { port1.once('close', () => resolve()); });
    assert.throws(() => startThread({ data: { port2, notForThreads: () => undefined }, ports: [port2] }, { entry: moduleOf(''), youngGenerationMb: 8, onMessage: () => undefined }, () => undefined), /could not be cloned/);
    await closed;
  });
});
