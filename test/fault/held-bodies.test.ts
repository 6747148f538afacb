// The limit on the bytes of bodies that are held in all, reached over sockets: who is refused then, how, and who is not.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { routed, startTestGateway } from '../support/gateway.js';
import { answerChat, chatCompletion, sendJson, startUpstream } from '../support/upstream.js';
import { isAnswered, openWire, type Wire } from '../support/wire.js';

const KiB = 1024;
const MiB = 1024 * KiB;

const upstream = await startUpstream();
// Seven of them are for bodies above 64 KiB.
const gateway = await startTestGateway({ GATEWAY_HELD_BODY_BYTES_MAX: String(8 * MiB) });

const lines = Object.entries(routed(upstream.url)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const head = (path: string, framing: string): string => `POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n${lines}${framing}\r\n\r\n`;
const chatOf = (length: number): string => {
  const [start = '', end = ''] = JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content: '@' }] }).split('@');
  return start + 'x'.repeat(length - start.length - end.length) + end;
};
const requestOf = (length: number, path = '/v1/chat/completions'): string => head(path, `content-length: ${length}`) + chatOf(length);
const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const isWholeChat = (text: string): boolean => text.endsWith(`${JSON.stringify(chatCompletion).slice(-20)}`);
const codeOf = (text: string): string => /"code": ?"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 200);

const wires: Wire[] = [];
after(() => { for (const { socket } of wires) socket.destroy(); });

async function send(bytes: string): Promise<Wire> {
  const wire = await openWire(gateway.port);
  wires.push(wire);
  wire.write(bytes);
  return wire;
}

/** Calls that wait for their answer at the provider. */
async function waitingCalls(count: number, length: number): Promise<{ readonly wires: readonly Wire[]; readonly answer: () => void }> {
  const responses: ServerResponse[] = [];
  let arrived = (): void => undefined;
  let failed = (_: Error): void => undefined;
  const all = new Promise<void>((resolve, reject) => {
    arrived = resolve;
    failed = reject;
  });
  upstream.answer = (_, response) => {
    responses.push(response);
    if (responses.length === count) arrived();
  };
  const open: Wire[] = [];
  for (let index = 0; index < count; index += 1) {
    const wire = await send(requestOf(length));
    wire.socket.once('data', (chunk: Buffer) => failed(new Error(`answered before it arrived at the provider: ${chunk.toString('latin1')}`)));
    open.push(wire);
  }
  await all;
  upstream.answer = answerChat;
  return { wires: open, answer: () => { for (const response of responses) sendJson(response, 200, chatCompletion); } };
}

/** The gateway has heard of what its clients did before: it answers in the order of its loop. */
async function settled(): Promise<void> {
  for (let index = 0; index < 3; index += 1) await (await send(requestOf(100))).until(isWholeChat);
}

/** As many large calls as there is room for go through: nothing of what was before is still counted. */
async function assertAllFree(): Promise<void> {
  await settled();
  const all = await waitingCalls(7, MiB - KiB);
  all.answer();
  for (const wire of all.wires) assert.match(await wire.until(isWholeChat), /^HTTP\/1\.1 200/);
}

