// What the soak throws at the gateway beside its honest callers: each attack is one call, or one connection, that has to come to an end by itself. In the process
// of the soak, so that what attackers cost is nobody's latency.

import { connect, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
  readonly providerPort: number;
  readonly key: string;
}

/** Resolves when the attack has ended, with the status it got, or 0 where the connection was closed without one. */
export type SoakAttack = (target: Target, number: number) => Promise<number>;

const attackDeadlineMs = 60_000;
const dripPeriodMs = 200;

class EndlessAttack extends Error {}

/** One request on a connection of its own. `send` writes what comes after the head. */
function call(target: Target, head: readonly string[], send: (socket: Socket) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(target.port, '127.0.0.1');
    let status = 0;
    const deadline = setTimeout(() => {
      reject(new EndlessAttack(`no end within ${attackDeadlineMs} ms: ${head[0] ?? ''}`));
      socket.destroy();
    }, attackDeadlineMs);
    socket.on('connect', () => {
      socket.write(`${head.join('\r\n')}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
      send(socket);
    });
    socket.on('data', (data) => {
      if (status === 0) status = Number(/^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1] ?? 0);
    });
    // A connection that the gateway refuses or closes has ended, too.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve(status);
    });
  });
}

const post = (path: string): string => `POST ${path} HTTP/1.1`;
const jsonHeaders = (length: number): string[] => ['content-type: application/json', `content-length: ${length}`];

/** A call with a key. */
function keyed(target: Target, config: Record<string, unknown>, body: string, { path = '/v1/chat/completions', more = [] as readonly string[] } = {}): Promise<number> {
  const bytes = Buffer.from(body);
  const whole = { provider: 'openai', api_key: 'sk-soak', custom_host: `http://127.0.0.1:${target.providerPort}/v1`, ...config };
  return call(target, [post(path), `x-gateway-api-key: ${target.key}`, `x-gateway-config: ${JSON.stringify(whole)}`, ...more, ...jsonHeaders(bytes.length)], (socket) => socket.write(bytes));
}

const chat = (model: string, more: Record<string, unknown> = {}, content = 'attack'): string => JSON.stringify({ model, messages: [{ role: 'user', content }], ...more });

function drip(socket: Socket, byte: string, count: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    if (socket.destroyed || sent > count) clearInterval(timer);
    else socket.write(byte);
  }, dripPeriodMs);
  socket.once('close', () => clearInterval(timer));
}

export const soakAttacks: Readonly<Record<string, SoakAttack>> = {
  'no key, large head': (target, number) => call(target, [post('/v1/chat/completions'), `x-gateway-metadata: ${JSON.stringify({ filler: 'm'.repeat(15_000), number })}`, `x-gateway-trace-id: ${'t'.repeat(2_000)}`, `x-filler: ${'f'.repeat(20_000)}`, ...jsonHeaders(2)], (socket) => socket.write('{}')),
  'no key, dripping body': (target) => call(target, [post('/v1/chat/completions'), ...jsonHeaders(1_000)], (socket) => drip(socket, ' ', 100)),
  'dripping body': (target) => call(target, [post('/v1/chat/completions'), `x-gateway-api-key: ${target.key}`, 'x-gateway-provider: openai', ...jsonHeaders(1_000_000)], (socket) => drip(socket, ' ', 50)),
  'one-byte chunks': (target) => call(target, [post('/v1/chat/completions'), `x-gateway-api-key: ${target.key}`, 'x-gateway-provider: mock', 'content-type: application/json', 'transfer-encoding: chunked'],
    (socket) => socket.write(`${[...chat('mock', {}, 'x'.repeat(60_000))].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`)),
  'one-byte chunks of the provider': (target) => keyed(target, { output_guardrails: [{ wordCount: { maxWords: 10 } }] }, chat('drip')),
  'cached null, then streamed': async (target, number) => {
    const config = { cache: { mode: 'simple', max_age: 60 } };
    await keyed(target, config, chat(number % 2 === 0 ? 'null' : 'not-json', {}, `null ${number}`));
    return keyed(target, config, chat(number % 2 === 0 ? 'null' : 'not-json', { stream: true }, `null ${number}`));
  },
  'deep request': (target) => keyed(target, {}, `{"model":"echo","messages":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
  'deep answer': (target) => keyed(target, { cache: { mode: 'simple', max_age: 60 }, output_guardrails: [{ wordCount: { maxWords: 10 } }] }, chat('deep')),
  'deep response to keep': (target) => keyed(target, { provider: 'deepseek' }, JSON.stringify({ model: 'deep', input: 'attack' }), { path: '/v1/responses' }),
  'many changed pieces': (target) => keyed(target, { input_guardrails: [{ pii: { redact: true } }] }, JSON.stringify({ model: 'echo', messages: Array.from({ length: 5_000 }, (_, index) => ({ role: 'user', content: `mail ${index}@example.com` })) })),
  'many patterns': (target, number) => keyed(target, { input_guardrails: Array.from({ length: 600 }, (_, index) => ({ regexMatch: { rule: `(?:alpha|${number}|${index}){1,40}[a-z]{1,40}` } })) }, chat('echo')),
  'many values': (target) => keyed(target, {}, `{"model":"echo","messages":[${'{},'.repeat(700_000)}{}]}`),
  'many cache parameters': (target, number) => keyed(target, { cache: { mode: 'simple', max_age: 60 + number } }, chat('echo', {}, `parameters ${number}`)),
  'silent provider with time-out': (target, number) => keyed(target, number % 2 === 0 ? { request_timeout: 300, retry: { attempts: 2, on_status_codes: [408] } } : {}, chat('silent')),
  'cut stream': (target) => keyed(target, {}, chat('cut', { stream: true })),
  'huge time-out': (target) => keyed(target, {}, chat('echo'), { more: ['x-gateway-request-timeout: 4294967296'] }),
  'leaving the base path': (target) => keyed(target, { provider: 'google' }, chat('../..')),
  'lone surrogate': (target) => keyed(target, { provider: 'google' }, '{"model":"\\ud800","messages":[{"role":"user","content":"x"}]}'),
  'vanishing client': (target) => keyedVanishing(target),
  'reader that stops': (target) => keyedStopped(target),
};

/** Leaves in the middle of a stream. */
function keyedVanishing(target: Target): Promise<number> {
  const body = chat('echo', { stream: true });
  return call(target, [post('/v1/chat/completions'), `x-gateway-api-key: ${target.key}`, 'x-gateway-provider: openai', `x-gateway-custom-host: http://127.0.0.1:${target.providerPort}/v1`, 'authorization: Bearer sk-soak', ...jsonHeaders(body.length)], (socket) => {
    socket.write(body);
    setTimeout(() => socket.destroy(), 150);
  });
}

