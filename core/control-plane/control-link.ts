// How the threads that serve calls reach the control plane: in a thread of its own, so that nothing it does holds up a call, or beside them where
// the storage cannot be shared. Neither a thread that died nor one that hangs leaves a call without a reply.

import type { MessagePort } from 'node:worker_threads';
import { fail } from '../errors/gateway-error.js';
import type { ControlCall, ControlReply } from './control-call.js';
import { errorReply } from './envelope.js';

/** A control call that takes longer is answered without its outcome. */
const replyMsMax = 30_000;
/** Longer bodies are handed over instead of copied. */
const copiedBytesMax = 16 * 1024;

export interface ControlLink {
  /** Never rejects. The call's body is given away. */
  send(call: ControlCall): Promise<LinkedReply>;
  close(): void;
}

/** A reply as it leaves: its text may be bytes already. */
export interface LinkedReply extends Omit<ControlReply, 'body'> {
  readonly body: string | Uint8Array;
}

interface LinkedCall {
  readonly number: number;
  readonly call: ControlCall;
}

interface Answer {
  readonly number: number;
  readonly reply: LinkedReply;
}

/** Takes control calls. */
export interface CallHandler {
  /** Never rejects. */
  handle(call: ControlCall): Promise<ControlReply>;
}

/** To a control plane on the same thread. */
export class LocalLink implements ControlLink {
  constructor(readonly handler: CallHandler) {}

  send(call: ControlCall): Promise<LinkedReply> {
    return inTime((reply) => { this.handler.handle(call).then(reply, () => reply(unavailable('it failed'))); });
  }

  close(): void {}
}

interface Waiting {
  readonly number: number;
  readonly answer: (reply: LinkedReply) => void;
}

/** Calls of one thread that wait at once; more are refused. */
const waitingMax = 4_096;

/**
 * Calls that wait, by number. Slots, and no Map: the tables that a long-lived Map grows out of hold on to the ones after them, with all that stood
 * in those, until the next full collection, and each scavenge of a serving thread would carry the calls of the last seconds along.
 */
class WaitingCalls {
  readonly #slots: (Waiting | undefined)[] = [];
  readonly #free: number[] = [];
  #round = 0;

  get isFull(): boolean {
    return this.#free.length === 0 && this.#slots.length >= waitingMax;
  }

  /** The number of the call. Not to be called when it is full: the slot is part of the number. */
  add(answer: (reply: LinkedReply) => void): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#round += 1;
    const number = this.#round * waitingMax + slot;
    this.#slots[slot] = { number, answer };
    return number;
  }

  /** Undefined: it waits no more. */
  take(number: number): ((reply: LinkedReply) => void) | undefined {
    const slot = number % waitingMax;
    const waiting = this.#slots[slot];
    if (waiting === undefined || waiting.number !== number) return undefined;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
    return waiting.answer;
  }

  takeAll(): ((reply: LinkedReply) => void)[] {
    return this.#slots.flatMap((waiting) => (waiting === undefined ? [] : this.take(waiting.number) ?? []));
  }
}

/** To the control thread. */
export class PortLink implements ControlLink {
  #port: MessagePort | null = null;
  readonly #waiting = new WaitingCalls();

  constructor(port: MessagePort) {
    this.attach(port);
  }

  /** A new control thread stands in the place of the one before. */
  attach(port: MessagePort): void {
    this.close();
    this.#port = port;
    port.on('message', ({ number, reply }: Answer) => {
      this.#waiting.take(number)?.(reply);
    });
    // The other end died, and all that it had taken with it.
    port.on('close', () => { if (this.#port === port) this.close(); });
    port.unref();
  }

  send(call: ControlCall): Promise<LinkedReply> {
    const port = this.#port;
    if (port === null) return Promise.resolve(unavailable('it is being started again'));
    if (this.#waiting.isFull) return Promise.resolve(busy);
    let number = -1;
    return inTime((reply) => {
      number = this.#waiting.add(reply);
      const { buffer, length } = call.body;
      port.postMessage({ number, call } satisfies LinkedCall, length > copiedBytesMax && buffer instanceof ArrayBuffer ? [buffer] : []);
    }, () => this.#waiting.take(number));
  }

  close(): void {
    const port = this.#port;
    this.#port = null;
    port?.close();
    for (const answer of this.#waiting.takeAll()) answer(unavailable('it broke off; what the call was to change may have been changed, so read it again'));
  }
}

function inTime(begin: (reply: (reply: LinkedReply) => void) => void, onTimeout: () => void = () => {}): Promise<LinkedReply> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      onTimeout();
      resolve(unavailable(`it took longer than ${replyMsMax} ms; what the call was to change may still be changed, so read it again`));
    }, replyMsMax).unref();
    begin((reply) => {
      clearTimeout(timer);
      resolve(reply);
    });
  });
}

const busy: LinkedReply = { headers: [], ...errorReply(fail('CONTROL_BUSY', { maximum: waitingMax, unit: 'at once', seconds: 1 })) };
const unavailable = (reason: string): LinkedReply => ({ headers: [], ...errorReply(fail('CONTROL_UNAVAILABLE', { reason })) });

/** The control thread's end. */
export function answerCalls(port: MessagePort, handler: CallHandler): void {
  port.on('message', ({ number, call }: LinkedCall) => {
    handler.handle(call).then(({ status, headers, body }) => {
      // A short text is copied as it is: bytes would be a buffer of their own, which the thread that serves calls has to give back.
      if (body.length <= copiedBytesMax) {
        port.postMessage({ number, reply: { status, headers, body } } satisfies Answer);
        return;
      }
      const bytes = new TextEncoder().encode(body);
      port.postMessage({ number, reply: { status, headers, body: bytes } } satisfies Answer, [bytes.buffer]);
    }, () => port.postMessage({ number, reply: unavailable('it failed') } satisfies Answer));
  });
}
