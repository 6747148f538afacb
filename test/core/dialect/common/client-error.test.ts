import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fail } from '../../../../core/errors/gateway-error.js';
import { errorBody, errorEvent } from '../../../../core/dialect/common/client-error.js';
import { dialects } from '../../../../core/dialect/dialects.js';
import { SseParser } from '../../../../core/stream/sse-parser.js';

const bodyFault = fail('BODY_INVALID', { param: 'messages', reason: 'must be "a list" \n of \u2028 things' });

/** What a client's parser makes of a stream that ends with the error. */
function eventsOf(stream: string): { event: string | undefined; data: unknown }[] {
  const events: { event: string | undefined; data: unknown }[] = [];
  const parser = new SseParser(({ event, data }) => { events.push({ event, data: JSON.parse(data) }); });
  parser.push(Buffer.from(stream));
  parser.end();
  return events;
}

/** What the gateway's own clients read of what it says itself. */
const ownOf = ({ message }: Error) => ({ status: 'failure', message });

describe('an error as a body', () => {
  it('of a provider has nothing of the gateway', () => {
    const error = { status: 429, message: 'slow down', type: 'rate_limit_error', param: null, code: null };
    assert.deepEqual(JSON.parse(errorBody(error, dialects.chat)), { error: { message: 'slow down', type: 'rate_limit_error', param: null, code: null } });
    assert.deepEqual(JSON.parse(errorBody(error, dialects.messages)), { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } });
  });

  it('has the shape of OpenAI for chat and responses', () => {
    for (const dialect of ['chat', 'responses'] as const) {
      assert.deepEqual(JSON.parse(errorBody(bodyFault, dialects[dialect])), {
        error: { message: bodyFault.message, type: 'invalid_request_error', param: 'messages', code: 'body_invalid' }, ...ownOf(bodyFault),
      });
      assert.deepEqual(JSON.parse(errorBody(fail('KEY_MISSING'), dialects[dialect])).error.param, null);
    }
  });

  it('has the shape of Anthropic for messages, with its type by status', () => {
    const cases = [
      [bodyFault, 'invalid_request_error'], [fail('KEY_INVALID'), 'authentication_error'], [fail('SCOPE_MISSING', { scope: 'x' }), 'permission_error'],
      [fail('ROUTE_UNKNOWN', { method: 'GET', path: '/' }), 'not_found_error'], [fail('BODY_TOO_LARGE', { maximum: 1 }), 'request_too_large'],
      [fail('OVERLOADED', { maximum: 1 }), 'overloaded_error'], [fail('ATTEMPT_TIMEOUT', { timeoutMs: 1 }), 'invalid_request_error'],
      [fail('UPSTREAM_BROKE', { provider: 'p', reason: 'x' }), 'api_error'], [fail('UPSTREAM_IDLE', { provider: 'p', timeoutMs: 1 }), 'timeout_error'],
    ] as const;
    for (const [error, type] of cases) assert.deepEqual(JSON.parse(errorBody(error, dialects.messages)), { type: 'error', error: { type, message: error.message }, ...ownOf(error) });
  });
});

describe('an error inside a stream', () => {
  it('is one event in each dialect', () => {
    const { message } = bodyFault;
    assert.deepEqual(eventsOf(errorEvent(bodyFault, dialects.chat, false)), [{ event: undefined, data: { error: { message, type: 'invalid_request_error', param: 'messages', code: 'body_invalid' } } }]);
    assert.deepEqual(eventsOf(errorEvent(bodyFault, dialects.messages, false)), [{ event: 'error', data: { type: 'error', error: { type: 'invalid_request_error', message } } }]);
    assert.deepEqual(eventsOf(errorEvent(bodyFault, dialects.responses, false)), [
      { event: 'error', data: { type: 'error', code: 'body_invalid', message: bodyFault.message, param: 'messages', sequence_number: 0 } },
    ]);
  });

  it('is an event of its own after half an event', () => {
    for (const dialect of ['chat', 'messages', 'responses'] as const) {
      const events = eventsOf(`data: {"a":1}\n\ndata: {"half":true}${errorEvent(bodyFault, dialects[dialect], true)}`);
      assert.equal(events.length, 3, dialect);
      assert.ok(JSON.stringify(events[2]?.data).includes('must be'), dialect);
    }
  });

  it('is a single data line, whatever the message holds', () => {
    for (const dialect of ['chat', 'messages', 'responses'] as const) {
      const lines = errorEvent(bodyFault, dialects[dialect], false).split(/\r\n|\r|\n/).filter((line) => line !== '');
      assert.equal(lines.filter((line) => line.startsWith('data: ')).length, 1);
      assert.equal(lines.length, dialect === 'chat' ? 1 : 2);
    }
  });
});
