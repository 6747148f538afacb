// Where an exporter sends to, as the settings have it: an address, and headers whose values may hold secrets of the operator.

import { ParameterError, type Host } from '@gateway/plugin-sdk';

const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const controlPattern = /[\0-\x08\n-\x1f\x7f]|[^\0-\xff]/;
const headersMax = 50;
/** Of one connection, or of the body that the exporter makes. */
const ownHeaders: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'content-length', 'content-type', 'content-encoding', 'expect']);
const secretPattern = /\$\{([^{}]*)\}/g;

/** Parameters of both exporters that send to an address. */
export const headersSchema = {
  type: 'object', properties: {}, additionalProperties: { type: 'string', secret: true },
  description: 'Headers of each request. In their values ${env:NAME} is replaced by that variable of the environment.',
} as const;

/** Whether it may be reached is the host's policy. */
export function readUrl(text: string, path: string): URL {
  if (!URL.canParse(text)) throw new ParameterError(path, 'must be a whole URL, such as https://example.com/logs');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new ParameterError(path, 'must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') throw new ParameterError(path, 'must not carry a user name or password; send them in a header');
  return url;
}

/** Names in lower case. Rejects when a secret is not there: better at the start than with the first batch. */
export async function readHeaders(given: Readonly<Record<string, string>> | undefined, path: string, host: Pick<Host, 'secret'>): Promise<Readonly<Record<string, string>>> {
  const entries = Object.entries(given ?? {});
  if (entries.length > headersMax) throw new ParameterError(path, `may have at most ${headersMax} headers`);
  const headers: Record<string, string> = {};
  for (const [name, text] of entries) {
    if (!namePattern.test(name)) throw new ParameterError(path, 'has a name that is not a header name; use letters, digits and dashes');
    if (ownHeaders.has(name.toLowerCase())) throw new ParameterError(`${path}.${name}`, 'is written by the gateway itself; remove it');
    const value = await withSecrets(text, host);
    if (controlPattern.test(value)) throw new ParameterError(`${path}.${name}`, 'holds a line break or another character that no header may have');
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

async function withSecrets(text: string, host: Pick<Host, 'secret'>): Promise<string> {
  let value = '';
  let end = 0;
  for (const match of text.matchAll(secretPattern)) {
    value += text.slice(end, match.index) + await host.secret(match[1] ?? '');
    end = match.index + match[0].length;
  }
  return value + text.slice(end);
}
