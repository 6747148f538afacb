// Calls of the command line to a running gateway, by its typed client. The one file here that opens a socket: to the address that the operator names, in a process of its own.

import { isObject } from '@gateway/plugin-sdk';
import type { paths } from '@gateway/plugin-sdk/api';
import type { Client } from 'openapi-fetch';
import { fail, reasonOf } from '../errors/gateway-error.js';

/** A gateway that does not answer must not hold a script for ever. */
const timeoutMs = 30_000;
const defaultUrl = 'http://127.0.0.1:8787';

/** A client for every operation of the gateway, with the types of inputs and answers. */
type GatewayClient = Client<paths>;

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** An operation that only the run knows. */
interface AnyOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With names in braces. */
  readonly path: string;
}

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface Connection {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Whether an answer with status 200 has what the caller reads of it: any server may stand at the address. */
type IsAnswer = (body: Readonly<Record<string, unknown>>) => boolean;

export const isList: IsAnswer = ({ data }) => Array.isArray(data);

/** Throws SETTINGS_INVALID, as does each call when the gateway cannot be reached or something else answers. */
export async function gatewayClient(environment: NodeJS.ProcessEnv, isAnswer: IsAnswer): Promise<GatewayClient> {
  const connection = connectionOf(environment, isAnswer);
  // Commands that call nobody do not wait for it.
  const { default: createClient } = await import('openapi-fetch');
  return createClient<paths>(connection);
}

/** A call of an operation that is found in the definitions. Throws SETTINGS_INVALID. */
export async function callAny(environment: NodeJS.ProcessEnv, { method, path }: AnyOperation, { params = {}, query = {}, body }: AnyInput, isAnswer: IsAnswer = () => true): Promise<ControlAnswer> {
  const connection = connectionOf(environment, isAnswer);
  const { default: createClient } = await import('openapi-fetch');
  const client = createClient<Record<string, Record<Lowercase<AnyOperation['method']>, UntypedOperation>>>(connection);
  const init = { params: { path: params, query }, ...(body === undefined ? {} : { body }) };
  const { data, error, response } = await client.request(lower[method], path, init);
  return { status: response.status, body: error ?? data };
}

const lower = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

interface UntypedOperation {
  readonly parameters: { readonly path: Readonly<Record<string, string>>; readonly query: Readonly<Record<string, unknown>> };
  readonly requestBody?: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: { readonly 200: { readonly content: { readonly 'application/json': unknown } }; readonly default: { readonly content: { readonly 'application/json': unknown } } };
}

function connectionOf(environment: NodeJS.ProcessEnv, isAnswer: IsAnswer): Connection {
  const url = environment.GATEWAY_URL ?? defaultUrl;
  const key = environment.GATEWAY_API_KEY;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw fail('SETTINGS_INVALID', { reason: `GATEWAY_URL must be the address of a running gateway, such as ${defaultUrl}` });
  if (key === undefined || key === '') throw fail('SETTINGS_INVALID', { reason: 'no key to call with; set GATEWAY_API_KEY to a key of the gateway that may do this (the admin key of the first start may do all)' });
  // What could go into no header would be told by whoever builds it.
  if (!/^[\x21-\x7e]+$/.test(key)) throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_API_KEY holds a blank, a line break or a character beyond ASCII; a key of the gateway has none' });
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_URL must not hold a user name or password; the key goes into GATEWAY_API_KEY' });
  const baseUrl = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return { baseUrl, headers: { 'x-gateway-api-key': key }, fetch: (request) => ask(baseUrl, request, isAnswer) };
}

/** Whatever comes back is a JSON object. */
async function ask(baseUrl: string, request: Request, isAnswer: IsAnswer): Promise<Response> {
  let text: string;
  let answer: Response;
  try {
    // A redirect would carry the key elsewhere.
    answer = await fetch(request, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    text = await answer.text();
  } catch (thrown) {
    const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
    throw fail('SETTINGS_INVALID', { reason: `the gateway at ${baseUrl} cannot be reached (${reasonOf(cause)}); start it, or set GATEWAY_URL` }, thrown);
  }
  const strange = (what: string, thrown?: unknown): Error => fail('SETTINGS_INVALID', { reason: `${baseUrl} did not answer as a gateway does (status ${answer.status}, ${what}); is GATEWAY_URL right?` }, thrown);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (thrown) {
    throw strange('not JSON', thrown);
  }
  if (!isObject(body) || (answer.status === 200 && !isAnswer({ ...body }))) throw strange('other JSON');
  return new Response(text, { status: answer.status, headers: { 'content-type': 'application/json' } });
}

/** The sentence of an answer that refuses. */
export function refusalOf({ status, body }: ControlAnswer): string {
  const { message, error }: { readonly message?: unknown; readonly error?: unknown } = Object(body);
  const own: unknown = Object(error).message;
  return typeof message === 'string' ? message : typeof own === 'string' ? own : `the gateway answered with status ${status}`;
}
