import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomSplits } from '@gateway/plugin-sdk/testing';
import { heldBytesMax, UsageFilter } from '../../../core/stream/usage-filter.js';

const chunk = (members: object): string => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...members })}`;
const said = (content: string): string => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null });
const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const alone = chunk({ choices: [], usage });
const ends = ['\n', '\r\n', '\r'];

/** What the client gets of these chunks, each overwritten once it was told. */
function passed(chunks: readonly Uint8Array[]): string {
  const got: Buffer[] = [];
  const filter = new UsageFilter((bytes) => got.push(Buffer.from(bytes)));
  for (const each of chunks) {
    const lent = Buffer.from(each);
    filter.push(lent);
    lent.fill(0x21);
  }
  filter.end();
  return Buffer.concat(got).toString();
}
const cuts = (text: string): readonly (readonly Uint8Array[])[] => {
  const bytes = Buffer.from(text);
  return [[bytes], Array.from(bytes, (byte) => Buffer.from([byte])), ...randomSplits(bytes, { seed: 7, count: 6, pieceMax: 40 })];
};
const written = (events: readonly string[], end: string): string => events.map((event) => event.replaceAll('\n', end) + end + end).join('');
function check(events: readonly string[], kept: readonly string[]): void {
  for (const end of ends) for (const cut of cuts(written(events, end))) assert.equal(passed(cut), written(kept, end), JSON.stringify([end, cut.length]));
}

describe('the filter of usage that nobody asked for', () => {
  it('keeps the event of nothing but usage, however lines end and bytes are cut', () => {
    check([said('Zwölf'), said('€'), alone, 'data: [DONE]'], [said('Zwölf'), said('€'), 'data: [DONE]']);
  });

  it('keeps it wherever it comes, and as often', () => check([alone, said('a'), alone, alone, said('b'), alone], [said('a'), said('b')]));

  it('keeps it with blanks in its JSON, over several lines, with a name and a comment', () => {
    check([': first', `event: message\ndata:{ "choices" : [ ] ,\ndata: "usage" : { "total_tokens": 1 } }\nid: 1`, said('a')], [': first', said('a')]);
  });

  it('passes what only looks like it', () => {
    const events = [
      chunk({ choices: [], prompt_filter_results: [{ prompt_index: 0 }], usage: null }),
      chunk({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage }),
      said('"choices":[],"usage":{}'),
      chunk({ choices: [{ index: 0, delta: { nested: { choices: [], usage: {} } } }] }),
      'data: {"choices":[],"usage":{"total_tokens":1}', ': {"choices":[],"usage":{}}', 'data: {"error":{"message":"no"}}', 'data: [DONE]',
    ];
    check(events, events);
  });

  it('passes every byte of a stream without it, blank lines and an open end included', () => {
    for (const text of ['', '\n\n\n', '\r\n\r\n', `\n${said('a')}\n\n\n\n${said('b')}`, `${said('a')}\r\n\r\n\n\r${said('b')}\r`]) for (const cut of cuts(text)) assert.equal(passed(cut), text);
  });

  it('keeps a last event whose blank line is missing', () => {
    for (const cut of cuts(`${said('a')}\n\n${alone}`)) assert.equal(passed(cut), `${said('a')}\n\n`);
  });

  it('holds an event that has not ended, and no more than its limit', () => {
    const got: Buffer[] = [];
    const filter = new UsageFilter((bytes) => got.push(Buffer.from(bytes)));
    const long = said('x'.repeat(3 * heldBytesMax));
    filter.push(Buffer.from(`${said('a')}\n\n${long.slice(0, heldBytesMax)}`));
    assert.equal(Buffer.concat(got).toString(), `${said('a')}\n\n`);
    assert.equal(filter.isMidEvent, false);
    filter.push(Buffer.from(long.slice(heldBytesMax, heldBytesMax + 1)));
    assert.equal(filter.isMidEvent, true);
    filter.push(Buffer.from(`${long.slice(heldBytesMax + 1)}\n\n${alone}\n\ndata: [DONE]\n\n`));
    assert.equal(filter.isMidEvent, false);
    assert.equal(Buffer.concat(got).toString(), `${said('a')}\n\n${long}\n\ndata: [DONE]\n\n`);
  });

  it('writes what passes of a chunk at once', () => {
    let writes = 0;
    const filter = new UsageFilter(() => { writes += 1; });
    filter.push(Buffer.from(written([said('a'), said('b'), said('c')], '\n')));
    assert.equal(writes, 1);
  });
});
