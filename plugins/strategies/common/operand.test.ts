import type { Exchange, Json } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOperand, readOperand, type OperandSource } from './operand.js';

const every: readonly OperandSource[] = ['metadata', 'params', 'headers', 'url'];

function exchangeWith(call: { metadata?: Record<string, Json>; json?: Json; headers?: Record<string, string>; path?: string }): Exchange {
  return {
    id: 'id', traceId: 'trace', endpoint: 'chatCompletions', startedAtMs: 0,
    principal: { keyId: 'key', workspaceId: 'workspace', organisationId: 'organisation' },
    metadata: call.metadata ?? {},
    target: { provider: '', attempt: 0 },
    request: {
      method: 'POST', path: call.path ?? '/v1/chat/completions',
      header: (name) => call.headers?.[name], field: () => undefined, bytes: () => new Uint8Array(), json: () => call.json ?? {},
    },
    signal: new AbortController().signal,
    notes: new Map(),
  };
}

const read = (address: string, call: Parameters<typeof exchangeWith>[0]): Json | undefined => {
  const operand = parseOperand(address, every);
  assert.ok(operand);
  return readOperand(operand, exchangeWith(call));
};

test('an address names one of the sources offered, and something in it', () => {
  for (const address of ['', 'metadata', 'metadata.', 'params', 'params.', 'params.a..b', 'params..a', 'headers.', 'url', 'url.query', 'body.x', '.x', 'Metadata.x', 'xmetadata.x']) {
    assert.equal(parseOperand(address, every), undefined, address);
  }
  assert.equal(parseOperand('headers.x', ['metadata', 'params']), undefined);
  assert.deepEqual(parseOperand('params.a.b', every), { source: 'params', name: 'a.b', steps: ['a', 'b'] });
});

test('metadata is looked up by the whole name first, then step by step', () => {
  assert.equal(read('metadata.plan', { metadata: { plan: 'pro' } }), 'pro');
  assert.equal(read('metadata.a.b', { metadata: { 'a.b': 1, a: { b: 2 } } }), 1);
  assert.equal(read('metadata.a.b', { metadata: { a: { b: 2 } } }), 2);
  assert.equal(read('metadata.a.b', { metadata: { a: 'text' } }), undefined);
});

test('parameters are walked through objects and lists', () => {
  const json = { messages: [{ role: 'system' }, { role: 'user' }], user: null, stop: ['x'] };
  assert.equal(read('params.messages.1.role', { json }), 'user');
  assert.equal(read('params.messages.2.role', { json }), undefined);
  assert.equal(read('params.messages.length', { json }), undefined);
  assert.equal(read('params.messages.-1', { json }), undefined);
  assert.equal(read('params.user', { json }), null);
  assert.equal(read('params.user.name', { json }), undefined);
  assert.equal(read('params.stop.0', { json }), 'x');
  assert.equal(read('params.stop.0.length', { json }), undefined);
});

test('what every object inherits is not a parameter', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'constructor.name']) {
    assert.equal(read(`params.${name}`, { json: {} }), undefined, name);
    assert.equal(read(`metadata.${name}`, {}), undefined, name);
  }
});

test('a body that is not an object has no parameters', () => {
  for (const json of [null, 'text', 3, true]) assert.equal(read('params.model', { json }), undefined);
  assert.equal(read('params.0', { json: ['first'] }), 'first');
});

test('headers are read in lower case and the path as the client sent it', () => {
  assert.equal(read('headers.X-Tenant', { headers: { 'x-tenant': 'acme' } }), 'acme');
  assert.equal(read('headers.x-none', {}), undefined);
  assert.equal(read('url.pathname', { path: '/v1/embeddings' }), '/v1/embeddings');
});
