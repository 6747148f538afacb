// Hot: runs for each target tried.
// The provider's credentials, from the config or the request, and where they go: header, query, or what signs.

import type { SigningKeys } from '@gateway/plugin-sdk';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { TargetPlan } from '../../plan/plan.js';
import { checkedSegment } from './parameter-fault.js';
import { wireValue } from './outgoing-headers.js';

/** Where a provider's key may be besides Authorization; on the proxy route the gateway writes the credential itself. */
const credentialHeaders: ReadonlySet<string> = new Set(['x-api-key', 'api-key', 'x-goog-api-key']);

/** The config's credentials and, where it has none, those in the request's headers: `x-gateway-cloud1-region`. */
export function withHeaderCredentials(exchange: Exchange, target: TargetPlan): Readonly<Record<string, unknown>> {
  let merged: Record<string, unknown> | null = null;
  for (const name of target.provider.credentialNames) {
    if (target.credentials[name] !== undefined && !target.defaulted.has(name)) continue;
    const value = exchange.head.gatewayHeader(name.replaceAll('_', '-'));
    if (value === undefined || value === '') continue;
    merged ??= { ...target.credentials };
    merged[name] = target.provider.structuredNames.has(name) ? jsonCredential(name, value) : value;
  }
  return merged ?? target.credentials;
}

function jsonCredential(name: string, text: string): unknown {
  const header = `x-gateway-${name.replaceAll('_', '-')}`;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The message of JSON.parse would quote the credential.
  }
  throw fail('HEADER_INVALID', { name: header, reason: 'must be JSON', param: header });
}

const noKeys: SigningKeys = Object.freeze({ apiKey: undefined, credentials: Object.freeze({}) });

export function signingKeys(exchange: Exchange, target: TargetPlan, credentials: Readonly<Record<string, unknown>>): SigningKeys {
  if (target.provider.plugin.auth.type !== 'signed') return noKeys;
  return { apiKey: target.apiKey === null ? signingKeyOf(exchange) : target.apiKey.reveal(), credentials };
}

/** The client's own key; a signature that it made for the gateway's address is none. */
function signingKeyOf(exchange: Exchange): string | undefined {
  const { authorization } = exchange.head;
  return authorization === undefined || !/^bearer\s+/i.test(authorization) ? undefined : wireValue('authorization', authorization.replace(/^bearer\s+/i, ''));
}

/** Writes the credential; the last thing done to a request. Returns the path, which carries it for some providers. */
export function authorise(exchange: Exchange, target: TargetPlan, headers: string[], path: string): string {
  const { auth } = target.provider.plugin;
  if (auth.type === 'none' || auth.type === 'signed') return path;
  const key = target.apiKey === null ? clientKey(exchange, auth.type === 'header' ? auth.name : '') : target.apiKey.reveal();
  if (key === undefined) {
    if (target.needsApiKey) throw fail('PROVIDER_KEY_MISSING', { provider: target.provider.id });
    return path;
  }
  const own = auth.type === 'header' ? auth.name.toLowerCase() : '';
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const name = headers[index] as string;
    if (name === own || credentialHeaders.has(name)) headers.splice(index, 2);
  }
  switch (auth.type) {
    case 'bearer': headers.push('authorization', `Bearer ${key}`); return path;
    case 'header': headers.push(own, (auth.prefix ?? '') + key); return path;
    default: return `${path}${path.includes('?') ? '&' : '?'}${auth.name}=${checkedSegment(key, 'api_key', target)}`;
  }
}

/** The provider key the client sent: Authorization (a gateway key was taken out before), or the header the provider itself expects. */
function clientKey(exchange: Exchange, providerHeader: string): string | undefined {
  const { authorization } = exchange.head;
  const given = authorization !== undefined ? authorization.replace(/^bearer\s+/i, '') : providerHeader === '' ? undefined : exchange.head.header(providerHeader.toLowerCase());
  return given === undefined ? undefined : wireValue('authorization', given);
}
