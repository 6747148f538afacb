import { everySplit, fakeCall, providerFaults, readFixtures, Refusal, SseReader } from '@gateway/plugin-sdk/testing';
import type { AnswerEvent, EndpointSpec, JsonObject } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import parrot from './parrot.js';

const fixtures = readFixtures(fileURLToPath(new URL('../../fixtures', import.meta.url)));
const chat = parrot.endpoints.chatCompletions as EndpointSpec;
const hello: JsonObject = { model: 'grey-1', messages: [{ role: 'user', content: 'Hello' }] };

describe('the provider', () => {
  it('has fixtures for a plain and a streamed answer, an error, a broken stream and one that was cut off', () => {
    assert.deepEqual(fixtures.map(({ name }) => name), ['error', 'plain', 'stream', 'stream-broken', 'stream-cut']);
  });

  // Streams are replayed cut at every byte, byte by byte, with CRLF, comments and a missing last line end.
  for (const fixture of fixtures) it(`does as documented: ${fixture.name}`, () => assert.deepEqual(providerFaults(parrot, fixture), []));

  it('refuses what it cannot do, and says what it leaves out', () => {
    for (const [param, more] of [
      ['tools', { tools: [] }], ['n', { n: 2 }], ['messages[0].content[0]', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }] }],
    ] as const) {
      const body = { ...hello, ...more };
      assert.throws(() => chat.request?.(body, fakeCall(body)), (thrown: unknown) => thrown instanceof Refusal && thrown.param === param, param);
    }
    const call = fakeCall({ ...hello, user: 'u', seed: 1 });
    chat.request?.(call.body, call);
    assert.deepEqual(call.reported, ['user', 'seed']);
  });

  it('writes the same chunks however its events are cut', () => {
    const bytes = new TextEncoder().encode('event: word\ndata: {"words":"Grüß"}\n\nevent: over\ndata: {"why":"done","spent":{"heard":1,"said":1}}\n\n');
    const written = new Set<string>();
    for (const pieces of everySplit(bytes)) {
      const stage = chat.stream?.(fakeCall({ ...hello, stream: true }));
      const events: AnswerEvent[] = [];
      const out = { write: (event: AnswerEvent) => { events.push(event); }, end: () => {}, fail: (fault: Error) => { throw fault; } };
      const reader = new SseReader();
      for (const piece of pieces) reader.push(piece, (event) => stage?.push(event, out));
      reader.end((event) => stage?.push(event, out));
      stage?.end(out);
      written.add(JSON.stringify(events));
    }
    assert.equal(written.size, 1);
    assert.match([...written][0] ?? '', /Grüß/);
  });
});
