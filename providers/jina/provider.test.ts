import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import type { Json, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddings } from './embeddings.js';
import provider from './provider.js';
import { rerank } from './rerank.js';

const made = (body: JsonObject): Json => embeddings.request?.(body, fakeCall(body, { endpoint: 'embeddings' })) ?? null;

test("OpenAI's members in Jina's words", () => {
  assert.deepEqual(made({ model: 'm', input: 'a', encoding_format: 'float' }), { model: 'm', input: 'a' });
  assert.deepEqual(made({ model: 'm', input: ['a'], encoding_format: 'float', embedding_type: 'binary' }), { model: 'm', input: ['a'], embedding_type: 'binary' });
  for (const body of [{ input: [1, 2] }, { input: [[1]] }, { input: 'a', encoding_format: 'hex' }, { input: [{ type: 'image_url' }] }]) assert.throws(() => made(body), Refusal);
});

test('rerank takes images, and reports what it leaves out', () => {
  const body = { model: 'm', query: 'q', documents: [{ image: 'https://example.com/a.png', id: 1 }], max_tokens_per_doc: 3 };
  const call = fakeCall(body, { endpoint: 'rerank' });
  assert.deepEqual(rerank.request?.(body, call), { model: 'm', query: 'q', documents: [{ image: 'https://example.com/a.png' }], return_documents: false });
  assert.deepEqual(call.reported, ['max_tokens_per_doc']);
});

test('errors', () => {
  assert.deepEqual(provider.error?.({ detail: 'no' }, 400, () => undefined), { message: 'no' });
  assert.deepEqual(provider.error?.({ detail: [{ msg: 'a' }] }, 422, () => undefined), { message: 'a' });
  assert.equal(provider.error?.({ message: 'other' }, 400, () => undefined), undefined);
});
