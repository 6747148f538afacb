import { Buffer } from 'node:buffer';
import { isObject, requestPieces, requestTypeOf, type CheckInput, type Host, type Json, type OutboundResponse, type TextPiece } from '@gateway/plugin-sdk';

/** The context of a call, for a service: the bodies, never a header or a credential. */
export function hookContext(input: CheckInput): Json {
  const { exchange } = input;
  const isOutput = input.stage === 'output';
  const request = isOutput ? exchange.request.json() : input.json();
  return {
    request: {
      json: request,
      text: textOf(isOutput ? requestPieces(exchange.endpoint, request) : input.pieces()),
      isStreamingRequest: isObject(request) && request.stream === true,
      // Before this check another one may have changed the client's body.
      isTransformed: !isOutput && request !== exchange.request.json(),
    },
    response: isOutput
      ? { json: input.json(), text: textOf(input.pieces()), statusCode: input.status, isTransformed: false }
      : { json: {}, text: '', statusCode: null, isTransformed: false },
    provider: exchange.target.provider,
    requestType: requestTypeOf(exchange),
    metadata: exchange.metadata,
    eventType: isOutput ? 'afterRequestHook' : 'beforeRequestHook',
  };
}

/** What is said; the fields beside it are in the JSON. */
const textOf = (pieces: readonly TextPiece[]): string => pieces.filter(({ kind, isName }) => kind !== 'field' && isName !== true).map(({ text }) => text).join('\n');

interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Posts JSON; rejects when it cannot, and when the answer is not a 2xx. */
export const postJson = (host: Host, call: Post & { readonly body: Json; readonly bytesMax: number; readonly signal: AbortSignal }): Promise<OutboundResponse> =>
  post(host, call, 'application/json', JSON.stringify(call.body), { bytesMax: call.bytesMax, signal: call.signal });

/** Posts a text of any type; rejects when it cannot, and when the answer is not a 2xx. */
export const postForm = (host: Host, call: Post & { readonly contentType: string; readonly body: string }): Promise<OutboundResponse> =>
  post(host, call, call.contentType, call.body, {});

async function post(
  host: Host, { url, headers, timeoutMs }: Post, contentType: string, body: string, limits: { readonly bytesMax?: number; readonly signal?: AbortSignal },
): Promise<OutboundResponse> {
  const answer = await host.fetch({
    url: url.href, method: 'POST', headers: { accept: 'application/json', ...headers, 'content-type': contentType }, body, timeoutMs, ...limits,
  });
  if (answer.status < 200 || answer.status > 299) throw new Error(`the service at ${url.host} answered with status ${answer.status}`);
  return answer;
}

/** The answer as JSON; rejects with the name of the service when it is none. */
export async function readJson(answer: OutboundResponse, service: string): Promise<Json> {
  const bytes = await answer.bytes();
  try {
    return JSON.parse(Buffer.from(bytes).toString()) as Json;
  } catch {
    throw new Error(`${service} answered with status ${answer.status} but not with JSON`);
  }
}
