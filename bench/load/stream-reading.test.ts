import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventCounter } from './event-counter.js';
import { Histogram } from './histogram.js';
import { contentEvent, makeRecipe, streamEnding } from './recipe.js';
import { ResponseReader } from './response-reader.js';

const sentAt = '0000000000001000';
const opening = String(makeRecipe('chat', 'bench-events5').opening);

function answer(sequences: readonly number[]): Buffer {
  return Buffer.from(opening + sequences.map((sequence) => contentEvent(sequence, sentAt)).join('') + streamEnding(5), 'latin1');
}

/** Reads an answer cut into pieces of `pieceBytes`, each in one buffer that is overwritten afterwards. */
function read(bytes: Buffer, pieceBytes: number): { counter: EventCounter; ends: number; deliveryUs: Histogram } {
  const deliveryUs = new Histogram();
  const counter = new EventCounter({ gapUs: new Histogram(), deliveryUs });
  let ends = 0;
  const reader = new ResponseReader({ onBody: (piece, start, end) => counter.feed(piece, start, end, 3000), onEnd: () => ends++ });
  const shared = Buffer.alloc(pieceBytes);
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
    const length = bytes.copy(shared, 0, offset, offset + pieceBytes);
    reader.feed(shared, length);
    shared.fill(0);
  }
  return { counter, ends, deliveryUs };
}

test('the provider\'s stream is counted whole however it is cut', () => {
  const bytes = answer([1, 2, 3, 4, 5]);
  for (let pieceBytes = 1; pieceBytes <= bytes.length; pieceBytes += pieceBytes < 600 ? 1 : 37) {
    const { counter, ends, deliveryUs } = read(bytes, pieceBytes);
    assert.deepEqual([counter.events, counter.isDone, counter.isOutOfOrder, ends], [5, true, false, 1], `pieces of ${pieceBytes} bytes`);
    assert.equal(deliveryUs.count, 5);
    assert.ok(Math.abs(deliveryUs.percentile(0.5) - 2000) < 10);
  }
});

test('a lost, a doubled and a swapped event are each noticed', () => {
  for (const sequences of [[1, 2, 4, 5], [1, 2, 2, 3, 4, 5], [1, 3, 2, 4, 5]]) {
    assert.equal(read(answer(sequences), 100).counter.isOutOfOrder, true, sequences.join());
  }
});

test('a stream cut before its end has no end and no [DONE]', () => {
  const bytes = answer([1, 2, 3, 4, 5]);
  const { counter, ends } = read(bytes.subarray(0, bytes.length - 30), 64);
  assert.deepEqual([counter.events, counter.isDone, ends], [5, false, 0]);
});

test('answers by length follow each other over one connection in any pieces', () => {
  const plain = Buffer.from(String(makeRecipe('chat', 'bench-size300').opening), 'latin1');
  for (let pieceBytes = 1; pieceBytes < 500; pieceBytes += 7) assert.equal(read(Buffer.concat([plain, plain, plain]), pieceBytes).ends, 3);
});

test('percentiles are exact to a third of a per cent', () => {
  const histogram = new Histogram();
  for (let us = 1; us <= 10_000; us++) histogram.record(us);
  assert.ok(Math.abs(histogram.percentile(0.5) / 5000 - 1) < 0.0035);
  assert.ok(Math.abs(histogram.percentile(0.99) / 9900 - 1) < 0.0035);
  assert.ok(Number.isNaN(new Histogram().percentile(0.5)));
});
