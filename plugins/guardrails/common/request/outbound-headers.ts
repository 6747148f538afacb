import { isObject, ParameterError } from '@gateway/plugin-sdk';

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const controlPattern = /[\0-\x08\n-\x1f\x7f]/;
const headersMax = 50;

/** Of one connection only (RFC 9110, section 7.6.1), or written by the HTTP client itself. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'host', 'content-length', 'expect',
]);

/** Headers of a config for an outbound call: an object of texts, or the same as JSON text. Names come out in lower case. */
export function readHeaders(given: unknown, path: string): Readonly<Record<string, string>> {
  if (given === undefined || given === null || given === '') return {};
  let parsed: unknown = given;
  if (typeof given === 'string') {
    try {
      parsed = JSON.parse(given);
    } catch {
      throw new ParameterError(path, 'must be an object of texts, or such an object written as JSON text');
    }
  }
  if (!isObject(parsed)) throw new ParameterError(path, 'must be an object of texts, or such an object written as JSON text');
  const entries = Object.entries(parsed);
  if (entries.length > headersMax) throw new ParameterError(path, `may have at most ${headersMax} headers`);
  const headers: Record<string, string> = {};
  for (const [name, value] of entries) {
    const place = `${path}.${name}`;
    if (!tokenPattern.test(name)) throw new ParameterError(path, 'has a name that is not a header name; use letters, digits and dashes');
    if (hopByHop.has(name.toLowerCase())) throw new ParameterError(place, 'is written by the gateway itself; remove it');
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (typeof text !== 'string') throw new ParameterError(place, 'must be a text');
    if (controlPattern.test(text)) throw new ParameterError(place, 'holds a line break or another control character');
    headers[name.toLowerCase()] = text;
  }
  return headers;
}

/** Credentials and what stands for a person's session. */
const credentials: ReadonlySet<string> = new Set([
  'authorization', 'proxy-authorization', 'proxy-authenticate', 'www-authenticate', 'cookie', 'cookie2', 'set-cookie', 'set-cookie2', 'api-key', 'apikey',
  'x-api-key', 'x-goog-api-key', 'x-auth-token', 'x-access-token', 'x-csrf-token', 'x-xsrf-token', 'x-amz-security-token', 'modal-key', 'modal-secret',
  'ocp-apim-subscription-key', 'x-functions-key', 'private-token', 'x-vault-token', 'x-authorization', 'x-forwarded-authorization', 'x-original-authorization',
]);

/** Words of which one in a header's name says that its value is a secret. */
const secretWords: ReadonlySet<string> = new Set(['secret', 'password', 'passwd', 'token', 'apikey', 'credential', 'credentials', 'authorization', 'cookie']);

/** Proof towards a cloud's metadata service: with it a call to that service would be answered. */
const cloudMetadata: ReadonlySet<string> = new Set([
  'metadata', 'metadata-flavor', 'x-google-metadata-request', 'x-aws-ec2-metadata-token', 'x-aws-ec2-metadata-token-ttl-seconds', 'x-identity-header', 'x-metadata-token',
]);

/** Of our own headers the only ones that tell others nothing but where a call belongs. */
const tracing: ReadonlySet<string> = new Set(['x-gateway-trace-id', 'x-gateway-span-id', 'x-gateway-parent-span-id', 'x-gateway-span-name']);

/** Names of the client's headers that may go to a third party. */
export function readForwardedNames(given: readonly string[] | undefined, path: string): readonly string[] {
  const names = new Set<string>();
  for (const [index, entry] of (given ?? []).entries()) {
    const name = entry.trim().toLowerCase();
    const place = `${path}[${index}]`;
    if (!tokenPattern.test(name)) throw new ParameterError(place, 'must be the name of a header');
    const reason = forwardingFault(name);
    if (reason !== undefined) throw new ParameterError(place, reason);
    names.add(name);
  }
  return [...names];
}

function forwardingFault(name: string): string | undefined {
  if (tracing.has(name)) return undefined;
  if (name.startsWith('x-gateway-')) return `${name} is the gateway's own and not passed on; of these only ${[...tracing].join(', ')} are`;
  if (cloudMetadata.has(name)) return `${name} opens the metadata service of a cloud and is not passed on`;
  if (hopByHop.has(name)) return `${name} belongs to one connection and cannot be passed on`;
  if (credentials.has(name) || name.split(/[-_]/).some((word) => secretWords.has(word)) || /api[-_]?key$/.test(name)) {
    return `${name} carries a credential and is not passed on; give the service one of its own in headers`;
  }
  return undefined;
}
