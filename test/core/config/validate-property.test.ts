import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configSchema } from '../../../core/config/schema.js';
import { parseConfig, validateConfig } from '../../../core/config/validate.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import fc from '../../support/fast-check.js';

const options = { isKeyless: (provider: string) => provider === 'mock' };
const names = Object.keys(configSchema.$defs.config.else.properties);
const codes: ReadonlySet<string> = new Set(['CONFIG_NOT_JSON', 'CONFIG_INVALID']);

/** Accepted, or refused by an error of ours that says where and why. */
function isJudged(judge: () => unknown): void {
  try {
    judge();
  } catch (thrown) {
    assert.ok(isGatewayError(thrown), thrown instanceof Error ? thrown.stack : String(thrown));
    assert.ok(codes.has(thrown.code), thrown.code);
    assert.ok(thrown.message.length < 2000, thrown.message);
    if (thrown.code === 'CONFIG_INVALID') assert.match(thrown.param ?? '', /^config(?:$|[.[])/);
    const before = thrown.code === 'CONFIG_INVALID' ? `${thrown.param}: ` : 'x-gateway-config is not valid JSON: ';
    assert.ok(thrown.message.startsWith(before) && thrown.message.length > before.length, thrown.message);
  }
}

const runs = { numRuns: 800, verbose: 1 } as const;

test('any value at all is accepted or refused by an error of ours', () => {
  fc.assert(fc.property(fc.anything({ withNullPrototype: true, withObjectString: true, withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true, withTypedArray: true }), (value) => {
    isJudged(() => validateConfig(value, options));
  }), runs);
});

test('any text at all is accepted or refused by an error of ours', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (text) => {
    isJudged(() => parseConfig(text, options));
  }), runs);
});

test('known names with any values are accepted or refused by an error of ours', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>('fallback', 'mock', 'simple', 1, 30000, true, [], {}, [500], { mode: 'single' }, { mode: 'acme.x', y: 1 }, { attempts: 1 }));
  const { config } = fc.letrec<{ config: unknown }>((tie) => ({
    config: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 5 }).chain((own) => fc.oneof(
      { depthSize: 'small' },
      fc.constant(own),
      fc.array(tie('config'), { maxLength: 3 }).map((targets) => ({ ...own, strategy: { mode: 'fallback' }, targets })),
    )),
  }));
  fc.assert(fc.property(config, (given) => {
    isJudged(() => validateConfig(given, options));
    // Its text is judged the same way.
    isJudged(() => parseConfig(JSON.stringify(given), options));
  }), runs);
});

test('a config that is accepted is accepted again, unchanged, from its own text', () => {
  const leaf = fc.record({ provider: fc.constant('openai'), api_key: fc.stringMatching(/^[\x20-\x7e]{1,20}$/), weight: fc.double({ min: 0, max: 10, noNaN: true }).map((weight) => weight + 0), name: fc.string(), override_params: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 })) }, { requiredKeys: ['provider', 'api_key'] })
    .filter((config) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(config)));
  const whole = fc.record({ strategy: fc.record({ mode: fc.constantFrom('single', 'fallback', 'acme.best') }), targets: fc.array(leaf, { minLength: 1, maxLength: 5 }) });
  fc.assert(fc.property(whole, (given) => {
    const text = JSON.stringify(given);
    assert.equal(JSON.stringify(parseConfig(text, options)), text);
  }), { ...runs, numRuns: 300 });
});
