// Files of log exports, sent to whoever has a signed link: the thread that took the call reads them piece by piece, as fast as the client takes them. No key is asked
// for and no row is read; a link that is not ours costs one signature.

import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorReply } from '../control-plane/envelope.js';
import { exportFileName, exportOfLink, runOfLink } from '../control-plane/resources/log-exports/export-file.js';
import { fail, isGatewayError } from '../errors/gateway-error.js';
import type { RequestHead } from '../exchange/request-head.js';
import type { Responder } from '../exchange/responder.js';
import type { Sealer } from '../storage/sealer.js';
import type { RequestBody } from './request-body.js';

/** Of one thread, at once. */
const downloadsMax = 16;
const pieceBytes = 64 * 1024;
/** How often it is looked whether a client that takes nothing is still there, and for how long. */
const lookMs = 1_000;
const idleMsMax = 60_000;

export class ExportDownloads {
  #open = 0;

  constructor(readonly folder: string, readonly sealer: Sealer, readonly now: () => number = Date.now) {}

  /** False: the path is another one. `onFault` is told of what nobody expected. */
  serve(head: RequestHead, body: Pick<RequestBody, 'discard'>, responder: Responder, callId: string, onFault: (thrown: unknown) => void): boolean {
    const exportId = exportOfLink(head.path);
    if (exportId === undefined || head.method !== 'GET') return false;
    body.discard();
    const refuse = (thrown: unknown): void => {
      if (!isGatewayError(thrown)) onFault(thrown);
      if (!responder.isOpen) return;
      if (responder.isStarted) {
        responder.abort();
        return;
      }
      const reply = errorReply(thrown);
      responder.send(reply.status, ['content-type', 'application/json', 'x-gateway-request-id', callId, ...(reply.status === 429 ? ['retry-after', '1'] : [])], reply.body);
    };
    const runId = runOfLink(exportId, head.query, this.sealer, this.now());
    if (runId === undefined) refuse(fail('LINK_INVALID'));
    else if (this.#open >= downloadsMax) refuse(fail('CONTROL_BUSY', { maximum: downloadsMax, unit: 'downloads at once', seconds: 1 }));
    else this.#send(exportId, runId, responder, callId).catch(refuse);
    return true;
  }

  async #send(exportId: string, runId: string, responder: Responder, callId: string): Promise<void> {
    this.#open += 1;
    let file: FileHandle | undefined = undefined;
    try {
      file = await openFile(join(this.folder, exportFileName(exportId, runId)));
      const { size } = await file.stat();
      if (!responder.isOpen) return;
      responder.start(200, [
        'content-type', 'application/x-ndjson', 'content-disposition', `attachment; filename="logs-${exportId}.jsonl"`, 'cache-control', 'no-store', 'x-content-type-options', 'nosniff', 'x-gateway-request-id', callId,
      ], size);
      for (let at = 0; at < size && responder.isOpen;) {
        // A piece is lent to the responder, so each is another one.
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
        const { bytesRead } = await file.read(piece, 0, piece.length, at);
        if (bytesRead === 0) throw new Error('the file became shorter while it was sent');
        at += bytesRead;
        if (!responder.write(piece.subarray(0, bytesRead)) && !await hasRoom(responder)) return;
      }
      responder.end();
    } finally {
      this.#open -= 1;
      await file?.close();
    }
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') throw fail('ROW_UNKNOWN', { kind: 'file of an export', id: 'with this link any more' }, thrown);
    throw thrown;
  }
}

/** False: the client has left, or takes nothing. Nobody tells of a client that leaves, so it is looked for. */
function hasRoom(responder: Responder): Promise<boolean> {
  return new Promise((resolve) => {
    let waitedMs = 0;
    const end = (isRoom: boolean): void => {
      clearInterval(timer);
      responder.drainListener = null;
      resolve(isRoom);
    };
    const timer = setInterval(() => {
      waitedMs += lookMs;
      if (responder.isOpen && waitedMs < idleMsMax) return;
      responder.abort();
      end(false);
    }, lookMs).unref();
    responder.drainListener = { onDrain: () => end(true) };
  });
}
