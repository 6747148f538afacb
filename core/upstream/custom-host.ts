// The base URL that a request supplies (x-gateway-custom-host, custom_host). Runs when a config is compiled. Only the form is judged here:
// the WHATWG parser brings odd spellings of addresses to their plain form, and egress.ts decides on that form at each connection.

import { fail } from '../errors/gateway-error.js';

const charactersMax = 2048;
const portReason = 'the port must be a number from 1 to 65535';

/** The URL with its path (a custom host includes its version segment), without a slash at the end. Throws CUSTOM_HOST_INVALID. */
export function parseCustomHost(text: string): URL {
  if (text.length > charactersMax) throw invalid(`it is longer than ${charactersMax} characters`);
  // The parser would drop or turn these silently, and another reader of the same text might not.
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff\\]/.test(text)) throw invalid('it must not hold spaces, control characters or backslashes');
  const parts = /^https?:\/\/([^/?#]+)/i.exec(text);
  if (parts === null) throw invalid('it must be an absolute http:// or https:// URL');
  const authority = parts[1] ?? '';
  if (authority.includes('@')) throw invalid('it must not hold a user name or password; send credentials in their own header');
  if (text.includes('?')) throw invalid('it must not hold a query; give the address and path only');
  if (text.includes('#')) throw invalid('it must not hold a fragment; give the address and path only');
  if (/:0*$/.test(authority)) throw invalid(portReason);
  if (!URL.canParse(text)) {
    const withoutPort = authority.replace(/:\d+$/, '');
    throw invalid(withoutPort !== authority && URL.canParse(`http://${withoutPort}`) ? portReason : 'it is not a valid URL');
  }
  const url = new URL(text);
  const host = url.hostname;
  // The dot that ends a full name says nothing to a name server and breaks the comparison with certificates.
  if (host.endsWith('.')) url.hostname = host.slice(0, -1);
  if (url.hostname === '' || url.hostname.startsWith('.') || url.hostname.endsWith('.') || url.hostname.includes('..')) throw invalid('it has no valid host name');
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** The text itself stays out of the message: it may hold what the client meant to keep. */
const invalid = (reason: string): Error => fail('CUSTOM_HOST_INVALID', { reason, param: 'custom_host' });
