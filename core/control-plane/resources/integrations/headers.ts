// Headers that an operator has sent with every call of an integration or of one of its models.

import type { Auth } from '@gateway/plugin-sdk';
import { fail } from '../../../errors/gateway-error.js';
import { isMasked, maskSecret } from '../common/secret-text.js';

const headersMax = 50;
const valueCharsMax = 8_192;
/** They belong to one connection, or say what the gateway itself says of the body. */
const ownNames: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect',
  'host', 'content-length', 'content-type', 'content-encoding', 'accept-encoding',
]);

/** By which the provider knows its caller; a second one would fight with it. */
function credentialNames(auth: Auth, hasCredentials: boolean): readonly string[] {
  if (!hasCredentials || auth.type === 'none' || auth.type === 'query') return [];
  return auth.type === 'header' ? [auth.name.toLowerCase()] : auth.type === 'bearer' ? ['authorization'] : ['authorization', 'x-api-key', 'api-key'];
}

/** Names in lower case; masked values stand for those of `before`. Throws FIELD_INVALID with a place below `param`. */
export function checkedHeaders(given: unknown, before: Readonly<Record<string, string>>, auth: Auth, hasCredentials: boolean, param: string): Readonly<Record<string, string>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw fail('FIELD_INVALID', { param, reason: 'must be an object of header names and values' });
  const entries: readonly (readonly [string, unknown])[] = Object.entries(given);
  if (entries.length > headersMax) throw fail('FIELD_INVALID', { param, reason: `must have at most ${headersMax} headers` });
  const taken = credentialNames(auth, hasCredentials);
  const headers: Record<string, string> = {};
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    const place = `${param}.${written.slice(0, 64)}`;
    const refuse = (reason: string): never => { throw fail('FIELD_INVALID', { param: place, reason }); };
    // The one name that would vanish when it is assigned.
    if (name === '__proto__' || !/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name)) refuse('is not the name of a header');
    if (ownNames.has(name) || name.startsWith('x-gateway-')) refuse('is written by the gateway itself; remove it');
    if (taken.includes(name)) refuse('is where the credentials of the provider go; give them as key, or leave the key out');
    if (Object.hasOwn(headers, name)) refuse('is given more than once');
    if (typeof value !== 'string' || value.length > valueCharsMax || !/^[\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
      return refuse(`must be text that fits in a header (no line breaks, nothing beyond Latin-1, at most ${valueCharsMax} characters)`);
    }
    const stored = Object.hasOwn(before, name) ? before[name] : undefined;
    if (isMasked(value) && (stored === undefined || maskSecret(stored) !== value)) refuse('is masked, and no stored header looks like it; give the value itself');
    headers[name] = isMasked(value) && stored !== undefined ? stored : value;
  }
  return headers;
}

export const maskedHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskSecret(value)]));
