// The provider of the soak, a process of its own: answers chat completions and messages with the words it was asked, so that an answer that belongs to
// another call shows, and misbehaves when `model` says so. Prints {"port":N} when it listens and ends when its standard input closes.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const delayMs = 20;
const streamEvents = 20;
const eventPeriodMs = 15;
const bodyBytesMax = 8 * 1024 * 1024;
/** Of one-byte chunks; each is a write of its own. */
const dripBytes = 20_000;
const deepLevels = 50_000;

interface Asked {
  readonly model: string;
  readonly text: string;
  readonly isStream: boolean;
}

/** The last text of a conversation: a string, or parts with a text. */
function lastText(messages: unknown): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content: unknown = Object(last).content;
  if (typeof content === 'string') return content;
  const part: unknown = Array.isArray(content) ? content.at(-1) : undefined;
  const text: unknown = Object(part).text;
  return typeof text === 'string' ? text : '';
}

function read(body: Buffer): Asked {
  const value: unknown = JSON.parse(body.toString('utf8'));
  const { model, messages, stream } = Object(value);
  // The echo is a marker: what attackers send beside it is not sent back.
  return { model: String(model), text: lastText(messages).slice(0, 200), isStream: stream === true };
}

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const chatAnswer = (content: string): string => JSON.stringify({
  id: 'chatcmpl-soak', object: 'chat.completion', created: 1_700_000_000, model: 'soak',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null }], usage,
});
const messagesAnswer = (text: string): string => JSON.stringify({
  id: 'msg_soak', type: 'message', role: 'assistant', model: 'soak', content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
});

const chatEvent = (delta: unknown, finish: string | null): string => `data: ${JSON.stringify({
  id: 'chatcmpl-soak', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'soak', choices: [{ index: 0, delta, finish_reason: finish }],
  ...(finish === null ? {} : { usage }),
})}\n\n`;

function json(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Writes the pieces one after another; a reader that stops is waited for, one that leaves ends it. */
function paced(response: ServerResponse, pieces: readonly string[], periodMs: number, end: () => void): void {
  let at = 0;
  const next = (): void => {
    if (response.destroyed) return;
    const piece = pieces[at];
    at += 1;
    if (piece === undefined) end();
    else if (!response.write(piece)) response.once('drain', () => setTimeout(next, periodMs));
    else if (periodMs === 0) setImmediate(next);
    else setTimeout(next, periodMs);
  };
  next();
}

function stream(response: ServerResponse, text: string, isCut: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = Array.from({ length: streamEvents }, (_, index) => (index === 0 ? text : ` word${index}`));
  const pieces = [chatEvent({ role: 'assistant', content: '' }, null), ...words.map((content) => chatEvent({ content }, null))];
  paced(response, isCut ? pieces.slice(0, 8) : [...pieces, chatEvent({}, 'stop'), 'data: [DONE]\n\n'], eventPeriodMs, () => {
    if (isCut) response.destroy();
    else response.end();
  });
}

function answer(request: IncomingMessage, response: ServerResponse, { model, text, isStream }: Asked): void {
  const isMessages = (request.url ?? '').includes('/messages');
  switch (model) {
    case 'drip':
      response.writeHead(200, { 'content-type': 'application/json' });
      paced(response, [...chatAnswer('x'.repeat(dripBytes))], 0, () => response.end());
      return;
    case 'null': json(response, 'null'); return;
    case 'not-json': json(response, '<html><body>busy</body></html>'); return;
    case 'deep': json(response, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x","extra":${'['.repeat(deepLevels)}${']'.repeat(deepLevels)}},"finish_reason":"stop"}]}`); return;
    case 'silent': setTimeout(() => response.destroy(), 2_000); return;
    case 'cut': stream(response, text, true); return;
    default:
  }
  if (isStream) stream(response, text, false);
  else if (isMessages) json(response, messagesAnswer(text));
  else json(response, chatAnswer(text));
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  });
  // A caller that leaves in the middle of its body.
  request.on('error', () => response.destroy());
  response.on('error', () => response.destroy());
  request.on('end', () => {
    let asked: Asked;
    try {
      asked = read(Buffer.concat(chunks));
    } catch {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"the soak cannot read this body","type":"invalid_request_error","param":null,"code":null}}');
      return;
    }
    setTimeout(() => answer(request, response, asked), delayMs);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`));
// The soak holds the other end; when it dies, so does this.
process.stdin.on('end', () => process.exit(0)).resume();
