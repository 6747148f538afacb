// A server on bytes: the test decides what each request gets, down to half a header or a closed door.

import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after } from 'node:test';
import { happened } from './heard.js';

export interface RawRequest {
  /** The head, without the blank line. */
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
  /** Number of the connection, from 1. */
  readonly connection: number;
}

export interface RawServer {
  readonly url: URL;
  readonly requests: RawRequest[];
  connections: number;
  /** Connections that were closed, in order, by number. */
  readonly closed: number[];
  answer: (request: RawRequest) => void;
  /** Resolves when `test` holds; looked at whenever something happens here. */
  until(test: () => boolean): Promise<void>;
}

export const ok = (body = 'ok', head = ''): string => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`;

/** The first whole request in `data` (by content-length or chunked), or undefined. */
function requestIn(data: string): { head: string; body: string; length: number } | undefined {
  const end = data.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = data.slice(0, end);
  if (/^transfer-encoding: chunked$/im.test(head)) {
    const last = data.indexOf('0\r\n\r\n', end);
    if (last < 0) return undefined;
    return { head, body: data.slice(end + 4, last).replace(/[0-9a-f]+\r\n([^]*?)\r\n/gi, '$1'), length: last + 5 };
  }
  const length = end + 4 + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  return data.length < length ? undefined : { head, body: data.slice(end + 4, length), length };
}

/** Call it at the top level of a test file. */
export async function startRawServer(answer: (request: RawRequest) => void = ({ socket }) => { socket.write(ok()); }): Promise<RawServer> {
  const waiting = new Set<() => void>();
  const wake = (): void => { for (const check of [...waiting]) check(); };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    raw.connections += 1;
    const connection = raw.connections;
    let data = '';
    sockets.add(socket);
    socket.setNoDelay(true);
    // Resets are what some tests are about.
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      raw.closed.push(connection);
      wake();
    });
    socket.on('data', (chunk) => {
      data += chunk.toString('latin1');
      for (let request = requestIn(data); request !== undefined; request = requestIn(data)) {
        data = data.slice(request.length);
        const whole = { head: request.head, body: request.body, socket, connection };
        raw.requests.push(whole);
        raw.answer(whole);
        wake();
      }
    });
    wake();
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  const raw: RawServer = {
    url: new URL(`http://127.0.0.1:${port}`),
    requests: [],
    connections: 0,
    closed: [],
    answer,
    until: (test) => happened(waiting, test),
  };
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return raw;
}

/** A port of loopback where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}
