import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkInput } from '../../../core/control-plane/check-input.js';
import { isGatewayError } from '../../../core/errors/gateway-error.js';
import { object, orNull } from '../../../core/storage/schema-parts.js';
import { Type } from '../../../core/storage/type.js';

const limit = object({ type: Type.Unsafe<string>({ type: 'string', enum: ['cost', 'tokens'] }), value: Type.Integer({ minimum: 1, maximum: 9 }) });
const schema = object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 5 })),
  at: Type.Optional(orNull(Type.String({ format: 'date-time' }))),
  mails: Type.Optional(Type.Array(Type.String({ format: 'email' }), { maxItems: 2, uniqueItems: true })),
  one_or_many: Type.Optional(Type.Unsafe({ anyOf: [limit, { type: 'array', items: limit, maxItems: 1 }] })),
  days: Type.Optional(Type.Unsafe({ anyOf: [{ type: 'integer', minimum: 1, maximum: 365 }, { type: 'string', enum: ['weekly', 'monthly'] }] })),
  ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  map: Type.Optional(Type.Unsafe({ type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 })),
  constant: Type.Optional(Type.Unsafe({ const: true })),
});

function refusal(given: Readonly<Record<string, unknown>>, kind: 'query' | 'body' = 'body'): string {
  try {
    checkInput(schema, given, kind);
    return 'taken';
  } catch (thrown) {
    assert.ok(isGatewayError(thrown));
    return `${thrown.param}: ${thrown.message}`;
  }
}

describe('what a client sends', () => {
  it('is refused with the place and with what would be right', () => {
    const rows: readonly [Readonly<Record<string, unknown>>, string][] = [
      [{ name: 5 }, 'name: name must be a string'],
      [{ name: '' }, 'name: name must not be empty'],
      [{ name: 'toolong' }, 'name: name must have at most 5 characters'],
      [{ nmae: 'x' }, 'nmae: nmae is not known here; did you mean name?'],
      [{ at: 'tomorrow' }, 'at: at must be an ISO 8601 time such as 2030-01-31T00:00:00.000Z'],
      [{ at: '9999-12-31T23:59:59-00:01' }, 'at: at must be an ISO 8601 time such as 2030-01-31T00:00:00.000Z'],
      [{ at: '0000-01-01T00:00:00+00:01' }, 'at: at must be an ISO 8601 time such as 2030-01-31T00:00:00.000Z'],
      [{ at: '9999-12-31T23:59:59+00:00' }, 'taken'],
      [{ at: 1 }, 'at: at must be a string or null'],
      [{ mails: ['x'] }, 'mails.0: mails.0 must be a valid email'],
      [{ mails: ['a@b.co', 'a@b.co'] }, 'mails: mails must not repeat an item'],
      [{ mails: 'a@b.co' }, 'mails: mails must be a list'],
      [{ one_or_many: { type: 'cost', value: 10 } }, 'one_or_many.value: one_or_many.value must be at most 9'],
      [{ one_or_many: [{ type: 'money', value: 1 }] }, 'one_or_many.0.type: one_or_many.0.type must be one of cost, tokens'],
      [{ one_or_many: { type: 'cost' } }, 'one_or_many.value: one_or_many.value is required'],
      [{ one_or_many: 5 }, 'one_or_many: one_or_many must be an object or a list'],
      [{ one_or_many: [] }, 'taken'],
      [{ days: 366 }, 'days: days must be at most 365'],
      [{ days: 'daily' }, 'days: days must be one of weekly, monthly'],
      [{ days: null }, 'days: days must be a whole number or a string'],
      [{ ratio: 0 }, 'ratio: ratio must be more than 0'],
      [{ map: { a: 1 } }, 'map.a: map.a must be a string'],
      [{ map: { a: '1', b: '2' } }, 'map: map must have at most 1 member'],
      [{ constant: false }, 'constant: constant must be true'],
    ];
    for (const [given, wanted] of rows) assert.equal(refusal(given), wanted, JSON.stringify(given));
  });

  it('is never quoted, and its names only in part', () => {
    const text = refusal({ map: { ['x'.repeat(10_000)]: 5 } });
    assert.ok(text.length < 600, String(text.length));
    assert.equal(refusal({ name: 'secret-value' }).includes('secret-value'), false);
  });
});
