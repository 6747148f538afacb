// What is stored comes back: plain answer -> stream -> plain answer, in each dialect.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import { checkChatChunks, checkMessagesEvents, checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import fc, { type Arbitrary } from 'fast-check';
import { assembler, type AnswerDialect } from '../../../../core/dialect/common/assembler.js';
import { isReplayable, replay } from '../../../../core/dialect/common/replay.js';
import { chatAnswer, completion, message, response } from './replay-answers.js';

function assembled(endpoint: AnswerDialect, events: Iterable<AnswerEvent>): JsonObject | null {
  const whole = assembler(endpoint);
  for (const event of events) whole.push(event);
  return whole.answer();
}

const asText = ({ event, data }: AnswerEvent): AnswerEvent => ({ event, data: typeof data === 'string' ? data : JSON.stringify(data) });
const objectsOf = (events: readonly AnswerEvent[]): JsonObject[] => events.flatMap(({ data }) => (typeof data === 'string' ? [] : [data]));
const grammarEvents = (events: readonly AnswerEvent[]): { event: string; data: unknown }[] => events.map(({ event, data }) => ({ event: event ?? '', data }));

/** Grows nothing that was given: an answer in a cache is read by many. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(Object.freeze(value))) frozen(each);
  return value;
}

// A failure prints its seed and the path to the smallest case.
const runs = { numRuns: 120 } as const;
const usageToo = { includesUsage: true } as const;

const dialects: readonly (readonly [AnswerDialect, string, Arbitrary<JsonObject>])[] = [
  ['chatCompletions', 'as OpenAI has it', chatAnswer({ isOfficial: true })],
  ['chatCompletions', 'with extensions', chatAnswer({ isOfficial: false })],
  ['completions', 'of any kind', completion()],
  ['messages', 'of any kind', message({ isOfficial: false })],
  ['responses', 'of any kind', response({ isOfficial: false })],
];

describe('an answer that is replayed and put together again', () => {
  for (const [endpoint, what, arbitrary] of dialects) {
    test(`is the same for ${endpoint}, ${what}`, () => {
      fc.assert(fc.property(arbitrary, (answer) => {
        frozen(answer);
        assert.ok(isReplayable(endpoint, answer));
        const events = [...replay(endpoint, answer, usageToo)].map(frozen);
        assert.deepEqual(assembled(endpoint, events), answer);
        assert.deepEqual(assembled(endpoint, events.map(asText)), answer);
      }), runs);
    });
  }

  test('lacks the usage that a client did not ask for, and nothing else', () => {
    fc.assert(fc.property(chatAnswer({ isOfficial: false }), (answer) => {
      const { usage, ...rest } = answer;
      assert.deepEqual(assembled('chatCompletions', replay('chatCompletions', answer, { includesUsage: false })), rest);
    }), { numRuns: 100 });
  });

  test('is not there while the stream has not ended', () => {
    fc.assert(fc.property(fc.constantFrom(...dialects).chain(([endpoint, , arbitrary]) => fc.tuple(fc.constant(endpoint), arbitrary, fc.nat())), ([endpoint, answer, at]) => {
      const events = [...replay(endpoint, answer, { includesUsage: false })].filter(({ data }) => data !== '[DONE]');
      const cut = at % events.length;
      assert.equal(assembled(endpoint, events.slice(0, cut)), null);
    }), runs);
  });

  test('is the same whatever reads it halfway', () => {
    fc.assert(fc.property(message({ isOfficial: false }), (answer) => {
      const whole = assembler('messages');
      for (const event of replay('messages', answer, usageToo)) {
        whole.push(event);
        whole.answer();
      }
      assert.deepEqual(whole.answer(), answer);
      assert.deepEqual(whole.answer(), answer);
    }), { numRuns: 50 });
  });
});

describe('the order of a replay', () => {
  test('is that of chat chunks', () => {
    fc.assert(fc.property(chatAnswer({ isOfficial: true }), fc.boolean(), (answer, includesUsage) => {
      const events = [...replay('chatCompletions', answer, { includesUsage })];
      assert.equal(events.at(-1)?.data, '[DONE]');
      assert.deepEqual(checkChatChunks(objectsOf(events)), []);
    }), runs);
  });

  test('is that of a message', () => {
    fc.assert(fc.property(message({ isOfficial: false }), (answer) => {
      assert.deepEqual(checkMessagesEvents([...replay('messages', answer, usageToo)]), []);
    }), runs);
  });

  test('is that of a response', () => {
    fc.assert(fc.property(response({ isOfficial: true }), (answer) => {
      assert.deepEqual(checkResponsesEvents(grammarEvents([...replay('responses', answer, usageToo)])), []);
    }), runs);
  });
});