/** Does not read for a while, then leaves. */
function keyedStopped(target: Target): Promise<number> {
  const body = chat('echo', { stream: true });
  return call(target, [post('/v1/chat/completions'), `x-gateway-api-key: ${target.key}`, 'x-gateway-provider: openai', `x-gateway-custom-host: http://127.0.0.1:${target.providerPort}/v1`, 'authorization: Bearer sk-soak', ...jsonHeaders(body.length)], (socket) => {
    socket.write(body);
    socket.pause();
    setTimeout(() => socket.destroy(), 3_000);
  });
}

export interface AttackCount {
  begun: number;
  ended: number;
  endless: number;
  readonly statuses: Map<number, number>;
}

/** Begins attacks in turn at a fixed rate until it is told to stop. */
export class SoakAttackers {
  readonly counts = new Map<string, AttackCount>();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #number = 0;

  constructor(readonly target: Target, readonly names: readonly string[]) {}

  begin(perSecond: number): void {
    this.#timer = setInterval(() => this.#attack(), 1000 / perSecond);
  }

  /** Resolves when every attack has come to its end. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#running);
  }

  #attack(): void {
    const name = this.names[this.#number % this.names.length] ?? '';
    const attack = soakAttacks[name];
    if (attack === undefined) throw new Error(`no attack ${name}`);
    let count = this.counts.get(name);
    if (count === undefined) this.counts.set(name, count = { begun: 0, ended: 0, endless: 0, statuses: new Map() });
    const counted = count;
    counted.begun += 1;
    this.#number += 1;
    const running = attack(this.target, this.#number).then((status) => {
      counted.ended += 1;
      counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1);
    }, (thrown: unknown) => {
      if (!(thrown instanceof EndlessAttack)) throw thrown;
      counted.endless += 1;
    }).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}
