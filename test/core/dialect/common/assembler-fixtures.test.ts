// The streams of every provider's fixtures, put together: against the plain answer of the same exchange where there is one, and against
// what the translators for the other dialects make of the same stream.

import type { AnswerEvent, EventSink, EventStage, JsonObject } from '@gateway/plugin-sdk';
import { readFixtures, SseReader, type Fixture, type FixtureEvent } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assembler } from '../../../../core/dialect/common/assembler.js';
import { chatToMessages } from '../../../../core/dialect/messages/answer.js';
import { MessagesStage } from '../../../../core/dialect/messages/stream.js';
import { replay } from '../../../../core/dialect/common/replay.js';
import type { Dialect } from '../../../../core/dialect/dialect.js';
import { dialects } from '../../../../core/dialect/dialects.js';
import { chatToResponse } from '../../../../core/dialect/responses/answer.js';
import { ResponsesStage } from '../../../../core/dialect/responses/stream.js';

function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'gateway') return from;
  assert.notEqual(dirname(from), from, 'no package.json of the gateway above this file');
  return findRoot(dirname(from));
}

interface Case { readonly id: string; readonly fixture: Fixture; readonly dialect: Dialect; readonly events: readonly FixtureEvent[] }

const providers = join(findRoot(dirname(fileURLToPath(import.meta.url))), 'providers');
const families = new Map(readdirSync(providers, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => [name, readFixtures(join(providers, name, 'fixtures'))]));
const dialectOf = (endpoint: string): Dialect | undefined => Object.values(dialects).find((dialect) => dialect.endpoint === endpoint);
const cases: Case[] = [...families].flatMap(([id, fixtures]) => fixtures.flatMap((fixture) => {
  const { request: { endpoint }, events } = fixture;
  const dialect = dialectOf(endpoint);
  return events !== undefined && dialect !== undefined ? [{ id, fixture, dialect, events }] : [];
}));
const nameOf = ({ id, fixture }: Case): string => `${id}/${fixture.name}`;

const isData = (event: FixtureEvent): event is Extract<FixtureEvent, { data: unknown }> => 'data' in event;
const sentOf = (events: readonly FixtureEvent[]): AnswerEvent[] => events.filter(isData).map(({ event, data }) => ({ event, data: typeof data === 'string' ? data : data as JsonObject }));

function assembled(dialect: Dialect, events: Iterable<AnswerEvent>): JsonObject | null {
  const whole = assembler(dialect);
  for (const event of events) whole.push(event);
  return whole.answer();
}

/** Text and tool calls, which is what is the same in the plain answer to the same question. */
function saidIn(dialect: Dialect, answer: any): unknown {
  if (dialect === dialects.messages) return answer.content;
  return answer.choices.map(({ message, text, finish_reason: finish }: any) => ({ finish, text: text ?? message.content, calls: message?.tool_calls, blocks: message?.content_blocks }));
}

/** The others were recorded with another answer than their plain twins. */
const saysTheSame: ReadonlySet<string> = new Set([
  'anthropic/messages-stream', 'anthropic/stream', 'azure-ai/claude-stream', 'azure-ai/parallel-tools-stream', 'azure-ai/stream',
  'azure-ai/tool-call-stream', 'azure-openai/parallel-tools-stream', 'azure-openai/stream', 'azure-openai/tool-call-stream',
  'bedrock/json-schema-tool-stream', 'bedrock/parallel-tools-stream', 'cohere/citations-stream', 'cohere/parallel-tools-stream', 'cohere/stream',
  'mistral-ai/parallel-tools-stream', 'mistral-ai/stream', 'mistral-ai/tool-call-stream', 'ollama/stream', 'ollama/tool-call-stream',
  'vertex-ai/claude-stream',
]);

describe('the streams of the fixtures', () => {
  const hasSeen = new Set<string>();
  test('are many', () => assert.ok(cases.length > 50));

  for (const each of cases) {
    const answer = assembled(each.dialect, sentOf(each.events));
    if (each.events.some((event) => 'fail' in event)) {
      test(`${nameOf(each)} gives no answer, because it broke off`, () => assert.equal(answer, null));
      continue;
    }
    test(`${nameOf(each)} gives an answer that can be told again`, () => {
      assert.ok(answer !== null);
      assert.ok(each.dialect.isReplayable(answer));
      assert.deepEqual(assembled(each.dialect, replay(each.dialect, answer, { includesUsage: true })), answer);
    });
    const twin = families.get(each.id)?.find(({ name }) => name === each.fixture.name.replace(/-?stream/, '') || (each.fixture.name === 'stream' && name === 'plain'));
    if (twin?.response === undefined || twin.request.endpoint !== each.dialect.endpoint) continue;
    const { body } = twin.response;
    if (!saysTheSame.has(nameOf(each))) continue;
    hasSeen.add(nameOf(each));
    test(`${nameOf(each)} says what the plain answer of ${twin.name} says`, () => assert.deepEqual(saidIn(each.dialect, answer), saidIn(each.dialect, body)));
  }
  test('say the same as their plain twins where these were asked the same', () => assert.deepEqual(hasSeen, saysTheSame));
});

function translated(stage: EventStage<AnswerEvent>, events: readonly AnswerEvent[]): AnswerEvent[] {
  const list: AnswerEvent[] = [];
  const out: EventSink = { write: (event) => list.push(structuredClone(event)), end: () => {}, fail: (error) => { throw error; } };
  for (const event of events) stage.push(event, out);
  stage.end(out);
  return list;
}

describe('a stream that is translated and put together is the same as one that is put together and translated', () => {
  const context = { id: 'exchange', model: 'm' };
  const responseContext = { id: 'resp_exchange', createdAt: 1, model: 'm', request: { model: 'm', input: 'hello' }, isStored: false };
  for (const each of cases) {
    if (each.dialect !== dialects.chat || each.events.some((event) => 'fail' in event)) continue;
    const events = sentOf(each.events);
    const chat = assembled(dialects.chat, events) ?? {};
    test(`${nameOf(each)} as a message`, () => assert.deepEqual(assembled(dialects.messages, translated(new MessagesStage(context), events)), chatToMessages(chat, context)));
    test(`${nameOf(each)} as a response`, () => assert.deepEqual(assembled(dialects.responses, translated(new ResponsesStage(responseContext), events)), chatToResponse(chat, responseContext)));
  }
});

describe('streams as providers send them', () => {
  for (const [family, dialect] of [['azure-openai', dialects.chat], ['mistral-ai', dialects.chat], ['anthropic', dialects.messages]] as const) {
    for (const fixture of families.get(family) ?? []) {
      if (!fixture.upstream.isStream || fixture.upstream.status !== 200 || fixture.events === undefined) continue;
      const isCut = fixture.events.some((event) => 'fail' in event);
      test(`${family}/${fixture.name} ${isCut ? 'gives no answer' : 'gives one that comes back from a replay'}`, () => {
        const events: AnswerEvent[] = [];
        const reader = new SseReader();
        reader.push(fixture.upstream.bytes, (event) => events.push(event));
        reader.end((event) => events.push(event));
        const answer = assembled(dialect, events);
        if (isCut) return assert.equal(answer, null);
        assert.ok(answer !== null);
        assert.deepEqual(assembled(dialect, replay(dialect, answer, { includesUsage: true })), answer);
      });
    }
  }
});
