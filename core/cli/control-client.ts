// Calls of the command line to a running gateway. The one file here that opens a socket: to the address that the operator names, in a process of its own.

import { fail, reasonOf } from '../errors/gateway-error.js';

/** A gateway that does not answer must not hold a script for ever. */
const timeoutMs = 30_000;
export const defaultUrl = 'http://127.0.0.1:8787';

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Method, path with query, and a body that is sent as JSON. */
export type ControlClient = (method: string, path: string, body?: unknown) => Promise<ControlAnswer>;

/** Throws SETTINGS_INVALID, as does each call when the gateway cannot be reached. */
export function controlClient(environment: NodeJS.ProcessEnv): ControlClient {
  const url = environment.GATEWAY_URL ?? defaultUrl;
  const key = environment.GATEWAY_API_KEY;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw fail('SETTINGS_INVALID', { reason: `GATEWAY_URL must be the address of a running gateway, such as ${defaultUrl}` });
  if (key === undefined || key === '') throw fail('SETTINGS_INVALID', { reason: 'no key to call with; set GATEWAY_API_KEY to a key of the gateway that may do this (the admin key of the first start may do all)' });
  // What could go into no header would be told by whoever builds it.
  if (!/^[\x21-\x7e]+$/.test(key)) throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_API_KEY holds a blank, a line break or a character beyond ASCII; a key of the gateway has none' });
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_URL must not hold a user name or password; the key goes into GATEWAY_API_KEY' });
  const base = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return async (method, path, body) => {
    let text: string;
    let status: number;
    try {
      const answer = await fetch(base + path, {
        method,
        headers: { 'x-gateway-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // A redirect would carry the key elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = answer.status;
      text = await answer.text();
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
      throw fail('SETTINGS_INVALID', { reason: `the gateway at ${base} cannot be reached (${reasonOf(cause)}); start it, or set GATEWAY_URL` }, thrown);
    }
    try {
      return { status, body: JSON.parse(text) };
    } catch (thrown) {
      throw fail('SETTINGS_INVALID', { reason: `${base} did not answer as a gateway does (status ${status}, not JSON); is GATEWAY_URL right?` }, thrown);
    }
  };
}

/** The sentence of an answer that refuses. */
export function refusalOf({ status, body }: ControlAnswer): string {
  const { message, error }: { readonly message?: unknown; readonly error?: unknown } = Object(body);
  const own: unknown = Object(error).message;
  return typeof message === 'string' ? message : typeof own === 'string' ? own : `the gateway answered with status ${status}`;
}
