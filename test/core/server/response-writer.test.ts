import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResponseWriter, type WriterOwner } from '../../../core/server/response-writer.js';
import { endOfTask, FakeUwsResponse } from './fake-uws-response.js';

class Owner implements WriterOwner {
  answered = 0;
  answeredEarly = 0;
  mustClose = false;
  isBodyUnread = false;
  onAnswered(): void {
    this.answered += 1;
  }
  onAnsweredEarly(): void {
    this.answeredEarly += 1;
  }
}

function bench(): { response: FakeUwsResponse; owner: Owner; writer: ResponseWriter; drains: () => number } {
  const response = new FakeUwsResponse();
  const owner = new Owner();
  const writer = new ResponseWriter(response, owner);
  let drains = 0;
  writer.drainListener = { onDrain() { drains += 1; } };
  return { response, owner, writer, drains: () => drains };
}

const bytes = (text: string): Buffer => Buffer.from(text);
const json = ['content-type', 'application/json'];

describe('a whole answer', () => {
  it('leaves in one corked write, head and body', () => {
    const { response, owner, writer } = bench();
    writer.send(201, json, '{"ä":1}');
    assert.equal(response.corks, 1);
    assert.equal(response.status, '201 Created');
    assert.deepEqual(response.headers, json);
    assert.deepEqual(response.calls, ['end 8']);
    assert.equal(response.body.toString(), '{"ä":1}');
    assert.equal(response.isLast, false);
    assert.deepEqual([writer.isOpen, writer.isStarted, writer.bytesSent, owner.answered], [false, true, 8, 1]);
  });

  it('closes the connection when the owner says so, without a second connection header', () => {
    const { response, owner, writer } = bench();
    owner.mustClose = true;
    writer.send(200, json, bytes('x'));
    assert.equal(response.isLast, true);
    assert.deepEqual(response.headers, json);
  });

  it('of status 204 or 304 has no body and no length', async () => {
    for (const [status, line] of [[204, '204 No Content'], [304, '304 Not Modified']] as const) {
      const { response, writer } = bench();
      writer.start(status, [], -1);
      writer.end();
      await endOfTask();
      assert.equal(response.status, line);
      assert.deepEqual(response.calls, ['endWithoutBody']);
    }
  });

  it('of a status nobody knows still has a status line', () => {
    const { response, writer } = bench();
    writer.send(299, [], '');
    assert.equal(response.status, '299 Unknown');
  });

  it('is not sent twice: the second ends the connection instead', () => {
    const { response, writer } = bench();
    writer.start(200, [], -1);
    writer.send(500, json, '{}');
    assert.deepEqual(response.calls, ['close']);
    assert.equal(writer.isOpen, false);
    writer.send(500, json, '{}');
    assert.deepEqual(response.calls, ['close']);
  });
});

describe('a streamed answer', () => {
  it('sends the chunks of one task in one cork, head first', async () => {
    const { response, writer } = bench();
    writer.start(200, ['content-type', 'text/event-stream'], -1);
    for (const part of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) assert.equal(writer.write(bytes(part)), true);
    assert.equal(response.corks, 0);
    await endOfTask();
    assert.equal(response.corks, 1);
    assert.equal(response.status, '200 OK');
    assert.equal(response.body.toString(), 'data: 1\n\ndata: 2\n\ndata: 3\n\n');
    assert.equal(writer.bytesSent, 27);
    assert.ok(!response.isEnded);
  });

  it('sends its head at the end of the task even without a chunk', async () => {
    const { response, writer } = bench();
    writer.start(200, json, -1);
    await endOfTask();
    assert.equal(response.status, '200 OK');
    assert.deepEqual(response.calls, []);
  });

  it('sends each later task\'s chunks with its own cork, and the head once', async () => {
    const { response, writer } = bench();
    writer.start(200, json, -1);
    for (let count = 1; count <= 3; count += 1) {
      writer.write(bytes(`${count}`));
      await endOfTask();
      assert.equal(response.corks, count);
    }
    writer.end();
    await endOfTask();
    assert.deepEqual(response.calls, ['write 1', 'write 1', 'write 1', 'end 0']);
    assert.deepEqual(response.headers, json);
  });

  it('that is over within its first task goes out whole, with its length', async () => {
    const { response, writer, owner } = bench();
    writer.start(200, json, -1);
    writer.write(bytes('{}'));
    writer.end();
    await endOfTask();
    assert.deepEqual(response.calls, ['end 2']);
    assert.equal(owner.answered, 1);
  });

  it('with several chunks in its first task keeps them all', async () => {
    const { response, writer } = bench();
    writer.start(200, json, -1);
    writer.write(bytes('ab'));
    writer.write(bytes('cd'));
    writer.end();
    await endOfTask();
    assert.equal(response.body.toString(), 'abcd');
    assert.ok(response.isEnded);
    assert.equal(writer.bytesSent, 4);
  });

  it('ignores empty chunks, which would end a chunked body', async () => {
    const { response, writer } = bench();
    writer.start(200, json, -1);
    assert.equal(writer.write(bytes('')), true);
    await endOfTask();
    writer.write(bytes(''));
    await endOfTask();
    assert.deepEqual(response.calls, []);
    assert.equal(response.corks, 1);
  });

  it('tells the client when the connection is to be closed', async () => {
    const { response, owner, writer } = bench();
    owner.mustClose = true;
    writer.start(200, json, -1);
    writer.write(bytes('x'));
    await endOfTask();
    assert.deepEqual(response.headers, [...json, 'connection', 'close']);
    writer.end();
    await endOfTask();
    // Behind chunks the library would write a header into the body: the head has told the client.
    assert.equal(response.isLast, false);
  });

  it('starts once and takes nothing after its end', async () => {
    const { response, owner, writer } = bench();
    writer.start(200, json, -1);
    writer.start(500, [], -1);
    writer.write(bytes('a'));
    writer.end();
    writer.end();
    assert.equal(writer.write(bytes('late')), true);
    await endOfTask();
    assert.equal(response.status, '200 OK');
    assert.equal(response.body.toString(), 'a');
    writer.write(bytes('later'));
    writer.end();
    writer.abort();
    await endOfTask();
    assert.deepEqual(response.calls, ['end 1']);
    assert.equal(owner.answered, 1);
  });
});

