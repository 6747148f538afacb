// Attackers of the hostile bench, in the process of the bench: each asks again as soon as it has its answer, but not more often than every `periodMs`,
// so that what is measured is what an attack does and not one client more.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { AttackKind } from './attacks.js';
import { sleep } from './children.js';

export interface Victim {
  /** A provider that answers with JSON. */
  readonly upstreamPort: number;
  /** A server that takes requests and never answers. */
  readonly silentPort: number;
  close(): void;
}

export interface AttackOptions {
  readonly port: number;
  readonly key: string;
  readonly victim: Victim;
  readonly attackers: number;
  readonly copies: number;
}

export interface AttackFigures {
  readonly answers: number;
  /** Answers whose check gave no verdict. */
  readonly errored: number;
  readonly slowestMs: number;
}

const periodMs = 100;
const deadlineMs = 30_000;

async function listen(onData: (socket: Socket, text: string) => void): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: ?(\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      text = '';
      onData(socket, text);
    });
    // The gateway closes what it gives up; 'close' follows.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export async function startVictim(): Promise<Victim> {
  const body = JSON.stringify({
    id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: '{"answer":42}' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const answering = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  const silent = await listen(() => undefined);
  return {
    upstreamPort: answering.port,
    silentPort: silent.port,
    close: () => {
      answering.close();
      silent.close();
    },
  };
}

/** Goes on from its making to its end. */
export class Attack {
  #isOver = false;
  #answers = 0;
  #errored = 0;
  #slowestMs = 0;
  #copy = 0;
  readonly #running: readonly Promise<void>[];

  constructor(readonly kinds: readonly AttackKind[], readonly options: AttackOptions) {
    this.#running = kinds.flatMap((kind) => Array.from({ length: options.attackers }, () => this.#attack(kind)));
  }

  async end(): Promise<AttackFigures> {
    this.#isOver = true;
    await Promise.all(this.#running);
    return { answers: this.#answers, errored: this.#errored, slowestMs: this.#slowestMs };
  }

  async #attack(kind: AttackKind): Promise<void> {
    while (!this.#isOver) {
      const startedAtMs = performance.now();
      await this.#ask(kind);
      const tookMs = performance.now() - startedAtMs;
      this.#slowestMs = Math.max(this.#slowestMs, tookMs);
      await sleep(Math.max(0, periodMs - tookMs));
    }
  }

  async #ask({ stage, check, parameters, text }: AttackKind): Promise<void> {
    const { port, key, victim, copies } = this.options;
    const copy = (this.#copy += 1) % copies;
    const id = check.replace('{copy}', copy === 0 ? '' : String(copy));
    const hooks = [{ id: 'attack', type: 'guardrail', checks: [{ id, parameters: JSON.parse(JSON.stringify(parameters).replace('{silent}', String(victim.silentPort))) as unknown }] }];
    const config = {
      provider: 'openai', api_key: 'sk-bench', custom_host: `http://127.0.0.1:${victim.upstreamPort}/v1`,
      [stage === 'before' ? 'before_request_hooks' : 'after_request_hooks']: hooks,
    };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST', signal: AbortSignal.timeout(deadlineMs),
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, 'x-gateway-config': JSON.stringify(config) },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
    });
    const said = await answer.text();
    if (answer.status !== 200 && answer.status !== 246) throw new Error(`an attack with ${id} got status ${answer.status}: ${said.slice(0, 300)}`);
    this.#answers += 1;
    if (/"error":\{/.test(said)) this.#errored += 1;
  }
}
