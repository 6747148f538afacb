// Hot: runs for each call.
// A request without a streamed body goes out in one write. A short one is put together in a buffer that all calls of the thread use; it is the
// kernel's when the write returns, as it nearly always is, or the buffer is left to the write and another one takes its place.

import type { Socket } from '../egress.js';
import type { RequestHead } from './request-head.js';

/** Longer requests are written as two pieces, at once. */
const joinedBytesMax = 16_384;
/** Of the line that tells the length, and the empty one. */
const endBytesMax = 64;

let joined = Buffer.allocUnsafeSlow(joinedBytesMax);

/** What follows the headers of a request whose body has `length` bytes. */
function endOf(head: RequestHead, length: number): string {
  return length > 0 || head.expectsBody || head.length === 0 ? `content-length: ${length}\r\n\r\n` : '\r\n';
}

/** `isPlain`: without TLS, which writes in its own time. */
export function sendWhole(socket: Socket, head: RequestHead, body: Uint8Array | null, isPlain: boolean): void {
  const { bytes } = head;
  const length = body === null ? 0 : body.byteLength;
  const end = endOf(head, length);
  const total = bytes.length + endBytesMax + length;
  if (total > joinedBytesMax) {
    socket.cork();
    socket.write(Buffer.concat([bytes, Buffer.from(end, 'latin1')]));
    if (body !== null && length > 0) socket.write(body);
    socket.uncork();
    return;
  }
  const buffer = isPlain ? joined : Buffer.allocUnsafe(total);
  buffer.set(bytes, 0);
  let at = bytes.length;
  at += buffer.write(end, at, 'latin1');
  if (body !== null) buffer.set(body, at);
  socket.write(buffer.subarray(0, at + length));
  if (isPlain && socket.writableLength > 0) joined = Buffer.allocUnsafeSlow(joinedBytesMax);
}
