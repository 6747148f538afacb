// Hot: runs for each call.
// What uWebSockets.js lets through and should not: request smuggling hygiene. Judged before anything else looks at the request.

import { fail, type GatewayError } from '../errors/gateway-error.js';
import type { RequestHead } from '../exchange/request-head.js';

/** The fault of a head that must not be served; its connection is closed after the answer, since its framing cannot be trusted. */
export function checkHead(head: RequestHead, bodyBytesMax: number): GatewayError | undefined {
  if (head.contentLengthCount > 1) return fail('LENGTH_REPEATED');
  if (head.transferEncoding !== '') {
    if (head.transferEncoding.toLowerCase() !== 'chunked') return fail('TRANSFER_ENCODING_UNKNOWN');
    if (head.contentLengthCount > 0) return fail('HEADER_INVALID', { name: 'content-length', reason: 'must not come with transfer-encoding' });
  }
  if (head.contentLengthCount === 1 && head.contentLength < 0) return fail('HEADER_INVALID', { name: 'content-length', reason: 'must be a number' });
  if (head.contentLength > bodyBytesMax) return fail('BODY_TOO_LARGE', { maximum: bodyBytesMax });
  return undefined;
}
