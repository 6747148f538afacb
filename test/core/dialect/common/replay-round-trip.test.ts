// What is stored comes back: plain answer -> stream -> plain answer, in each dialect.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnswerEvent, JsonObject } from '@gateway/plugin-sdk';
import { checkChatChunks, checkMessagesEvents, checkResponsesEvents } from '@gateway/plugin-sdk/testing';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { replay } from '../../../../core/dialect/common/replay.js';
import type { Dialect } from '../../../../core/dialect/dialect.js';
import { dialects } from '../../../../core/dialect/dialects.js';
import fc, { type Arbitrary } from '../../../support/fast-check.js';
import { chatAnswer, completion, message, response } from './replay-answers.js';

function assembled(dialect: Dialect, events: Iterable<AnswerEvent>): JsonObject | null {
  const whole = assembler(dialect);
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

const { chat, completions, messages, responses } = dialects;
const kinds: readonly (readonly [Dialect, string, Arbitrary<JsonObject>])[] = [
  [chat, 'as OpenAI has it', chatAnswer({ isOfficial: true })],
  [chat, 'with extensions', chatAnswer({ isOfficial: false })],
  [completions, 'of any kind', completion()],
  [messages, 'of any kind', message({ isOfficial: false })],
  [responses, 'of any kind', response({ isOfficial: false })],
];

describe('an answer that is replayed and put together again', () => {
  for (const [dialect, what, arbitrary] of kinds) {
    test(`is the same for ${dialect.endpoint}, ${what}`, () => {
      fc.assert(fc.property(arbitrary, (answer) => {
        frozen(answer);
        assert.ok(dialect.isReplayable(answer));
        const events = [...replay(dialect, answer, usageToo)].map(frozen);
        assert.deepEqual(assembled(dialect, events), answer);
        assert.deepEqual(assembled(dialect, events.map(asText)), answer);
      }), runs);
    });
  }

  test('lacks the usage that a client did not ask for, and nothing else', () => {
    fc.assert(fc.property(chatAnswer({ isOfficial: false }), (answer) => {
      const { usage, ...rest } = answer;
      assert.deepEqual(assembled(chat, replay(chat, answer, { includesUsage: false })), rest);
    }), { numRuns: 100 });
  });

  test('is not there while the stream has not ended', () => {
    fc.assert(fc.property(fc.constantFrom(...kinds).chain(([dialect, , arbitrary]) => fc.tuple(fc.constant(dialect), arbitrary, fc.nat())), ([dialect, answer, at]) => {
      const events = [...replay(dialect, answer, { includesUsage: false })].filter(({ data }) => data !== '[DONE]');
      const cut = at % events.length;
      assert.equal(assembled(dialect, events.slice(0, cut)), null);
    }), runs);
  });

  test('is the same whatever reads it halfway', () => {
    fc.assert(fc.property(message({ isOfficial: false }), (answer) => {
      const whole = assembler(messages);
      for (const event of replay(messages, answer, usageToo)) {
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
      const events = [...replay(chat, answer, { includesUsage })];
      assert.equal(events.at(-1)?.data, '[DONE]');
      assert.deepEqual(checkChatChunks(objectsOf(events)), []);
    }), runs);
  });

  test('is that of a message', () => {
    fc.assert(fc.property(message({ isOfficial: false }), (answer) => {
      assert.deepEqual(checkMessagesEvents([...replay(messages, answer, usageToo)]), []);
    }), runs);
  });

  test('is that of a response', () => {
    fc.assert(fc.property(response({ isOfficial: true }), (answer) => {
      assert.deepEqual(checkResponsesEvents(grammarEvents([...replay(responses, answer, usageToo)])), []);
    }), runs);
  });
});
