// Runs for answers of 400 and above of providers whose errors are not shaped like the client's dialect.
// Their error, in the dialect of the client: status, message, type and code are the provider's.

import { isObject, type Json, type ProviderError, type ProviderFault, type ProviderPlugin } from '@gateway/plugin-sdk';
import { atOnce } from '../../errors/at-once.js';
import type { ClientError, Dialect } from '../../dialect/dialect.js';
import type { ResponseHead } from './response-head.js';
import type { ResponseOwner } from './response-owner.js';

const messageCharactersMax = 4_000;
/** For a page that is not an error in any known shape. */
const pageCharactersMax = 4_096;

/** Null: the body is what the dialect's clients expect; it goes to them as it is. */
export function providerError(bytes: Buffer, head: ResponseHead, plugin: ProviderPlugin, dialect: Dialect, owner: Pick<ResponseOwner, 'onPluginThrow'>): ClientError | null {
  const { status } = head;
  const text = bytes.toString('utf8');
  const body = parsed(text);
  if (isObject(body) && dialect.isErrorBody(body)) return null;
  const fault = (body === undefined ? undefined : ownFault(body, head, plugin, owner)) ?? (body === undefined ? undefined : usualFault(body)) ?? textFault(text, status);
  return {
    status,
    message: fault.message.slice(0, messageCharactersMax),
    type: fault.type ?? typeOf(status),
    param: fault.param ?? null,
    code: fault.code ?? null,
  };
}

/** An error that a function of the provider threw, for the client. */
export const clientErrorOf = ({ status, message, type, code }: ProviderError): ClientError =>
  ({ status, message, type: type ?? 'upstream_error', param: null, code: code ?? null });

/** A provider whose function fails has an error that nobody can read: the usual shapes are tried. */
function ownFault(body: Json, head: ResponseHead, plugin: ProviderPlugin, owner: Pick<ResponseOwner, 'onPluginThrow'>): ProviderFault | undefined {
  if (plugin.error === undefined) return undefined;
  try {
    const fault = atOnce(plugin.error(body, head.status, (name) => head.header(name)));
    return fault !== undefined && typeof fault?.message === 'string' ? fault : undefined;
  } catch (thrown) {
    owner.onPluginThrow(thrown);
    return undefined;
  }
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    // An error page of something in between.
    return undefined;
  }
}

/** The shapes of OpenAI and Anthropic, and what is often seen beside them. */
function usualFault(body: Json): ProviderFault | undefined {
  if (!isObject(body)) return undefined;
  const { error } = body;
  if (typeof error === 'string') return { message: error };
  if (isObject(error) && typeof error.message === 'string') {
    return {
      message: error.message,
      ...(typeof error.type === 'string' ? { type: error.type } : {}),
      ...(typeof error.code === 'string' || typeof error.code === 'number' ? { code: String(error.code) } : {}),
      ...(typeof error.param === 'string' ? { param: error.param } : {}),
    };
  }
  for (const message of [body.message, body.detail]) if (typeof message === 'string') return { message };
  return undefined;
}

function textFault(text: string, status: number): ProviderFault {
  const plain = text.slice(0, pageCharactersMax).replace(/<(style|script)\b[^]*?<\/\1\s*>|<!--[^]*?-->/gi, ' ').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();
  return { message: plain === '' ? `the provider answered ${status}` : plain.slice(0, 500) };
}

function typeOf(status: number): string {
  switch (status) {
    case 401: return 'authentication_error';
    case 403: return 'permission_error';
    case 404: return 'not_found_error';
    case 429: return 'rate_limit_error';
    default: return status < 500 ? 'invalid_request_error' : 'api_error';
  }
}