describe('a client that reads slowly', () => {
  it('makes write() say no until there is room, and then onDrain is called', async () => {
    const { response, writer, drains } = bench();
    response.room = 3;
    writer.start(200, json, -1);
    assert.equal(writer.write(bytes('abcdef')), true);
    await endOfTask();
    assert.ok(response.isWaiting);
    assert.equal(writer.write(bytes('g')), false);
    await endOfTask();
    assert.deepEqual(response.calls, ['write 6']);
    assert.equal(drains(), 0);
    response.drain();
    assert.equal(response.body.toString(), 'abcdefg');
    assert.equal(drains(), 1);
    assert.equal(writer.write(bytes('h')), true);
    await endOfTask();
    assert.equal(response.body.toString(), 'abcdefgh');
  });

  it('is not told of room that is gone again at once', async () => {
    const { response, writer, drains } = bench();
    response.room = 1;
    writer.start(200, json, -1);
    writer.write(bytes('ab'));
    await endOfTask();
    writer.write(bytes('cd'));
    response.drain(1);
    assert.equal(response.body.toString(), 'abcd');
    assert.equal(drains(), 0);
    assert.ok(response.isWaiting);
    response.drain();
    assert.equal(drains(), 1);
  });

  it('gets the end after what was held', async () => {
    const { response, owner, writer, drains } = bench();
    response.room = 1;
    writer.start(200, json, -1);
    writer.write(bytes('ab'));
    await endOfTask();
    writer.write(bytes('cd'));
    writer.end();
    await endOfTask();
    assert.ok(!response.isEnded);
    response.drain();
    assert.equal(response.body.toString(), 'abcd');
    assert.ok(response.isEnded);
    assert.equal(owner.answered, 1);
    assert.equal(drains(), 0);
  });
});

describe('an answer of announced length', () => {
  it('is cut when more comes than was announced: the client would take that for its next answer', async () => {
    for (const chunks of [['abc', 'defg'], ['abcdefg']]) {
      const { response, owner, writer } = bench();
      writer.start(200, json, 5);
      for (const chunk of chunks) {
        writer.write(bytes(chunk));
        await endOfTask();
      }
      writer.end();
      await endOfTask();
      assert.deepEqual([response.isClosed, writer.isOpen, owner.answered], [true, false, 0], chunks.join());
      assert.ok(response.body.length <= 5);
    }
  });

  it('has none where the status has no body', async () => {
    for (const status of [204, 304]) {
      const { response, writer } = bench();
      writer.send(status, json, '');
      assert.deepEqual(response.calls, ['endWithoutBody'], String(status));
    }
  });

  const whole = Buffer.from(Array.from({ length: 60 }, (_, index) => 65 + index));

  it('arrives whole for every place where the socket is full, and every way it was cut into chunks', async () => {
    for (const pieces of [[60], [1, 59], [59, 1], [20, 20, 20], [7, 13, 1, 39], Array<number>(60).fill(1)]) {
      for (let room = 1; room <= 61; room += pieces.length === 60 ? 7 : 1) {
        for (const isOneTask of [true, false]) {
          const { response, owner, writer, drains } = bench();
          const label = `${pieces.join('+')} with room for ${room}, ${isOneTask ? 'one task' : 'a task each'}`;
          response.room = room;
          writer.start(200, json, whole.length);
          // Without this, what is over in one task would go out by end().
          await endOfTask();
          let at = 0;
          for (const piece of pieces) {
            writer.write(whole.subarray(at, at += piece));
            if (!isOneTask) await endOfTask();
          }
          writer.end();
          await endOfTask();
          let rounds = 0;
          while (!response.isEnded) {
            assert.ok(response.isWaiting, label);
            const had = response.body.length;
            response.drain(room);
            assert.ok(response.body.length > had, label);
            assert.ok(rounds += 1, label);
            assert.ok(rounds <= 60, label);
          }
          assert.ok(response.body.equals(whole), label);
          assert.equal(writer.bytesSent, whole.length, label);
          assert.equal(owner.answered, 1, label);
          assert.equal(drains(), 0, label);
          assert.ok(!writer.isOpen, label);
        }
      }
    }
  });

  it('resumes the upstream only when nothing is held any more', async () => {
    const { response, writer, drains } = bench();
    response.room = 4;
    writer.start(200, json, 20);
    writer.write(whole.subarray(0, 10));
    await endOfTask();
    assert.equal(writer.write(whole.subarray(10, 12)), false);
    response.drain(2);
    assert.equal(drains(), 0);
    response.drain(100);
    assert.equal(drains(), 1);
    assert.equal(response.body.length, 12);
    writer.write(whole.subarray(12, 20));
    await endOfTask();
    assert.ok(response.isEnded);
    assert.ok(response.body.equals(whole.subarray(0, 20)));
  });

  it('ends with its last byte, before end() is called, and end() does no harm', async () => {
    const { response, owner, writer } = bench();
    writer.start(200, json, 4);
    writer.write(bytes('ab'));
    await endOfTask();
    writer.write(bytes('cd'));
    await endOfTask();
    assert.deepEqual(response.calls, ['tryEnd 2/2', 'tryEnd 2/2']);
    assert.equal(owner.answered, 1);
    writer.end();
    await endOfTask();
    assert.equal(owner.answered, 1);
  });

  it('that ends short is cut, so that it does not look whole', async () => {
    const { response, owner, writer } = bench();
    writer.start(200, json, 10);
    writer.write(bytes('abc'));
    await endOfTask();
    writer.end();
    await endOfTask();
    assert.deepEqual(response.calls, ['tryEnd 3/3', 'close']);
    assert.equal(writer.isOpen, false);
    assert.equal(owner.answered, 0);
  });

  it('that ends short while the client reads slowly is cut after what came', async () => {
    const { response, writer } = bench();
    response.room = 1;
    writer.start(200, json, 10);
    writer.write(bytes('abc'));
    await endOfTask();
    writer.end();
    response.drain();
    assert.equal(response.body.toString(), 'abc');
    assert.ok(response.isClosed);
  });
});

