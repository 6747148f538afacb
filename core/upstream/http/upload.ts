// Runs for calls whose body is a stream. It is read as fast as the socket takes it, sent with the length that was given or else in chunks, and
// never twice. Its own fault, a length that is not kept, and an end that is none give up the call.

import type { Readable } from 'node:stream';
import type { Socket } from '../egress.js';
import type { RequestHead } from './request-head.js';

export interface UploadOwner {
  /** Bytes of the body have been handed to the socket. */
  onUploaded(): void;
  /** The body cannot be sent to its end. */
  onUploadFault(fault: Error): void;
}

const nothing = (): void => undefined;

export class Upload {
  /** The whole body has been handed to the socket. */
  isSent = false;
  #fault: Error | null = null;
  #socket: Socket | null = null;
  #isOver = false;
  #sent = 0;
  #length = -1;

  constructor(readonly body: Readable, readonly owner: UploadOwner) {
    body.on('error', this.#onError);
    body.on('close', this.#onClose);
  }

  begin(socket: Socket, head: RequestHead): void {
    if (this.#isOver) return;
    this.#socket = socket;
    this.#length = head.length;
    socket.write(Buffer.concat([head.bytes, Buffer.from(head.length >= 0 ? `content-length: ${head.length}\r\n\r\n` : 'transfer-encoding: chunked\r\n\r\n')]));
    const { body } = this;
    const fault = this.#fault ?? body.errored;
    if (fault !== null) {
      this.#giveUp(fault);
    } else if (body.readableEnded) {
      this.#onEnd();
    } else if (body.destroyed) {
      this.#onClose();
    } else {
      socket.on('drain', this.#onDrain);
      body.on('end', this.#onEnd);
      body.on('data', this.#onData);
    }
  }

  /** The call is over: nothing more is read of the body. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { body } = this;
    this.#socket?.off('drain', this.#onDrain);
    body.off('data', this.#onData);
    body.off('end', this.#onEnd);
    body.off('close', this.#onClose);
    body.off('error', this.#onError);
    // A late fault of a body that nobody wants is nobody's.
    body.on('error', nothing);
    if (!this.isSent) body.destroy();
  }

  #giveUp(fault: Error): void {
    if (this.#isOver) return;
    this.stop();
    this.owner.onUploadFault(fault);
  }

  readonly #onData = (chunk: Uint8Array | string): void => {
    const socket = this.#socket;
    if (this.#isOver || socket === null) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (bytes.byteLength === 0) return;
    this.#sent += bytes.byteLength;
    if (this.#length >= 0) {
      if (this.#sent > this.#length) {
        this.#giveUp(otherLength());
        return;
      }
      socket.write(bytes);
    } else {
      socket.cork();
      socket.write(`${bytes.byteLength.toString(16)}\r\n`, 'latin1');
      socket.write(bytes);
      socket.write('\r\n', 'latin1');
      socket.uncork();
    }
    this.owner.onUploaded();
    if (socket.writableNeedDrain) this.body.pause();
  };

  readonly #onDrain = (): void => {
    if (!this.#isOver) this.body.resume();
  };

  readonly #onEnd = (): void => {
    const socket = this.#socket;
    if (this.#isOver || socket === null) return;
    if (this.#length >= 0 && this.#sent !== this.#length) {
      this.#giveUp(otherLength());
      return;
    }
    if (this.#length < 0) socket.write('0\r\n\r\n', 'latin1');
    this.isSent = true;
    this.owner.onUploaded();
  };

  readonly #onError = (fault: Error): void => {
    if (this.#socket === null) this.#fault ??= fault;
    else this.#giveUp(fault);
  };

  readonly #onClose = (): void => {
    if (this.isSent || this.#socket === null || this.body.readableEnded) return;
    this.#giveUp(this.#fault ?? new Error('the request body broke off'));
  };
}

const otherLength = (): Error => new Error('the request body is not as long as its content-length says');
