// A control call on the thread that took it: who calls, the body, and the way to the control plane and back. All of its work is elsewhere
// (control-plane/dispatch.ts), so that calls to models never wait for it. The client that leaves meanwhile gets no answer, and nothing is kept for it.

import type { Authenticator } from '../auth/authenticate.js';
import type { Principal } from '../auth/principal.js';
import { nobody, type Caller } from '../control-plane/context.js';
import type { ControlLink, LinkedReply } from '../control-plane/control-link.js';
import { errorReply } from '../control-plane/envelope.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { noBytes } from '../exchange/exchange.js';
import type { RequestHead } from '../exchange/request-head.js';
import type { Responder } from '../exchange/responder.js';
import { uuid } from '../exchange/trace.js';
import { checkPath } from '../router/match.js';
import { isPublicControl } from '../router/routes.js';
import type { RequestBody } from './request-body.js';
import type { ExportDownloads } from './export-downloads.js';
import type { SessionCookies } from './session-cookie.js';

/** Of a request body. */
const controlBodyBytesMax = 1024 * 1024;
/** Of one thread, under way at once. */
const callsMax = 256;
/** Of these, of nobody: those who have no key leave room for those who have one, whatever they wait for. */
const publicCallsMax = 64;
const busySeconds = 1;

export interface ControlEdgeServices {
  readonly authenticator: Authenticator;
  readonly sessions: SessionCookies;
  readonly link: ControlLink;
  /** Files that are fetched with a signed link. */
  readonly downloads: Pick<ExportDownloads, 'serve'>;
  /** Told of what nobody expected. */
  onFault(callId: string, reason: string): void;
}

export class ControlEdge {
  #open = 0;
  #openPublic = 0;
  /** Most keys have the scopes of their type: one list serves them all. */
  readonly #scopeLists = new WeakMap<ReadonlySet<string>, readonly string[]>();

  constructor(readonly services: ControlEdgeServices) {}

  /** `address` of the client, as text. */
  serve(head: RequestHead, body: RequestBody, responder: Responder, address: string): void {
    const id = uuid();
    if (this.services.downloads.serve(head, body, responder, id, (thrown) => this.services.onFault(id, reasonOf(thrown)))) return;
    const answer = (reply: LinkedReply): void => {
      if (!responder.isOpen || responder.isStarted) return;
      body.discard();
      // A client that asked with HEAD takes body bytes for the next answer.
      responder.send(reply.status, headersOf(id, head, reply), head.method === 'HEAD' || reply.status === 204 ? '' : reply.body);
    };
    const refuse = (thrown: unknown): void => {
      if (!isGatewayError(thrown)) this.services.onFault(id, reasonOf(thrown));
      const isBusy = isGatewayError(thrown) && thrown.code === 'CONTROL_BUSY';
      answer({ headers: isBusy ? ['retry-after', String(busySeconds)] : [], ...errorReply(thrown) });
    };
    const proceed = (caller: Caller): void => {
      const reason = checkPath(head.path);
      if (reason !== undefined) throw fail('PATH_INVALID', { reason, param: 'path' });
      if (head.contentLength > controlBodyBytesMax) throw fail('BODY_TOO_LARGE', { maximum: controlBodyBytesMax });
      body.limitTo(controlBodyBytesMax);
      const send = (bytes: Uint8Array): void => {
        try {
          this.#send({ id, head, caller, address, bytes }).then(answer, refuse);
        } catch (thrown) {
          refuse(thrown);
        } finally {
          body.letGo();
        }
      };
      if (head.hasBody) body.collect(send, refuse);
      else send(noBytes);
    };
    try {
      // From here on no key of ours is left in the head.
      const caller = this.#identify(head);
      if (caller === null) this.#verified(head, address).then((known) => { if (responder.isOpen) proceed(known); }).catch(refuse);
      else proceed(caller);
    } catch (thrown) {
      refuse(thrown);
    }
  }

  async #send({ id, head, caller, address, bytes }: { readonly id: string; readonly head: RequestHead; readonly caller: Caller; readonly address: string; readonly bytes: Uint8Array }): Promise<LinkedReply> {
    if (this.#open >= callsMax) throw fail('CONTROL_BUSY', { maximum: callsMax, unit: 'at once', seconds: busySeconds });
    const isPublic = caller.keyType === 'none';
    if (isPublic && this.#openPublic >= publicCallsMax) throw fail('CONTROL_BUSY', { maximum: publicCallsMax, unit: 'at once without a key', seconds: busySeconds });
    this.#open += 1;
    if (isPublic) this.#openPublic += 1;
    try {
      return await this.services.link.send({
        id, method: head.method, path: head.path, query: head.query,
        // Alone in its memory: what lies beside it would be copied to the other thread as well.
        body: new Uint8Array(bytes), ifMatch: head.header('if-match'), idempotencyKey: head.header('idempotency-key'),
        headers: [...head.headers, ...head.gatewayHeaders.map((text, index) => (index % 2 === 0 ? `x-gateway-${text}` : text))], address, caller,
      });
    } finally {
      this.#open -= 1;
      if (isPublic) this.#openPublic -= 1;
    }
  }

  /** Null: a token that this thread sees for the first time. */
  #identify(head: RequestHead): Caller | null {
    try {
      const principal = this.services.authenticator.authenticate(head);
      return principal === null ? null : this.#callerOf(principal);
    } catch (thrown) {
      if (!isGatewayError(thrown) || thrown.code !== 'KEY_MISSING') throw thrown;
      const isPublic = isPublicControl(head.method, head.path);
      const person = this.#personOf(head, isPublic);
      if (person !== undefined) return person;
      if (isPublic) return nobody;
      throw thrown;
    }
  }

  /** Who was signed in once may sign in again. */
  #personOf(head: RequestHead, isPublic: boolean): Caller | undefined {
    try {
      return this.services.sessions.callerOf(head);
    } catch (thrown) {
      if (isPublic && isGatewayError(thrown) && thrown.code === 'SESSION_INVALID') return undefined;
      throw thrown;
    }
  }

  async #verified(head: RequestHead, address: string): Promise<Caller> {
    await this.services.authenticator.verify(head, address);
    const caller = this.#identify(head);
    if (caller === null) throw fail('TOKENS_UNVERIFIABLE', { reason: 'too many new ones have come' });
    return caller;
  }

  #callerOf({ keyId, type, organisationId, workspaceId, scopes, workspace, token }: Principal): Caller {
    if (workspace !== null && workspace.rules !== null && !workspace.rules.isActive) throw fail('WORKSPACE_INACTIVE');
    let list = this.#scopeLists.get(scopes);
    if (list === undefined) this.#scopeLists.set(scopes, list = [...scopes]);
    return { keyId, keyType: type, organisationId, workspaceId, scopes: list, ...(token === null ? {} : { token: { userId: token.userId } }) };
  }
}

function headersOf(id: string, { traceId }: RequestHead, reply: LinkedReply): string[] {
  return [...(reply.status === 204 ? [] : ['content-type', 'application/json']), 'x-gateway-request-id', id, 'x-gateway-trace-id', traceId !== undefined && /^[\x21-\x7e]{1,256}$/.test(traceId) ? traceId : id, ...reply.headers];
}
