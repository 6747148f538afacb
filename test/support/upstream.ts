// A provider for tests: a real HTTP server on loopback that records what it was sent and answers as the test says.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  json(): Record<string, unknown>;
}

export type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export interface TestUpstream {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Connections accepted so far. */
  connections: number;
  /** What the next requests get; the default is a chat completion. */
  answer: Answer;
  close(): Promise<void>;
}

export const chatCompletion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-test-2024',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
};

export const sendJson = (response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void => {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length), ...headers });
  response.end(body);
};

export const answerChat: Answer = (_, response) => sendJson(response, 200, chatCompletion);

/** The events of a streamed chat completion that says `words`, without their blank lines. */
export function chatChunks(words: readonly string[], model = 'gpt-test-2024'): string[] {
  const chunk = (delta: unknown, finish: string | null, usage?: unknown): string => `data: ${JSON.stringify({
    id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model,
    choices: usage === undefined ? [{ index: 0, delta, finish_reason: finish }] : [], ...(usage === undefined ? {} : { usage }),
  })}`;
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...words.map((word) => chunk({ content: word }, null)),
    chunk({}, 'stop'),
    chunk({}, null, { prompt_tokens: 9, completion_tokens: words.length, total_tokens: 9 + words.length }),
    'data: [DONE]',
  ];
}

export const answerStream = (words: readonly string[]): Answer => (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chatChunks(words).join('\n\n')}\n\n`);
};

export async function startUpstream(answer: Answer = answerChat): Promise<TestUpstream> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const received: Received = {
        method: request.method ?? '', url: request.url ?? '', headers: request.headers, rawHeaders: request.rawHeaders, body,
        json: () => JSON.parse(body.toString('utf8')),
      };
      upstream.received.push(received);
      upstream.answer(received, response, request);
    });
  });
  server.on('connection', () => { upstream.connections += 1; });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  const upstream: TestUpstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    received: [],
    connections: 0,
    answer,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
  after(() => upstream.close());
  return upstream;
}
