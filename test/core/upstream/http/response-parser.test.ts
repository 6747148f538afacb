import { everySplit, randomSplits } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { isGatewayError } from '../../../../core/errors/gateway-error.js';
import { AddressPolicy } from '../../../../core/upstream/address-policy.js';
import { Egress } from '../../../../core/upstream/egress.js';
import { HttpClient } from '../../../../core/upstream/http/http-client.js';
import { chunkExtensionBytesMax, faults, headBytesMax, headersMax, interimMax, ResponseParser } from '../../../../core/upstream/http/response-parser.js';
import { answerCases, type Verdict } from './answer-cases.js';
import { readmePath, withTable } from './answer-table.js';
import { askUndici } from './undici-verdict.js';

const quoted = (body: string): string => (body.length > 60 ? `${body.length} bytes` : JSON.stringify(body));

interface Read {
  readonly verdict: Verdict;
  readonly headers: string[];
  readonly fault: string;
  /** Bytes behind the end. */
  readonly left: number;
  readonly keepsAlive: boolean;
}

/** Each piece is in a buffer of its own that is overwritten afterwards, as the client's read buffer is. */
function read(pieces: Iterable<Uint8Array>, closes: boolean, isHead = false): Read {
  const parser = new ResponseParser();
  parser.begin(isHead);
  let body = '';
  let headers: string[] | null = null;
  let status = 0;
  let left = 0;
  let end = '';
  for (const piece of pieces) {
    if (end !== '') {
      left += piece.length;
      continue;
    }
    const bytes = Buffer.from(piece);
    parser.at = 0;
    let step = parser.step(bytes, bytes.length);
    for (; step !== 'more' && step !== 'end' && step !== 'fault'; step = parser.step(bytes, bytes.length)) {
      if (step === 'body') body += bytes.toString('latin1', parser.bodyFrom, parser.bodyTo);
      else [status, headers] = [parser.status, parser.headers];
    }
    if (step !== 'more') {
      end = step;
      left = bytes.length - parser.at;
    }
    bytes.fill('!');
  }
  if (end === '' && closes) end = parser.end() ? 'end' : 'fault';
  const told = headers === null ? 'refused' : `${status} ${quoted(body)}`;
  const verdict = end === 'end' ? told : headers === null ? 'refused' : `broke ${told}`;
  return { verdict, headers: headers ?? [], fault: parser.fault, left, keepsAlive: parser.keepsAlive };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const readText = (text: string, closes = false): Read => read([bytesOf(text)], closes);
const ok = 'HTTP/1.1 200 OK\r\n';

describe('an answer', () => {
  it('has its verdict for each case of the table, whole, cut at every byte, byte by byte and at random', () => {
    assert.ok(answerCases.length >= 80);
    for (const { name, bytes, closes = false, method, ours } of answerCases) {
      const all = bytesOf(bytes);
      const whole = read([all], closes, method === 'HEAD');
      assert.equal(whole.verdict, ours, name);
      const same = (pieces: Iterable<Uint8Array>, cut: string): void => {
        const { left, ...rest } = read(pieces, closes, method === 'HEAD');
        assert.deepEqual(rest, { verdict: whole.verdict, headers: whole.headers, fault: whole.fault, keepsAlive: whole.keepsAlive }, `${name}, ${cut}`);
        if (whole.verdict === ours && !ours.startsWith('broke') && ours !== 'refused') assert.equal(left, whole.left, name);
      };
      same(Array.from(all, (byte) => Buffer.of(byte)), 'byte by byte');
      if (all.length < 2_000) {
        let index = 0;
        for (const pieces of everySplit(all)) same(pieces, `cut ${(index += 1)}`);
      }
      for (const pieces of randomSplits(all, { seed: 7, count: 20, pieceMax: 50 })) same(pieces, 'seed 7');
    }
  });

  it('gives its headers as they came, names in lower case, none of an interim answer', () => {
    const { headers, verdict } = readText(`HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n${ok}Content-Type: text/plain\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Latin:  caf\xe9 \r\nX-Empty:\r\ncontent-length: 2\r\n\r\nok`);
    assert.equal(verdict, '200 "ok"');
    assert.deepEqual(headers, ['content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'x-latin', 'caf\xe9', 'x-empty', '', 'content-length', '2']);
  });

  it('of many different names keeps each', () => {
    const names = Array.from({ length: 450 }, (_, index) => `x-${index}-${(index * 7919) % 1000}`);
    for (let round = 0; round < 3; round += 1) {
      const { headers } = readText(`${ok}${names.map((name, index) => `${round === 1 ? name.toUpperCase() : name}: ${index}\r\n`).join('')}content-length: 0\r\n\r\n`);
      assert.deepEqual(headers.filter((_, index) => index % 2 === 0), [...names, 'content-length']);
      assert.deepEqual(headers.filter((_, index) => index % 2 === 1), [...names.map((_, index) => String(index)), '0']);
    }
  });

  it('says whether its connection stays, and for how long', () => {
    const stays = (head: string, version = '1.1'): boolean => readText(`HTTP/${version} 200 OK\r\n${head}content-length: 0\r\n\r\n`).keepsAlive;
    assert.equal(stays(''), true);
    for (const close of ['close', 'Close', 'foo, close', 'close,foo', 'keep-alive, close']) assert.equal(stays(`connection: ${close}\r\n`), false, close);
    assert.equal(stays('connection: foo\r\nConnection: close\r\n'), false);
    assert.equal(stays('connection: closed\r\n'), true);
    assert.equal(stays('', '1.0'), false);
    assert.equal(stays('connection: Keep-Alive\r\n', '1.0'), true);
    assert.equal(readText(`${ok}\r\n`, true).keepsAlive, false);
    assert.equal(read([bytesOf(`${ok}content-length: 5\r\n\r\n`)], false, true).keepsAlive, false);
    assert.equal(readText('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n').keepsAlive, false);
    const parser = new ResponseParser();
    for (const [value, seconds] of [['timeout=5', 5], ['max=100, timeout=17', 17], ['Timeout="9"', 9], ['max=3', -1], ['timeout=x', -1], ['xtimeout=4', -1]] as const) {
      const bytes = bytesOf(`${ok}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`);
      parser.begin(false);
      parser.at = 0;
      assert.equal(parser.step(bytes, bytes.length), 'head');
      assert.equal(parser.keepAliveSeconds, seconds, value);
    }
  });

  it('in chunks comes as one piece for each read', () => {
    const parser = new ResponseParser();
    parser.begin(false);
    const bytes = bytesOf(`${ok}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;x\r\nd\r\n5\r\nefghi\r\n0\r\n\r\n`);
    assert.equal(parser.step(bytes, bytes.length), 'head');
    assert.equal(parser.step(bytes, bytes.length), 'body');
    assert.equal(bytes.toString('latin1', parser.bodyFrom, parser.bodyTo), 'abcdefghi');
    assert.equal(parser.step(bytes, bytes.length), 'end');
  });

  it('may follow another on the same parser', () => {
    const parser = new ResponseParser();
    for (const text of [`${ok}content-length: 2\r\n\r\nok`, `${ok}x: y\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'HTTP/1.1 204 No\r\n\r\n', `${ok}content-length: 2\r\n\r\nok`]) {
      const bytes = bytesOf(text);
      parser.begin(false);
      parser.at = 0;
      let step = parser.step(bytes, bytes.length);
      assert.equal(step, 'head');
      while (step !== 'end') {
        step = parser.step(bytes, bytes.length);
        assert.ok(step === 'body' || step === 'end');
      }
      assert.equal(parser.at, bytes.length);
    }
  });

  it('has limits for all that it may hold', () => {
    const cases: readonly (readonly [text: string, fault: string])[] = [
      [`${ok}x: ${'y'.repeat(headBytesMax)}`, faults.tooLarge],
      [`HTTP/1.1 200 ${'y'.repeat(headBytesMax)}`, faults.tooLarge],
      [`${ok}${'x: y\r\n'.repeat(headersMax + 1)}`, faults.tooMany],
      [ok.replace('200', '102').concat('\r\n').repeat(interimMax + 1), faults.interim],
      [`${ok}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(chunkExtensionBytesMax + 1)}`, faults.extension],
      [`${ok}transfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(headersMax + 1)}`, faults.trailer],
      [`${ok}transfer-encoding: chunked\r\n\r\n${'0'.repeat(14)}`, faults.chunk],
    ];
    for (const [text, fault] of cases) {
      assert.equal(readText(text).fault, fault);
      assert.equal(read(Array.from(bytesOf(text), (byte) => Buffer.of(byte)), false).fault, fault);
    }
    assert.equal(readText(`${ok}${'x: y\r\n'.repeat(headersMax - 1)}content-length: 0\r\n\r\n`).verdict, '200 ""');
  });
});

// ---- over sockets, beside undici ----

let answer: Uint8Array = Buffer.alloc(0);
let closes = false;
const server = createServer((socket) => {
  let seen = '';
  socket.on('error', () => {});
  socket.on('data', (data) => {
    seen += data.toString('latin1');
    if (!seen.includes('\r\n\r\n')) return;
    seen = '';
    if (closes) socket.end(answer);
    else socket.write(answer);
  });
});
await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const open = new Set<{ destroy(): void }>();
server.on('connection', (socket) => { open.add(socket); socket.on('close', () => open.delete(socket)); });
const options = { egress: new Egress({ policy: new AddressPolicy(['127.0.0.1']), connectTimeoutMs: 5_000 }), connectionsMax: 10, firstByteTimeoutMs: 30_000, idleTimeoutMs: 30_000 };
const ours = new HttpClient(options);
after(async () => {
  await ours.close();
  for (const socket of open) socket.destroy();
  server.close();
});

const verdictOf = (status: number, body: string, isWhole: boolean): Verdict => (isWhole ? `${status} ${quoted(body)}` : status === 0 ? 'refused' : `broke ${status} ${quoted(body)}`);

async function undici(bytes: Buffer, isClosed: boolean, method = 'GET'): Promise<{ verdict: Verdict; reason: string }> {
  answer = bytes;
  closes = isClosed;
  const { status, body, fault } = await askUndici(url, method);
  return { verdict: verdictOf(status, body, fault === ''), reason: fault };
}

function ask(client: HttpClient, bytes: Buffer, isClosed: boolean, method = 'GET'): Promise<{ verdict: Verdict }> {
  answer = bytes;
  closes = isClosed;
  return new Promise((resolve) => {
    let status = 0;
    let body = '';
    client.origin(url, 'operator').send({ method, path: '/', headers: [], body: null }, {
      onHead(given) { status = given; },
      onChunk(chunk) { body += Buffer.from(chunk).toString('latin1'); },
      onEnd() { resolve({ verdict: verdictOf(status, body, true) }); },
      onError(error) {
        assert.ok(isGatewayError(error));
        resolve({ verdict: verdictOf(status, body, false) });
      },
    });
  });
}

describe('over a socket', () => {
  it('each case of the table has its verdict, here and in undici', async () => {
    for (const each of answerCases) {
      const bytes = bytesOf(each.bytes);
      assert.equal((await ask(ours, bytes, each.closes === true, each.method)).verdict, each.ours, each.name);
      assert.equal((await undici(bytes, each.closes === true, each.method)).verdict, each.undici, `undici: ${each.name}`);
      assert.ok(each.ours === each.undici || each.why !== undefined, `no reason is given: ${each.name}`);
    }
  });

  it('nothing is taken that undici refuses, whatever is done to good answers, but for the exceptions of the table', async () => {
    const seed = 20_261_122;
    let state = seed;
    const below = (bound: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * bound);
    };
    const good = answerCases.filter(({ ours: verdict, undici: other, method, bytes }) => verdict === other && verdict !== 'refused' && !verdict.startsWith('broke') && method === undefined && bytes.length < 500);
    const splices = ['\r\n', '\n', '\r', ' ', '\t', ':', ';', ',', '0', '5', 'f', 'chunked', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Connection: close\r\n', 'X: y\r\n', '\0', '\x7f', '\xff', 'HTTP/1.1 200 OK\r\n', '\r\n\r\n'];
    let accepted = 0;
    let compared = 0;
    for (let round = 0; round < 20_000; round += 1) {
      let text = good[below(good.length)]?.bytes ?? '';
      for (let count = 1 + below(3); count > 0; count -= 1) {
        const at = below(text.length + 1);
        const kind = below(4);
        if (kind === 0) text = text.slice(0, at) + text.slice(at + 1 + below(4));
        else if (kind === 1) text = text.slice(0, at) + splices[below(splices.length)] + text.slice(at);
        else if (kind === 2) text = text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
        else text = text.slice(0, at) + text.slice(at, at + below(20)) + text.slice(at);
      }
      const bytes = bytesOf(text);
      const whole = read([bytes], true);
      const cut = below(bytes.length + 1);
      assert.equal(read([bytes.subarray(0, cut), bytes.subarray(cut)], true).verdict, whole.verdict, `seed ${seed}, ${JSON.stringify(text)} cut at ${cut}`);
      const isTaken = whole.verdict !== 'refused' && !whole.verdict.startsWith('broke');
      if (!isTaken) continue;
      accepted += 1;
      // A call for each would take long.
      if (accepted % 12 !== 0) continue;
      const other = await undici(bytes, true);
      compared += 1;
      // The exceptions: what stands in extensions of chunks and in trailers, 100, lengths of answers without a body.
      if (/chunk extension|100|bad response|Content-Length|length does not match/i.test(other.reason)) continue;
      assert.equal(other.verdict, whole.verdict, `seed ${seed}, ${JSON.stringify(text)}: ${other.reason}`);
    }
    assert.ok(accepted > 1_000 && compared > 100, `${accepted} ${compared}`);
  });
});

it('the table is in the README as it is here', () => {
  const text = readFileSync(readmePath, 'utf8');
  assert.equal(text, withTable(text), 'run node dist/test/core/upstream/http/answer-table.js');
});
