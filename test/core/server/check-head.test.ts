import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestHead } from '../../../core/exchange/request-head.js';
import { checkHead } from '../../../core/server/check-head.js';

const headOf = (...headers: readonly (readonly [name: string, value: string])[]): RequestHead => {
  const head = new RequestHead();
  for (const [name, value] of headers) head.add(name, value);
  return head;
};
const codeOf = (...headers: readonly (readonly [name: string, value: string])[]): string | undefined => checkHead(headOf(...headers), 1000)?.code;

describe('a request head', () => {
  it('with plain framing passes', () => {
    assert.equal(codeOf(), undefined);
    assert.equal(codeOf(['content-length', '0']), undefined);
    assert.equal(codeOf(['content-length', '1000']), undefined);
    assert.equal(codeOf(['transfer-encoding', 'chunked']), undefined);
    assert.equal(codeOf(['transfer-encoding', 'Chunked']), undefined);
  });

  it('with two lengths is refused, equal or not', () => {
    assert.equal(codeOf(['content-length', '5'], ['content-length', '5']), 'LENGTH_REPEATED');
    assert.equal(codeOf(['content-length', '5'], ['content-length', '6']), 'LENGTH_REPEATED');
  });

  it('with a length that is not a plain number is refused', () => {
    for (const value of ['5, 5', '+5', '-5', '5.0', '0x5', '5e1', '', ' ', '1_0', '٥', '1'.repeat(16), 'five']) assert.equal(codeOf(['content-length', value]), 'HEADER_INVALID', JSON.stringify(value));
  });

  it('with any coding but chunked alone is refused', () => {
    for (const value of ['gzip', 'chunked, gzip', 'gzip, chunked', 'chunked, chunked', 'chunked;q=1', 'xchunked', 'identity', 'chunked,', '\tchunked']) {
      assert.equal(codeOf(['transfer-encoding', value]), 'TRANSFER_ENCODING_UNKNOWN', JSON.stringify(value));
    }
    assert.equal(codeOf(['transfer-encoding', 'chunked'], ['transfer-encoding', 'chunked']), 'TRANSFER_ENCODING_UNKNOWN');
  });

  it('with a length beside a coding is refused, in either order', () => {
    assert.equal(codeOf(['transfer-encoding', 'chunked'], ['content-length', '5']), 'HEADER_INVALID');
    assert.equal(codeOf(['content-length', '5'], ['transfer-encoding', 'chunked']), 'HEADER_INVALID');
    assert.equal(codeOf(['content-length', 'x'], ['transfer-encoding', 'chunked']), 'HEADER_INVALID');
  });

  it('that announces too much is refused before the body comes', () => {
    assert.equal(codeOf(['content-length', '1001']), 'BODY_TOO_LARGE');
    assert.equal(checkHead(headOf(['content-length', '1001']), 1000)?.message, 'request body is larger than 1000 bytes');
  });
});
