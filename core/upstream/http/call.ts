// Hot: runs for each call and each read.
// One call as its caller has it. Fences the caller's listener: what it throws ends this call and touches nothing else. Decides whether a
// connection that the server had closed is a reason to send the request once more.

import type { Readable } from 'node:stream';
import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { SendWatcher, UpstreamRequest } from '../client.js';
import { ConnectionFault, type Connection, type ServedCall } from './connection.js';
import type { RequestHead } from './request-head.js';
import { Upload, type UploadOwner } from './upload.js';

/**
 * A request that crosses the close of an idle connection fails within one round trip. What fails later may have been worked on, and nobody here
 * may decide that it is done twice.
 */
const idleFaultMsMax = 100;

export interface CallOwner {
  /** A connection that is not used yet; counted, whatever the limit. */
  connect(): Connection;
  drop(connection: Connection): void;
  faultOf(thrown: Error, isHeadSeen: boolean): GatewayError;
  /** A listener threw when it was told of a fault: nobody is left to tell. */
  onThrown(thrown: unknown): void;
}

export class Call implements UpstreamCall, ServedCall, UploadOwner {
  isPaused = false;
  readonly upload: Upload | null;
  readonly body: Uint8Array | null;
  readonly caller: string;
  #isOver = false;
  #isHeadSeen = false;
  #isRepeated = false;
  #connection: Connection;
  #sentAt = 0;

  constructor(readonly owner: CallOwner, request: UpstreamRequest, readonly head: RequestHead, readonly listener: UpstreamListener, readonly watcher: SendWatcher | null, connection: Connection) {
    const { body } = request;
    this.#connection = connection;
    this.caller = request.caller ?? '';
    this.body = body === null || body instanceof Uint8Array ? body : null;
    this.upload = body === null || body instanceof Uint8Array ? null : this.#uploadOf(body);
  }

  dispatch(): void {
    if (this.#connection.served > 0) this.#sentAt = performance.now();
    this.#connection.send(this);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (!this.#isOver) this.#connection.resume();
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.owner.drop(this.#connection);
  }

  // ---- what the connection says ----

  onHead(status: number, headers: string[]): void {
    this.#isHeadSeen = true;
    try {
      this.listener.onHead(status, headers);
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  onBytes(bytes: Buffer): void {
    try {
      this.listener.onChunk(bytes);
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  onDone(): void {
    if (this.#isOver) return;
    this.#end();
    try {
      this.listener.onEnd();
    } catch (thrown) {
      this.#tell(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }

  onFault(fault: Error): void {
    if (this.#isOver) return;
    if (!this.#isRepeated && this.upload === null && this.#wasClosedIdle(fault)) {
      this.#isRepeated = true;
      this.watcher?.onRepeat();
      this.#connection = this.owner.connect();
      this.dispatch();
      return;
    }
    this.#end();
    this.#tell(fault);
  }

  // ---- what the upload says ----

  onUploaded(): void {
    this.#connection.onUploaded();
  }

  onUploadFault(fault: Error): void {
    this.#giveUp(fault);
  }

  #uploadOf(body: Readable): Upload {
    return new Upload(body, this);
  }

  #wasClosedIdle(fault: Error): boolean {
    const connection = this.#connection;
    return connection.served > 0 && !connection.hasReceived && isSocketFault(fault) && performance.now() - this.#sentAt <= idleFaultMsMax;
  }

  /** Given up from this side of the connection, which is closed. */
  #giveUp(thrown: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.owner.drop(this.#connection);
    this.#tell(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }

  #end(): void {
    this.#isOver = true;
    this.upload?.stop();
  }

  #tell(fault: Error): void {
    try {
      this.listener.onError(this.owner.faultOf(fault, this.#isHeadSeen));
    } catch (thrown) {
      this.owner.onThrown(thrown);
    }
  }
}

export const isSocketFault = (fault: Error): boolean =>
  (fault instanceof ConnectionFault ? fault.kind === 'closed' : 'code' in fault && (fault.code === 'ECONNRESET' || fault.code === 'EPIPE'));