describe('when bodies fill the room for them', () => {
  it('one more is refused at its head with 503 and a time to come back, small ones pass, and all is free when the answers have left', async () => {
    const held = await waitingCalls(7, MiB - KiB);
    const refused = await send(head('/v1/chat/completions', `content-length: ${2 * MiB}`));
    const text = await refused.until(isAnswered);
    assert.match(text, /^HTTP\/1\.1 503 /);
    assert.match(text, /\r\nretry-after: 1\r\n/i);
    assert.equal(codeOf(text), 'body_no_room');
    assert.match(text, /no room for a request body of 2097152 bytes/);
    for (const length of [100, 60 * KiB]) {
      const small = await send(requestOf(length));
      assert.match(await small.until(isWholeChat), /^HTTP\/1\.1 200/);
    }
    held.answer();
    for (const wire of held.wires) assert.match(await wire.until(isWholeChat), /^HTTP\/1\.1 200/);
    await assertAllFree();
  });

  it('a body without a length is refused when it would be too much', async () => {
    const held = await waitingCalls(6, MiB - KiB);
    const endless = await send(head('/v1/chat/completions', 'transfer-encoding: chunked') + chunkOf('x'.repeat(900 * KiB)));
    endless.write(chunkOf('x'.repeat(900 * KiB)));
    const text = await endless.until(isAnswered);
    assert.match(text, /^HTTP\/1\.1 503 /);
    assert.equal(codeOf(text), 'body_no_room');
    held.answer();
    for (const wire of held.wires) await wire.until(isWholeChat);
    await assertAllFree();
  });

  it('a body that could never be held is told so', async () => {
    const text = await (await send(head('/v1/chat/completions', `content-length: ${7 * MiB + 1}`))).until(isAnswered);
    assert.match(text, /^HTTP\/1\.1 413 /);
    assert.match(text, /larger than 7340032 bytes/);
  });

  it('bodies of any length and framing reach the provider byte by byte, as they are, edited and judged', async () => {
    const configs = [{}, { override_params: { user: 'u-1' } }, { input_guardrails: [{ wordCount: { maxWords: 100 }, deny: true }] }];
    for (const length of [10 * KiB, 150 * KiB, 300 * KiB, 3 * MiB]) {
      const text = chatOf(length);
      for (const config of configs) {
        const own = Object.entries(routed(upstream.url, config)).map(([name, value]) => `${name}: ${value}\r\n`).join('');
        for (const isChunked of [false, true]) {
          const start = `POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n${own}`;
          const cut = length / 3 | 0;
          const wire = await send(isChunked
            ? `${start}transfer-encoding: chunked\r\n\r\n${chunkOf(text.slice(0, cut))}${chunkOf(text.slice(cut))}0\r\n\r\n`
            : `${start}content-length: ${length}\r\n\r\n${text}`);
          // A judged call has the results of its hooks behind the usage.
          assert.match(await wire.until((answer) => answer.includes('"total_tokens":12') && answer.endsWith('}')), /^HTTP\/1\.1 200/);
          const sent = upstream.received.at(-1)?.body.toString() ?? '';
          const isEdited = 'override_params' in config;
          assert.ok(isEdited ? sent.startsWith(text.slice(0, -1)) && sent.includes('"u-1"') : sent === text, `${length} bytes, ${JSON.stringify(config)}, ${isChunked ? 'chunked' : 'announced'}: ${sent.length} bytes arrived`);
        }
      }
    }
    await assertAllFree();
  });

  it('what is only announced takes little of it', async () => {
    const silent: Wire[] = [];
    for (let index = 0; index < 40; index += 1) silent.push(await send(head('/v1/chat/completions', `content-length: ${5 * MiB}`) + '{"model"'));
    const four = await waitingCalls(4, MiB - KiB);
    four.answer();
    for (const wire of four.wires) await wire.until(isWholeChat);
    for (const { socket } of silent) socket.destroy();
    await assertAllFree();
  });

  it('uploads that clients break off in storms leave nothing counted', async () => {
    const heads = [head('/v1/chat/completions', `content-length: ${3 * MiB}`), head('/v1/chat/completions', 'transfer-encoding: chunked'), head('/v1/proxy/upload', `content-length: ${3 * MiB}`), head('/v1/files', `content-length: ${3 * MiB}`)];
    for (let round = 0; round < 5; round += 1) {
      const broken = await Promise.all(heads.flatMap((start) => [start, start]).map((start, index) => send(start + (start.includes('chunked') ? chunkOf('x'.repeat(index * 100 * KiB + 1)) : 'x'.repeat(index * 100 * KiB)))));
      // A reset is a harder end than a close; both come.
      broken.forEach(({ socket }, index) => (index % 2 === 0 ? socket.resetAndDestroy() : socket.destroy()));
    }
    await assertAllFree();
  });
});
