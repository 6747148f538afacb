import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorCodes } from '../../../core/errors/codes.js';
import { fail, GatewayError, isGatewayError, reasonOf } from '../../../core/errors/gateway-error.js';

describe('fail()', () => {
  it('makes the error of the table with its message filled in', () => {
    const error = fail('UPSTREAM_IDLE', { provider: 'openai', timeoutMs: 1500 });
    assert.ok(error instanceof GatewayError && error instanceof Error);
    assert.equal(error.message, 'openai sent nothing for 1500 ms');
    const { status, source, retryable, type } = errorCodes.UPSTREAM_IDLE;
    assert.deepEqual({ status: error.status, source: error.source, retryable: error.retryable, type: error.type }, { status, source, retryable, type });
    assert.equal(error.code, 'UPSTREAM_IDLE');
    assert.equal(error.param, null);
    assert.equal(error.cause, undefined);
    assert.ok(!Object.hasOwn(error, 'cause'));
  });

  it('takes param for the answer and for the message', () => {
    const error = fail('BODY_INVALID', { param: 'messages[0]', reason: 'must be an object' });
    assert.equal(error.message, 'messages[0]: must be an object');
    assert.equal(error.param, 'messages[0]');
  });

  it('puts details in as they are, patterns of replace() included', () => {
    assert.equal(fail('PATH_INVALID', { reason: "$& $1 $' {reason}" }).message, "path: $& $1 $' {reason}");
  });

  it('keeps the cause', () => {
    const cause = new Error('below');
    assert.equal(fail('INTERNAL', { id: 'x' }, cause).cause, cause);
  });
});

describe('gateway errors', () => {
  it('are known by their marker, from another copy of the module too', () => {
    assert.ok(isGatewayError(fail('KEY_MISSING')));
    assert.ok(isGatewayError({ [Symbol.for('gateway.error')]: true }));
    for (const value of [new Error('x'), { code: 'KEY_MISSING' }, null, undefined, 'x', 1]) assert.ok(!isGatewayError(value));
  });

  it('and anything else thrown have a message', () => {
    assert.equal(reasonOf(new TypeError('x')), 'x');
    assert.equal(reasonOf('text'), 'text');
    assert.equal(reasonOf(undefined), 'undefined');
    const refuse = (): never => { throw new Error('no'); };
    const strange = [new Proxy({}, { getPrototypeOf: refuse, get: refuse, has: refuse }), Object.create(null), Object.defineProperty(new Error('x'), 'message', { get: refuse })];
    for (const thrown of strange) assert.deepEqual([reasonOf(thrown), isGatewayError(thrown)], ['what was thrown cannot be read', false]);
    assert.equal(reasonOf(Object.defineProperty(new Error('x'), 'message', { value: 5 })), '5');
  });
});
