import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatCompletions } from '../../../core/endpoints/chat-completions.js';
import { Exchange } from '../../../core/exchange/exchange.js';
import { RequestHead } from '../../../core/exchange/request-head.js';
import type { DrainListener, HeaderList, Responder } from '../../../core/exchange/responder.js';
import { CoalescedResponse } from '../../../core/pipeline/cache/coalesced-response.js';

const exchangeOf = (): Exchange => new Exchange(new RequestHead(), chatCompletions, '', {} as never, {} as never, { parse: () => ({}), field: () => undefined });

class Client implements Responder {
  isOpen = true;
  isStarted = false;
  bytesSent = 0;
  drainListener: DrainListener | null = null;
  readonly chunks: Buffer[] = [];
  hasEnded = false;
  isDone = false;
  /** Takes so many chunks more. */
  room = Infinity;

  send(_status: number, _headers: HeaderList, body: Uint8Array | string): void { this.write(Buffer.from(body)); this.end(); }
  start(): void { this.isStarted = true; }
  write(chunk: Uint8Array): boolean {
    this.chunks.push(Buffer.from(chunk));
    this.room -= 1;
    return this.room > 0;
  }
  end(): void { this.hasEnded = true; }
  abort(): void { this.isOpen = false; }
  text(): string { return Buffer.concat(this.chunks).toString(); }
}

function join(shared: CoalescedResponse, room = Infinity): Client {
  const client = new Client();
  client.room = room;
  shared.join(exchangeOf(), client, () => { client.isDone = true; });
  return client;
}

const sharedAnswer = (): CoalescedResponse => new CoalescedResponse(exchangeOf(), () => undefined, () => undefined);

describe('a shared answer of small chunks', () => {
  it('is kept as few pieces, which is what those get who join late', () => {
    const shared = sharedAnswer();
    const first = join(shared);
    shared.start(200, [], -1);
    let text = '';
    for (let count = 0; count < 20_000; count += 1) {
      shared.write(Buffer.from(`${count};`));
      text += `${count};`;
    }
    const late = join(shared);
    assert.ok(late.chunks.length <= text.length / 8_192, `${late.chunks.length} pieces for ${text.length} bytes`);
    shared.write(Buffer.from('last'));
    shared.end();
    for (const client of [first, late]) {
      assert.equal(client.text(), `${text}last`);
      assert.ok(client.hasEnded && client.isDone);
    }
  });

  it('reaches each reader whole and in order, wherever it stood still, between large chunks too', () => {
    for (const room of [1, 2, 3, 5, 8, 13]) {
      const shared = sharedAnswer();
      const first = join(shared);
      const slow = join(shared, room);
      shared.start(200, [], -1);
      let text = '';
      for (let count = 0; count < 40; count += 1) {
        const piece = `${count};`.repeat(count % 7 === 0 ? 2_500 : 1);
        text += piece;
        shared.write(Buffer.from(piece));
        if (count % 10 === 9) {
          slow.room = room;
          slow.drainListener?.onDrain();
        }
      }
      shared.end();
      slow.room = Infinity;
      slow.drainListener?.onDrain();
      for (const client of [first, slow]) {
        assert.equal(client.text(), text);
        assert.ok(client.isDone);
      }
    }
  });

  it('is let go of beyond what is kept, by those who go along', () => {
    const shared = sharedAnswer();
    const only = join(shared);
    shared.start(200, [], -1);
    const chunk = Buffer.alloc(3_000, 'y');
    let bytes = 0;
    for (let count = 0; count < 8_000; count += 1) {
      assert.ok(shared.write(chunk));
      bytes += chunk.length;
      only.bytesSent += only.chunks.reduce((sum, piece) => sum + piece.length, 0);
      only.chunks.length = 0;
    }
    assert.equal(shared.mayJoin, false);
    shared.end();
    assert.equal(only.bytesSent, bytes);
    assert.ok(only.isDone);
  });
});