describe('an answer that is broken off', () => {
  it('by the gateway is closed at once', async () => {
    const { response, writer } = bench();
    writer.start(200, json, -1);
    writer.write(bytes('x'));
    writer.abort();
    writer.abort();
    await endOfTask();
    assert.deepEqual(response.calls, ['close']);
    assert.equal(response.status, '');
  });

  it('by the client touches the library no more, whatever is still called', async () => {
    const { response, owner, writer, drains } = bench();
    writer.start(200, json, -1);
    writer.write(bytes('x'));
    response.isClosed = true;
    writer.onGone();
    await endOfTask();
    writer.write(bytes('y'));
    writer.end();
    writer.abort();
    writer.start(200, [], -1);
    writer.send(500, [], '{}');
    await endOfTask();
    assert.deepEqual(response.calls, []);
    assert.equal(response.corks, 0);
    assert.equal(drains(), 0);
    assert.equal(owner.answered, 0);
  });

  it('by the client while it was slow ignores a late word of room', async () => {
    const { response, writer, drains } = bench();
    response.room = 1;
    writer.start(200, json, 6);
    writer.write(bytes('abc'));
    await endOfTask();
    response.isClosed = true;
    writer.onGone();
    assert.equal(response.drain(), true);
    assert.equal(response.body.toString(), 'a');
    assert.equal(drains(), 0);
  });
});

describe('an answer before the body has come', () => {
  it('leaves whole, tells that the connection closes, and leaves the connection open', async () => {
    const { response, owner, writer } = bench();
    owner.isBodyUnread = true;
    owner.mustClose = true;
    writer.send(401, json, '{"a":1}');
    assert.equal(response.corks, 0, 'what came in the same read is not known yet');
    await new Promise(setImmediate);
    assert.equal(response.status, '401 Unauthorized');
    assert.deepEqual(response.headers, ['content-type', 'application/json', 'connection', 'close', 'content-length', '9\r\n\r\n{"a":1}']);
    assert.ok(!response.isEnded && !response.isClosed && !writer.isOpen);
    assert.deepEqual([owner.answered, owner.answeredEarly], [0, 1]);
  });

  it('is an answer like another when the body was in the same read, or the answer is not JSON', async () => {
    for (const [headers, isUnread] of [[json, false], [['content-type', 'audio/wav'], true]] as const) {
      const { response, owner, writer } = bench();
      owner.isBodyUnread = true;
      writer.send(401, [...headers], '{"a":1}');
      owner.isBodyUnread = isUnread;
      await new Promise(setImmediate);
      assert.equal(response.body.toString(), '{"a":1}');
      assert.deepEqual([response.isEnded, owner.answered, owner.answeredEarly], [true, 1, 0]);
    }
  });

  it('is not written to a client that has left meanwhile', async () => {
    const { response, owner, writer } = bench();
    owner.isBodyUnread = true;
    writer.send(401, json, '{"a":1}');
    writer.onGone();
    await new Promise(setImmediate);
    assert.equal(response.status, '');
  });
});
