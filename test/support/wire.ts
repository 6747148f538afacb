// Bytes on a socket, for what no HTTP client would send or notice.

import { connect, type Socket } from 'node:net';

export interface Wire {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  /** Resolves when what came satisfies `test`; rejects when the connection closes first. */
  until(test: (text: string) => boolean): Promise<string>;
  /** Resolves with all that came when the other side closed. */
  closed(): Promise<string>;
  write(data: string | Uint8Array): void;
  destroy(): void;
}

/** The first answer on it is there, with all of the body whose length it says. */
export function isAnswered(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, headEnd + 1))?.[1];
  return length !== undefined && text.length >= headEnd + 4 + Number(length);
}

/** `from`: the client's address. */
export async function openWire(port: number, from = '127.0.0.1'): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.setNoDelay(true);
  const chunks: Buffer[] = [];
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = (): void => { for (const check of [...waiting]) check(); };
  socket.on('data', (chunk) => { chunks.push(chunk); wake(); });
  socket.on('close', () => { isClosed = true; wake(); });
  // A reset is one of the ways a connection is refused; tests look at what came before it.
  socket.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const text = (): string => Buffer.concat(chunks).toString('latin1');
  const wait = (test: (text: string, isClosed: boolean) => boolean | Error): Promise<string> => new Promise((resolve, reject) => {
    const check = (): void => {
      const verdict = test(text(), isClosed);
      if (verdict === false) return;
      waiting.delete(check);
      if (verdict === true) resolve(text());
      else reject(verdict);
    };
    waiting.add(check);
    check();
  });
  return {
    socket,
    text,
    until: (test) => wait((all, closed) => test(all) || (closed ? new Error(`closed after: ${all.slice(0, 500)}`) : false)),
    closed: () => wait((_, closed) => closed),
    write: (data) => { socket.write(data); },
    destroy: () => { socket.destroy(); },
  };
}
