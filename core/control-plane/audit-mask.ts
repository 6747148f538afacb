// The part of a request that the audit log keeps. A secret may stand in any member that can hold one, so it is decided by names what is kept, not what is left
// out: of configs and credentials only the members listed here, of headers only those that say how a call was made, of addresses only the host.

const mark = '[masked]';
/** Members whose values are never kept, at any depth. */
const secretName = /key$|secret|token|pass(?:word|phrase)|credential|authorization|cookie|signature|headers$|service_account|_json$/i;
/** Members of which no text is kept but those of `plainNames`. */
const closedName = /^(?:auth_config|config|configurations|model_config|parameters|params|webhook|targets|cache|strategy|hooks|checks|input_guardrails|output_guardrails|input_mutators|output_mutators|before_request_hooks|after_request_hooks|override_params|default_params|text|request|response)$/i;
/** Texts of configs that choose and hold nothing secret. */
const plainNames: ReadonlySet<string> = new Set(['provider', 'model', 'mode', 'virtual_key', 'id', 'slug', 'on', 'default', 'then', 'type', 'alias', 'api_version']);
/** Of credentials: which sort they are, and for where. */
const plainName = /(?:^|_)(?:auth_type|auth_mode|region)$/;
const plainQuery: ReadonlySet<string> = new Set(['current_page', 'page_size', 'type']);
const addressName = /(?:ur[il]|host|endpoint)$/i;
const countName = /tokens$|_ms$|_period|_at$/;
/** Credentials by their shape, wherever somebody wrote them. In JSON a letter before one may be the end of an escape, such as \\n. */
const credentialShape = /(?:\b|(?<=\\[bfnrt]|\\u[0-9a-f]{4}))(?:(?:bearer|basic)\s+[\w.~+/=-]{8,}|(?:gw[_-]|gsk_|sk[-_]|pk[-_]|rk_live_|xai-|hf_|pplx-|github_pat_|gh[opsu]_|xox[a-z]-|AKIA|AIza|eyJ)[\w.-]{8,})/gi;
const addressShape = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"'<>]*)([^\s"'<>]*)/gi;
/** Headers that say how a call was made. Of others the name is kept. */
const plainHeaders: ReadonlySet<string> = new Set([
  'accept', 'accept-encoding', 'accept-language', 'content-encoding', 'content-type', 'host', 'if-match', 'user-agent', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip',
  'x-request-id', 'traceparent', 'x-gateway-trace-id', 'x-gateway-span-id',
]);
const depthMax = 12;

/** `value` without anything that may be secret. */
export function masked(value: unknown, isClosed = false, depth = 0): unknown {
  if (typeof value === 'string') return isClosed ? mark : maskedText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return mark;
  if (Array.isArray(value)) return value.map((each) => masked(each, isClosed, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [maskedText(name), maskedMember(name, each, isClosed, depth + 1)]));
}

function maskedMember(name: string, value: unknown, isClosed: boolean, depth: number): unknown {
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && countName.test(name))) return value;
  if (secretName.test(name) && !countName.test(name)) return mark;
  if (typeof value === 'string') {
    if (addressName.test(name)) return addressOnly(value);
    return (isClosed || closedName.test(name)) && !plainNames.has(name) && !plainName.test(name) ? mark : maskedText(value);
  }
  return masked(value, isClosed || closedName.test(name), depth);
}

/** A text that somebody wrote for people to read. */
export const maskedText = (text: string): string =>
  text.replace(addressShape, (_, scheme: string, host: string, rest: string) => scheme + host.slice(host.lastIndexOf('@') + 1) + (rest === '' || rest === '/' ? rest : `/${mark}`)).replace(credentialShape, mark);

/** A text that is kept as it is, but for credentials. */
export const withoutCredentials = (text: string): string => text.replace(credentialShape, mark);

/** Members that are credentials in any body: those of requests and answers have many that merely sound like one, such as max_tokens. */
const credentialNames = String.raw`(?:x[-_])?(?:api[-_]?key|(?:proxy[-_]?)?authorization|(?:access|refresh|id|auth|session|bearer)[-_]?token|client[-_]?secret|secret[-_]?(?:access[-_]?)?key|aws[-_]?(?:access[-_]?key[-_]?id|secret[-_]?access[-_]?key|session[-_]?token)|private[-_]?key|password|passphrase|(?:set[-_]?)?cookie)`;
const credentialName = new RegExp(`^${credentialNames}$`, 'i');
/** The same in a text that is not JSON as a whole: events, or cut off. */
const credentialMember = new RegExp(String.raw`("${credentialNames}"\s*:\s*)"(?:[^"\\]|\\.)+(?:"|\\?$)`, 'gis');

/** The value of a member of a body or of metadata; what holds nothing stays. */
export function withoutCredential(name: string, value: unknown): unknown {
  if (credentialName.test(name)) return holdsNothing(value) ? value : mark;
  return typeof value === 'string' ? withoutNamedCredentials(value) : value;
}

const holdsNothing = (value: unknown): boolean => value === undefined || value === null || value === '' || typeof value === 'boolean' || (typeof value === 'object' && Object.keys(value).length === 0);

/** A text that may be JSON itself, at any depth; one without such members is kept to the letter. */
export function withoutNamedCredentials(text: string): string {
  const plain = text.replace(credentialMember, `$1"${mark}"`);
  if (!/^\s*["{[]/.test(text)) return plain;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return plain;
  }
  try {
    const kept = JSON.stringify(parsed, withoutCredential);
    return kept === JSON.stringify(parsed) ? plain : kept;
  } catch {
    // Nested deeper than it can be written.
    return mark;
  }
}

function addressOnly(text: string): string {
  const shown = maskedText(text);
  return shown === text && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? mark : shown;
}

/** `isClosed`: it was refused, perhaps for the name of a member, so only what is known is kept. */
export function maskedQuery(query: string, isClosed = false): string {
  return JSON.stringify(Object.fromEntries([...new URLSearchParams(query)].map(([name, value]) => [maskedText(name), plainQuery.has(name) ? maskedText(value) : maskedMember(name, value, isClosed, 0)])));
}

export function maskedHeaders(headers: readonly string[]): string {
  const kept: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    kept[maskedText(name)] = plainHeaders.has(name) ? maskedText(headers[index + 1] ?? '') : mark;
  }
  return JSON.stringify(kept);
}
