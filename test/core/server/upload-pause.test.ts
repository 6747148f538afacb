import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HeldBytes } from '../../../core/body/held-bytes.js';
import { RequestBody } from '../../../core/server/request-body.js';
import type { UwsResponse } from '../../../core/server/uws.js';

/** Just what a body touches of a response. */
function fakeResponse() {
  let onData: (chunk: ArrayBuffer, isLast: boolean) => void = () => {};
  const calls: string[] = [];
  const response = {
    onData(handler: typeof onData) { onData = handler; return response; },
    pause() { calls.push('pause'); },
    resume() { calls.push('resume'); },
  };
  return { response: response as unknown as UwsResponse, calls, give: (bytes: number, isLast: boolean) => onData(new ArrayBuffer(bytes), isLast) };
}

it('lets a paused client go on when the rest of its body came with the same read', async () => {
  const { response, calls, give } = fakeResponse();
  const body = new RequestBody(response, { bodyBytesMax: 10_000_000, bodyTimeoutMs: 1000, bodyDeadlineMs: 60_000, bodyRateMin: 0 }, new HeldBytes(HeldBytes.allocate(), 16_777_216), true, 600_000);
  const upload = body.stream();
  give(400_000, false);
  assert.deepEqual(calls, ['pause']);
  give(200_000, true);
  assert.deepEqual(calls, ['pause', 'resume'], 'the next request of the connection would never be read');
  let read = 0;
  for await (const chunk of upload) read += chunk.length;
  assert.equal(read, 600_000);
  assert.equal(body.isComplete, true);
});
