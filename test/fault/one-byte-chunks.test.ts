// Bodies and answers cut into chunks of one byte, against a gateway whose heap is small: what is held is weighed, not what was sent. An object
// for each chunk would take some hundred times the bytes and end the process.

import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { startChildGateway } from '../support/child-gateway.js';
import { routed } from '../support/gateway.js';
import { chatChunks, chatCompletion } from '../support/upstream.js';
import { isAnswered, openWire } from '../support/wire.js';

const heapMegabytes = 40;
const textLength = 250_000;
const text = 'x'.repeat(textLength);

/** Each byte of `body` a chunk of its own. */
function inSingleBytes(body: string): Buffer {
  const bytes = Buffer.from(body);
  const chunks = Buffer.alloc(bytes.length * 6, '1\r\n \r\n');
  for (let index = 0; index < bytes.length; index += 1) chunks[index * 6 + 3] = bytes[index] as number;
  return Buffer.concat([chunks, Buffer.from('0\r\n\r\n')]);
}

/** A provider that answers each connection with these bytes, once the head of a request is there; null: never. */
async function rawProvider(answer: Buffer | null): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (answer === null) socket.pause();
      else socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (type: string, body: string): Promise<string> =>
  rawProvider(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`), inSingleBytes(body)]));

const long = { ...chatCompletion, choices: [{ ...chatCompletion.choices[0], message: { role: 'assistant', content: text } }] };
const plain = await answering('application/json', JSON.stringify(long));
const streamed = await answering('text/event-stream', `${chatChunks([text]).join('\n\n')}\n\n`);
const failing = await rawProvider(Buffer.concat([
  Buffer.from('HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'),
  inSingleBytes(JSON.stringify({ error: { message: text.slice(0, 200_000), type: 'invalid_request_error' } })),
]));
const silent = await rawProvider(null);
const gateway = await startChildGateway({ NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` });

const messages = (upstream: string, isStream: boolean): Promise<Response> => fetch(`${gateway.url}/v1/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', ...routed(upstream) },
  body: JSON.stringify({ model: 'gpt-test', max_tokens: 10, stream: isStream, messages: [{ role: 'user', content: 'x' }] }),
});
const lines = (headers: Readonly<Record<string, string>>): string => Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const head = (path: string, upstream: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n${lines(routed(upstream))}\r\n`;

describe('one byte a chunk', () => {
  it('is a body like another on a route that collects it', async () => {
    const wires = await Promise.all(Array.from({ length: 4 }, () => openWire(gateway.port)));
    // Not JSON at its end: the answer comes when all of it was held.
    for (const wire of wires) wire.write(Buffer.concat([Buffer.from(head('/v1/chat/completions', silent)), inSingleBytes(`{"model":"${text}"`)]));
    for (const wire of wires) {
      assert.match(await wire.until(isAnswered), /body_not_json/);
      wire.destroy();
    }
  });

  it('is an upload like another while the provider reads nothing', async () => {
    const wires = await Promise.all(Array.from({ length: 6 }, () => openWire(gateway.port)));
    for (const wire of wires) wire.write(Buffer.concat([Buffer.from(head('/v1/proxy/upload', silent)), inSingleBytes(text)]));
    // Answered behind what has come of the uploads.
    for (let round = 0; round < 20; round += 1) assert.equal((await fetch(`${gateway.url}/health`)).status, 200);
    for (const wire of wires) wire.destroy();
  });

  it('is an answer like another that is collected', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => messages(plain, false)));
    for (const answer of answers) assert.equal((await answer.json() as { content: { text: string }[] }).content[0]?.text.length, textLength);
  });

  it('is an error like another', async () => {
    const [answer] = await Promise.all(Array.from({ length: 6 }, () => messages(failing, false)));
    assert.ok(answer !== undefined);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /xxx/);
  });

  it('is a line of a stream like another', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => messages(streamed, true)));
    for (const answer of answers) assert.ok((await answer.text()).includes(text));
  });

  it('leaves the gateway as it was', async () => {
    assert.equal((await fetch(`${gateway.url}/ready`)).status, 200);
    assert.equal(gateway.stderr(), '');
  });
});
