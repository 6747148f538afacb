import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { describe, it } from 'node:test';
import { statusLine } from '../../../core/server/status-line.js';

describe('a status line', () => {
  it('has the code and a phrase for every status a gateway relays', () => {
    for (const status of [200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 431, 500, 502, 503, 504]) {
      assert.match(statusLine(status), new RegExp(`^${status} [A-Z][A-Za-z -]+$`));
      assert.doesNotMatch(statusLine(status), /Unknown/);
    }
    for (const [status, phrase] of [...Object.entries(STATUS_CODES), [246, 'Hooks Failed'], [446, 'Hooks Denied'], [529, 'Overloaded']]) {
      assert.equal(statusLine(Number(status)), `${status} ${phrase}`);
    }
  });

  it('is a valid one for a status nobody has named', () => {
    assert.equal(statusLine(299), '299 Unknown');
    assert.equal(statusLine(299), statusLine(299));
  });
});
