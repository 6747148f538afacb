// The same as test/conformance/string-places.test.ts for streamed answers: a text at each place of each event is judged, wherever the published
// descriptions have one, and a check that denies lets nothing of it go.

import { isObject, type AnswerEvent, type Json, type JsonObject, type StreamCheck } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Dialect } from '../../../core/dialect/dialect.js';
import { dialects } from '../../../core/dialect/dialects.js';
import { CheckStage } from '../../../core/stream/check-stage.js';
import { bodyAt } from '../../conformance/place-body.js';

type Places = Readonly<Record<string, readonly string[]>>;
const listed = JSON.parse(readFileSync(new URL('../../../../test/conformance/string-places.json', import.meta.url), 'utf8')) as { readonly answers: Places; readonly events: Places };

const marker = 'a needle, said in words';
/** What an answer says of its request. */
const echoed = /^(?:instructions|metadata|tools|tool_choice|prompt|text|user|safety_identifier|prompt_cache_key|reasoning|conversation)\b/;

const judge: StreamCheck = { push: ({ text }) => (text.includes('needle') ? { release: 0, fails: true } : { release: text.length }), verdict: () => ({ pass: false }) };
const redact: StreamCheck = {
  push: ({ text }) => ({ release: text.length, edits: [...text.matchAll(/needle/g)].map(({ index }) => ({ from: index, to: index + 6, text: 'straw' })) }), verdict: () => ({ pass: true }),
};

function written(dialect: Dialect, events: readonly JsonObject[], check: StreamCheck, changes: boolean): { readonly text: string; readonly isDenied: boolean } {
  const stage = new CheckStage({ dialect, check, lookBackMax: 0, changes, onFail: () => true });
  const out: AnswerEvent[] = [];
  const sink = { write: (event: AnswerEvent) => { out.push(event); }, end: () => undefined, fail: (error: Error) => { throw error; } };
  for (const data of events) stage.push({ event: undefined, data: JSON.stringify(data) }, sink);
  stage.end(sink);
  return { text: JSON.stringify(out), isDenied: stage.isDenied };
}

/** Every way in which an answer of this dialect tells what stands at a place of it. */
const wholes: Readonly<Record<string, (body: JsonObject, place: string) => readonly JsonObject[]>> = {
  chatCompletions: (body) => [body],
  completions: (body) => [body],
  messages: (body, place) => (place.includes('content[]') && Array.isArray(body.content)
    ? [{ type: 'message_start', message: body }, { type: 'content_block_start', index: 0, content_block: (body.content as readonly Json[])[0] ?? null }] : [{ type: 'message_start', message: body }]),
  responses: (body, place) => [
    { type: 'response.completed', response: body },
    ...(place.startsWith('output[]') && Array.isArray(body.output) ? ['response.output_item.added', 'response.output_item.done'].map((type) => ({ type, output_index: 0, item: (body.output as readonly Json[])[0] ?? null })) : []),
  ],
};

const isHarmless = (text: string, place: string): boolean => text.includes(marker) && /image_generation_call\}\.result$/.test(place);

for (const dialect of Object.values(dialects)) {
  const { endpoint } = dialect;
  describe(`strings in streamed ${endpoint}`, () => {
    const streams: (readonly [string, readonly JsonObject[]])[] = [];
    for (const place of listed.events[endpoint] ?? []) streams.push([place, [bodyAt(place, marker) as JsonObject]]);
    for (const place of listed.answers[endpoint] ?? []) {
      if (endpoint === 'responses' && echoed.test(place)) continue;
      const body = bodyAt(place, marker);
      assert.ok(isObject(body));
      for (const event of wholes[endpoint]?.(body, place) ?? []) streams.push([`${place} in ${String(event.type)}`, [event]]);
    }
    // Pictures come as data and go on as that.
    const readable = streams.filter(([place]) => !/\.(?:sequence_number|obfuscation)$/.test(place));

    it('are judged wherever they may stand: a check that denies lets nothing of them go', () => {
      assert.ok(readable.length >= 5);
      const passed = readable.filter(([place, events]) => {
        const { text, isDenied } = written(dialect, events, judge, false);
        return !isDenied || (text.includes('needle') && !isHarmless(text, place));
      });
      assert.deepEqual(passed.map(([place]) => place), []);
    });

    it('can be changed wherever they may stand', () => {
      const unchanged = readable.filter(([, events]) => written(dialect, events, redact, true).text.includes('needle'));
      assert.deepEqual(unchanged.map(([place]) => place), []);
    });
  });
}
