import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Logger } from '../../../core/telemetry/logger.js';
import { Metrics, overflowName } from '../../../core/telemetry/metrics.js';
import type { LogLevel } from '../../../core/settings/schema.js';

function setUp(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const logger = new Logger(level, { write: (line) => { lines.push(line); }, now: () => 0 });
  const last = (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}');
  return { logger, lines, last };
}

describe('logger', () => {
  it('writes one JSON line for each event', () => {
    const { logger, lines } = setUp();
    logger.info('started', { port: 8787, hosts: ['a', 'b'], nothing: undefined, none: null });
    assert.deepEqual(lines, ['{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"started","port":8787,"hosts":["a","b"],"none":null}\n']);
  });

  it('writes what is at least as severe as its level', () => {
    const levels: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];
    for (const [index, level] of levels.entries()) {
      const { logger, lines } = setUp(level);
      for (const method of levels) logger[method]('x');
      assert.equal(lines.length, index + 1);
      assert.deepEqual(levels.map((other) => logger.isEnabled(other)), levels.map((_, other) => other <= index));
    }
  });

  it('does not look at the fields of a line that is not written', () => {
    const { logger, lines } = setUp('error');
    logger.debug('x', { get expensive(): string { return assert.fail('it was read'); } });
    assert.equal(lines.length, 0);
  });

  it('keeps its own members over fields of the same name', () => {
    const { logger, last } = setUp();
    logger.warn('real', { level: 'debug', message: 'forged', time: 'never' });
    assert.deepEqual(last(), { time: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'real' });
  });

  it('prints no registered secret, wherever it stands', () => {
    const { logger, lines } = setUp();
    const secret = 'very"secret\\value';
    logger.hide(secret);
    logger.info(`message with ${secret}`, {
      text: `x${secret}y`, deep: [{ list: [secret] }], [`name ${secret}`]: 1, error: new Error(`failed with ${secret}`, { cause: secret }), map: new Map([['k', secret]]), set: new Set([secret]),
    });
    assert.ok(!lines[0]?.includes('very') && !lines[0]?.includes('value'), lines[0]);
    assert.ok((lines[0]?.match(/\[redacted\]/g)?.length ?? 0) >= 8);
  });

  it('hides fields that are named like secrets, and not those that only sound like them', () => {
    const { logger, last } = setUp();
    const hidden = ['api_key', 'apiKey', 'x-api-key', 'x-gateway-api-key', 'Authorization', 'proxy-authorization', 'clientSecret', 'password', 'set-cookie', 'session_token', 'credentials', 'keyHash', 'master_key'];
    const shown = ['keyId', 'inputTokens', 'tokens', 'keyPrefix', 'cookieCount', 'author', 'secretary'];
    logger.info('x', Object.fromEntries([...hidden, ...shown].map((name) => [name, 'some value'])));
    for (const name of hidden) assert.equal(last()[name], '[redacted]', name);
    for (const name of shown) assert.equal(last()[name], 'some value', name);
    logger.info('x', { api_key: { nested: 'some value' }, token: 5 });
    assert.deepEqual([last().api_key, last().token], ['[redacted]', 5]);
  });

  it('hides credentials by their shape', () => {
    const { logger, last } = setUp();
    logger.info('sent Authorization: Bearer abcdefgh12345678 and Basic dXNlcjpwYXNz', { url: `https://x/?k=sk-abcdefghijklmnopqrst`, key: `gw_${'a'.repeat(43)}` });
    assert.equal(last().message, 'sent Authorization: Bearer [redacted] and Basic [redacted]');
    assert.equal(last().url, 'https://x/?k=[redacted]');
    assert.equal(last().key, '[redacted]');
  });

  it('prints any value, bounded: errors, circles, long texts, bytes, numbers JSON has not', () => {
    const { logger, last, lines } = setUp();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const cause = Object.assign(new Error('inner'), { code: 'ECONNRESET' });
    logger.error('x', {
      error: new TypeError('outer', { cause }), circle, long: 'é'.repeat(100_000), many: Array.from({ length: 1000 }, () => 1), bytes: new Uint8Array(5),
      infinite: Infinity, big: 10n, call: () => 1, date: new Date(0), broken: new Date(NaN), symbol: Symbol('s'), ['__proto__']: 1,
    });
    assert.ok((lines[0]?.length ?? 0) < 40_000);
    const error = last().error as Record<string, unknown>;
    assert.deepEqual([error.name, error.message], ['TypeError', 'outer']);
    const inner = error.cause as Record<string, unknown>;
    assert.deepEqual([inner.message, inner.code], ['inner', 'ECONNRESET']);
    assert.equal((last().many as unknown[]).length, 100);
    assert.deepEqual([last().bytes, last().infinite, last().big, last().call, last().date, last().broken, last().symbol],
      ['[5 bytes]', 'Infinity', '10', '[function]', '1970-01-01T00:00:00.000Z', 'Invalid Date', '[symbol]']);
  });
});

describe('metrics', () => {
  it('counts by name', () => {
    const metrics = new Metrics();
    metrics.add('b');
    metrics.add('a', 2.5);
    metrics.add('b', 2);
    assert.deepEqual(metrics.snapshot(), { a: 2.5, b: 3 });
    assert.equal(metrics.get('b'), 3);
    assert.equal(metrics.get('absent'), 0);
  });

  it('counts names beyond its limit together', () => {
    const metrics = new Metrics();
    for (let index = 0; index < 10_050; index += 1) metrics.add(`name ${index}`);
    assert.equal(metrics.get(overflowName), 50);
    metrics.add('name 3');
    assert.equal(metrics.get('name 3'), 2);
    assert.equal(Object.keys(metrics.snapshot()).length, 10_001);
  });
});
