// One fake upstream that plays any family: what it is to say stands in a queue, what it understood is kept.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { Refused, type Call, type Family, type Reply, type Seen } from './family.js';

export interface Stage {
  readonly origin: string;
  family: Family;
  readonly replies: Reply[];
  readonly seen: Seen[];
  /** What the provider would have refused, and what went wrong here. */
  readonly faults: string[];
  play(family: Family, replies: readonly Reply[]): void;
}

export async function startStage(first: Family): Promise<Stage> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const call: Call = { method: request.method ?? '', url: request.url ?? '', headers, body: Buffer.concat(chunks) };
      void handle(call).then(async (answered) => {
        response.writeHead(answered.status, answered.headers);
        for (const [index, chunk] of answered.chunks.entries()) {
          response.write(chunk);
          if (index % 8 === 7) await new Promise((resolve) => { setImmediate(resolve); });
        }
        response.end();
      });
    });
  });
  async function handle(call: Call) {
    const { family } = stage;
    const served = family.serve?.(call);
    if (served !== undefined) return served;
    try {
      await family.verify?.(call);
      const seen = family.parse(call);
      stage.seen.push(seen);
      const reply = stage.replies.shift();
      if (reply === undefined) throw new Refused('one call more than there are replies');
      return family.answer(reply, seen);
    } catch (error) {
      const fault = `${error instanceof Refused ? '' : 'simulator: '}${error instanceof Error ? error.message : String(error)}`;
      stage.faults.push(fault);
      return family.answer({ finish: 'stop', usage: { input: 0, output: 0 }, error: { status: 400, message: fault } }, { isStream: false, system: '', turns: [], tools: [] });
    }
  }
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const stage: Stage = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, family: first, replies: [], seen: [], faults: [],
    play(family, replies) {
      stage.family = family;
      stage.replies.splice(0, Infinity, ...replies);
      stage.seen.length = 0;
      stage.faults.length = 0;
    },
  };
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return stage;
}
