import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastIdWord, parseTraceParent, randomHex, uuid } from '../../../core/exchange/trace.js';

describe('generated ids', () => {
  it('are version 4 UUIDs, all different', () => {
    const seen = new Set<string>();
    const variants = new Set<string>();
    for (let count = 0; count < 5000; count += 1) {
      const id = uuid();
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      variants.add(id[19] ?? '');
      seen.add(id);
    }
    assert.equal(seen.size, 5000);
    assert.equal(variants.size, 4);
  });

  it('have the asked length over every refill of the pool', () => {
    const seen = new Set<string>();
    for (let count = 0; count < 3000; count += 1) {
      for (const bytes of [8, 16, 7]) {
        const hex = randomHex(bytes);
        assert.equal(hex.length, bytes * 2);
        assert.match(hex, /^[0-9a-f]+$/);
        seen.add(hex);
      }
    }
    assert.equal(seen.size, 9000);
  });
});

describe('the words of an id', () => {
  it('are its bytes, whatever was taken from the pool before', () => {
    for (let count = 0; count < 2000; count += 1) {
      randomHex([7, 8, 10][count % 3] ?? 8);
      const id = uuid();
      assert.equal(Buffer.from(Int32Array.from([0, 1, 2, 3], lastIdWord).buffer).toString('hex'), id.replaceAll('-', ''));
      const span = randomHex(8);
      assert.equal(Buffer.from(Int32Array.from([0, 1], lastIdWord).buffer).toString('hex'), span);
    }
  });
});

describe('traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const span = '00f067aa0ba902b7';

  it('gives trace and parent span in its strict form', () => {
    for (const text of [`00-${trace}-${span}-01`, `00-${trace}-${span}-00`, `cc-${trace}-${span}-ff`]) assert.deepEqual(parseTraceParent(text), { traceId: trace, parentSpanId: span }, text);
  });

  it('is as good as absent in any other form', () => {
    for (const text of [
      '', '00', `${trace}-${span}`, `00-${trace}-${span}`, `00-${trace}-${span}-1`, `00-${trace}-${span}-011`, `0-${trace}-${span}-01`, `ff-${trace}-${span}-01`,
      `00-${trace.toUpperCase()}-${span}-01`, `00-${trace.slice(1)}-${span}-01`, `00-${trace}0-${span}-01`, `00-${trace}-${span.slice(1)}-01`, `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`, `00-${'g'.repeat(32)}-${span}-01`, ` 00-${trace}-${span}-01`, `00-${trace}-${span}-01 `, `00-${trace}-${span}-01\n`, `00_${trace}_${span}_01`,
    ]) assert.equal(parseTraceParent(text), undefined, JSON.stringify(text));
  });
});
