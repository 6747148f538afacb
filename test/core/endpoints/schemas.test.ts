import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { exactRoutes } from '../../../core/router/routes.js';
import fc from '../../support/fast-check.js';

// What tells valid members from others in one of the routes, mixed at random.
const values = fc.oneof(
  fc.constantFrom<unknown>(
    null, true, false, '', 'auto', 'required', 'none', 'url', 'hd', 'vivid', '24h', 'immediate', '/v1/embeddings', 'disabled', 'dall-e-2', 'user', 0, 1, 2, 4, 1.5, -1, 20, 21, 128, 129, 300, [], ['a'], ['a', 'b', 'c', 'd', 'e'],
    [1, 2], [[1]], {}, { a: 'b' }, { 50256: 100 }, { 50256: 101 }, { a: 'x'.repeat(513) }, [{ role: 'user', content: 'hi' }], [{ role: 'nobody', content: 'hi' }], [{ role: 'user' }], [{ type: 'function' }],
    [{ type: 'function', function: { name: 'f' } }], [{ type: 'custom' }], [{ name: 'f' }], [{ name: '' }], [{ text: 'a' }], [{}],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
/** Rules that span several members are told in words. */
const spanning = /requires logprobs|only for streams|cannot be streamed|must be greater than n|like the items before it/;
const seed = 20260822;

describe('the schemas of request bodies', () => {
  const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false, strictRequired: false });
  for (const { path, endpoint } of exactRoutes) {
    const { schema, validate } = endpoint;
    if (schema === undefined || validate === null) continue;
    it(`let through what ${path} lets through, and refuse what it refuses`, () => {
      const shape: { readonly required?: readonly string[]; readonly properties?: Readonly<Record<string, unknown>> } = schema();
      const isDescribed = ajv.compile(schema());
      const names = Object.keys(shape.properties ?? {});
      const required = shape.required ?? [];
      const right: Record<string, unknown> = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, prompt: 'p', input: 'text', query: 'q', documents: ['d'], voice: 'v', input_file_id: 'f', completion_window: '24h', endpoint: '/v1/embeddings', training_file: 'f' };
      const usual = Object.fromEntries(required.map((name) => [name, right[name]]));
      assert.equal(validate(usual), undefined);
      const bodies = fc.tuple(fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 2, noNullPrototype: true }), fc.option(fc.constantFrom(...names, 'none'), { nil: 'none' })).map(([own, without]) => {
        const body: Record<string, unknown> = { ...usual, ...own };
        delete body[without];
        return body;
      });
      let refused = 0;
      fc.assert(fc.property(bodies, (body) => {
        const fault = validate(body);
        if (fault !== undefined) refused += 1;
        if (fault !== undefined && (spanning.test(fault.reason) || body.model === 'dall-e-2')) return;
        assert.equal(isDescribed(body), fault === undefined, `${JSON.stringify(body)}: ${JSON.stringify(fault)} ${JSON.stringify(isDescribed.errors)}`);
      }), { seed, numRuns: 400 });
      assert.ok(refused > 40, `only ${refused} bodies were refused`);
    });
  }
});
