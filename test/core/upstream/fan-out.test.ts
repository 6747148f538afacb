import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FanOut } from '../../../core/upstream/fan-out.js';

class Heard implements UpstreamListener {
  readonly told: string[] = [];
  onHead(status: number): void { this.told.push(`head ${status}`); }
  onChunk(chunk: Uint8Array): void { this.told.push(Buffer.from(chunk).toString()); }
  onEnd(): void { this.told.push('end'); }
  onError(error: Error): void { this.told.push(`error: ${error.message}`); }
}

/** Answers to a part. */
const answer = (listener: UpstreamListener, index: number): void => {
  listener.onHead(200, []);
  listener.onChunk(Buffer.from(String(index)));
  listener.onEnd();
};

describe('a call of many parts', () => {
  it('is answered by a list in the order of its parts', () => {
    const parts: UpstreamListener[] = [];
    const heard = new Heard();
    const call: UpstreamCall = { pause() {}, resume() {}, cancel() {} };
    new FanOut(10, 1000, (_, listener) => { parts.push(listener); return call; }, heard).begin();
    for (const index of [3, 1, 0, 2, 4, 5, 6, 7, 8, 9]) answer(parts[index]!, index);
    assert.deepEqual(heard.told, ['head 200', '[0,1,2,3,4,5,6,7,8,9]', 'end']);
  });

  it('fails as a whole, once, when one of them cannot be started, and throws at none of the others', () => {
    for (const broken of [0, 5, 9]) {
      const parts: UpstreamListener[] = [];
      const heard = new Heard();
      let cancelled = 0;
      const fanOut = new FanOut(10, 1000, (index, listener) => {
        if (index === broken) throw new Error(`part ${index} cannot be started`);
        parts.push(listener);
        return { pause() {}, resume() {}, cancel() { cancelled += 1; } };
      }, heard);
      fanOut.begin();
      for (const [index, part] of parts.entries()) answer(part, index);
      assert.deepEqual(heard.told, [`error: part ${broken} cannot be started`]);
      assert.equal(cancelled, parts.length);
    }
  });
});
