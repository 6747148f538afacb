import { fakeCall, Refusal } from '@gateway/plugin-sdk/testing';
import type { Json, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { documentText, readDocuments, readTopN, rerankAnswer } from './rerank.js';

const text = (document: Json, body: JsonObject = {}): string => documentText(document, 0, body, fakeCall());

test('structured documents are YAML that means the same', () => {
  const documents: JsonObject[] = [
    { title: 'A', body: 'two\nlines', count: 3, ratio: 0.5, isNew: true, none: null },
    { yes: 'no', 'odd key': '- item', '1': '1', quote: "it's \"so\"", colon: 'a: b', hash: 'a # b', end: 'blank ', empty: '' },
    { nested: { deep: { list: ['a', 'b: c', 7, { d: 'e' }], empty: {} } }, list: [] },
    { date: '2026-11-21', time: '10:30', number: '1e3', tilde: '~', unicode: 'Zürich, 東京', emoji: '🙂' },
  ];
  for (const document of documents) assert.deepEqual(parse(text(document)), document);
});

test('the text of a document', () => {
  assert.equal(text('plain'), 'plain');
  assert.equal(text({ text: 'plain', id: 4 }), 'plain');
  assert.equal(text({ text: 'plain', title: 'T' }, { rank_fields: ['title'] }), 'T');
  assert.equal(text({ text: 'plain' }, { rank_fields: [] }), 'plain');
  for (const document of [7, null, {}, ['a']]) assert.throws(() => text(document), Refusal);
});

test('numbers of results', () => {
  assert.equal(readTopN({}, fakeCall()), undefined);
  assert.equal(readTopN({ top_n: null }, fakeCall()), undefined);
  assert.equal(readTopN({ top_n: 3 }, fakeCall()), 3);
  for (const top of [0, 1.5, '3']) assert.throws(() => readTopN({ top_n: top }, fakeCall()), Refusal);
  assert.throws(() => readDocuments({}, fakeCall()), Refusal);
});

test('the best comes first, with the document of the client where it asked for that', () => {
  const hits = [{ index: 0, score: 0.1 }, { index: 1, score: 0.9 }, { index: 2, score: 0.1 }];
  const documents = ['a', { title: 'b' }, { text: 'c', id: 3 }];
  assert.deepEqual(rerankAnswer(fakeCall({ model: 'm', documents, return_documents: true }), { id: 'r', hits, searchUnits: 1 }), {
    object: 'list', model: 'm', id: 'r', usage: { search_units: 1 }, provider: 'provider',
    results: [
      { index: 1, relevance_score: 0.9, document: { text: 'title: b\n' } },
      { index: 0, relevance_score: 0.1, document: { text: 'a' } },
      { index: 2, relevance_score: 0.1, document: { text: 'c', id: 3 } },
    ],
  });
  assert.deepEqual(rerankAnswer(fakeCall({ model: 'm', documents }), { hits: [{ index: 0, score: 1 }], searchUnits: undefined }), {
    object: 'list', model: 'm', id: 'rerank-exchange1', provider: 'provider', results: [{ index: 0, relevance_score: 1 }],
  });
});
