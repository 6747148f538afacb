// What calls hold in memory while they wait for their provider, and while its answer streams: the bytes of their bodies once, and little else.

import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { routed, startTestGateway } from '../support/gateway.js';
import { openWire, type Wire } from '../support/wire.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KiB = 1024;
const callCount = 100;
const fillerBytes = 150 * KiB;

/** Reads requests, keeps nothing of them, and answers when told to. */
class QuietProvider {
  arrived = 0;
  readonly #open: Socket[] = [];
  readonly #server = createServer((socket) => {
    let received = 0;
    let whole = -1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      if (whole === -1) {
        const text = chunk.toString('latin1');
        const length = /\r\ncontent-length: ?(\d+)/i.exec(text)?.[1];
        whole = text.indexOf('\r\n\r\n') + 4 + Number(length);
      }
      received += chunk.length;
      if (received < whole) return;
      received = 0;
      whole = -1;
      this.arrived += 1;
      this.#open.push(socket);
      this.#wake();
    });
  });
  #wake: () => void = () => undefined;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => { this.#server.listen(0, '127.0.0.1', resolve); });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async until(count: number): Promise<void> {
    while (this.arrived < count) await new Promise<void>((resolve) => { this.#wake = resolve; });
  }

  say(text: string): void {
    for (const socket of this.#open) socket.write(text);
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
  }
}

const provider = new QuietProvider();
const providerUrl = await provider.listen();
const gateway = await startTestGateway();
after(() => provider.close());

const body = JSON.stringify({ model: 'gpt-test', stream: true, messages: [{ role: 'user', content: 'x'.repeat(fillerBytes) }] });
const headers = Object.entries({ 'content-type': 'application/json', ...routed(providerUrl) }).map(([name, value]) => `${name}: ${value}\r\n`).join('');
const request = Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`);
const bytesInFlight = callCount * body.length;

interface Held {
  readonly heap: number;
  /** Buffers and what else is outside of the heap. */
  readonly outside: number;
}

async function measured(): Promise<Held> {
  // What ended in this task is garbage in the next one.
  await new Promise((resolve) => { setImmediate(resolve); });
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, outside: external };
}

describe(`${callCount} calls with bodies of ${fillerBytes / KiB} KiB`, () => {
  let before: Held;
  const wires: Wire[] = [];

  it('hold the bytes that came and no text or tree of them while the provider thinks', async () => {
    before = await measured();
    for (let index = 0; index < callCount; index += 1) {
      const wire = await openWire(gateway.port);
      wires.push(wire);
      wire.socket.write(request);
    }
    await provider.until(callCount);
    const now = await measured();
    const heap = (now.heap - before.heap) / bytesInFlight;
    const outside = (now.outside - before.outside) / bytesInFlight;
    assert.ok(heap < 0.3, `the heap holds ${heap.toFixed(2)} x the bytes in flight`);
    assert.ok(outside < 1.4, `buffers hold ${outside.toFixed(2)} x the bytes in flight`);
  });

});
