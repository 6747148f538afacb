import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import type { Json, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddings } from './embeddings.js';
import provider from './provider.js';
import { rerank } from './rerank.js';

function made(body: JsonObject): { path: string; wire: Json } {
  const call = fakeCall(body, { endpoint: 'embeddings' });
  const spec = embeddings(call);
  return { path: spec.path, wire: spec.request?.(body, call) ?? null };
}

test('images go to the call for them', () => {
  const content = [{ type: 'text', text: 'a' }];
  assert.deepEqual(made({ model: 'voyage-multimodal-3.5', input: 'a' }), { path: '/multimodalembeddings', wire: { model: 'voyage-multimodal-3.5', inputs: [{ content }] } });
  assert.deepEqual(made({ model: 'm', input: [{ content }, { image: 'data:image/png;base64,AA==' }, { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }).wire, {
    model: 'm',
    inputs: [{ content }, { content: [{ type: 'image_base64', image_base64: 'data:image/png;base64,AA==' }] }, { content: [{ type: 'image_url', image_url: 'https://example.com/a.png' }] }],
  });
});

test('what Voyage cannot take is refused', () => {
  for (const body of [{ input: [1, 2] }, { input: [[1]] }, { input: [] }, {}, { input: 'a', encoding_format: 'hex' }, { input: [{ other: 1 }] }]) assert.throws(() => made(body), Refusal);
});

test('rerank reports what it leaves out', () => {
  const body = { model: 'm', query: 'q', documents: ['a'], max_chunks_per_doc: 3, priority: 1 };
  const call = fakeCall(body, { endpoint: 'rerank' });
  assert.deepEqual(rerank.request?.(body, call), { model: 'm', query: 'q', documents: ['a'] });
  assert.deepEqual(call.reported, ['max_chunks_per_doc', 'priority']);
});

test('errors', () => {
  assert.deepEqual(provider.error?.({ detail: 'no' }, 400, () => undefined), { message: 'no' });
  assert.deepEqual(provider.error?.({ detail: [{ msg: 'a' }, { msg: 'b' }] }, 422, () => undefined), { message: 'a; b' });
  assert.equal(provider.error?.({ message: 'other' }, 400, () => undefined), undefined);
});
