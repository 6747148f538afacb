// `GET /metrics` on the thread that took it: whether the client may ask, and the way to the text and back. What it says is of the whole process, so a
// key of a workspace does not open it: a key of an organisation with the scope does, and so does a client on this machine that nobody stands behind.

import type { Authenticator } from '../auth/authenticate.js';
import { requireScope } from '../auth/scopes.js';
import { errorBody } from '../dialect/common/client-error.js';
import { dialects } from '../dialect/dialects.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { RequestHead } from '../exchange/request-head.js';
import type { Responder } from '../exchange/responder.js';
import type { Scraped } from '../telemetry/figures.js';
import type { RequestBody } from './request-body.js';

const metricsScope = 'metrics.read';
/** Of a proxy, or of a page in a browser: the client is somebody else then. */
const signsOfOthers: readonly string[] = [
  'forwarded', 'x-forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-forwarded-server', 'x-forwarded-scheme', 'x-forwarded-prefix', 'x-original-forwarded-for', 'x-original-host', 'x-scheme',
  'x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'x-proxyuser-ip', 'x-envoy-external-address', 'x-envoy-peer-metadata', 'x-appengine-user-ip', 'x-azure-clientip', 'cf-connecting-ip', 'cf-ray', 'true-client-ip', 'fastly-client-ip',
  'fly-client-ip', 'cdn-loop', 'via', 'origin', 'referer', 'sec-fetch-site',
];
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const loopbackAddress = /^(?:127(?:\.\d{1,3}){3}|(?:0000:){7}0001)$/;

export interface MetricsEdgeServices {
  readonly authenticator: Pick<Authenticator, 'authenticate' | 'verify'>;
  /** Never rejects. */
  scrape(): Promise<Scraped>;
  /** Told of what nobody expected. */
  onFault(reason: string): void;
}

export class MetricsEdge {
  /** One question of the thread at a time, however many clients wait for it. */
  #running: Promise<Scraped> | null = null;

  constructor(readonly services: MetricsEdgeServices) {}

  /** `address` of the client, as text; `isProxy`: others stand behind it. Never rejects. */
  async serve(head: RequestHead, body: Pick<RequestBody, 'discard'>, responder: Responder, address: string, isProxy: boolean): Promise<void> {
    let status = 200;
    let contentType = 'application/json';
    let content: Uint8Array | string;
    try {
      await this.#admit(head, address, isProxy);
      const scraped = await (this.#running ??= this.services.scrape().finally(() => { this.#running = null; }));
      if (scraped.kind === 'off') throw fail('METRICS_OFF');
      if (scraped.kind === 'failed') throw fail('METRICS_UNAVAILABLE', { reason: scraped.reason });
      contentType = scraped.contentType;
      content = scraped.bytes;
    } catch (thrown) {
      if (!isGatewayError(thrown)) this.services.onFault(reasonOf(thrown));
      const error = isGatewayError(thrown) ? thrown : fail('METRICS_UNAVAILABLE', { reason: 'it failed' });
      status = error.status;
      content = errorBody(error, dialects.chat);
    }
    if (!responder.isOpen || responder.isStarted) return;
    body.discard();
    responder.send(status, ['content-type', contentType, 'cache-control', 'no-store'], content);
  }

  async #admit(head: RequestHead, address: string, isProxy: boolean): Promise<void> {
    try {
      let principal = this.services.authenticator.authenticate(head);
      if (principal === null) {
        await this.services.authenticator.verify(head, address);
        principal = this.services.authenticator.authenticate(head);
      }
      if (principal === null) throw fail('TOKENS_UNVERIFIABLE', { reason: 'too many new ones have come' });
      requireScope(principal, { scope: metricsScope });
    } catch (thrown) {
      if (!isGatewayError(thrown) || thrown.code !== 'KEY_MISSING' || isProxy || !isNear(head, address)) throw thrown;
    }
  }
}

/** On this machine, by its own name, and for nobody else. */
const isNear = (head: RequestHead, address: string): boolean =>
  loopbackAddress.test(address) && loopbackHost.test(head.header('host') ?? '') && signsOfOthers.every((name) => head.header(name) === undefined);
