// What of headers and addresses may be kept: values of headers that hold credentials are masked by the name, those that go up are masked unless they are known
// to hold none, and known secrets are replaced wherever they stand.

export const masked = '[masked]';

/** Names in which credentials, sessions or the like travel; `x-ratelimit-remaining-tokens` is none. */
const sensitiveName = /auth|cookie|key|token|secret|passw|passcode|passphrase|credential|signature|session|[cx]srf|jwt|saml|hmac|assertion|bearer|access[-_]?code|^code$|(?<![a-z])(?:pass|pwd|sig|sas|sid|otp|pin)(?![a-z])/;
const countName = /ratelimit|rate-limit|max-tokens|idempotency-key/;
/** Of requests to providers: everything else in them may have been made of a credential, or be one that a config adds. */
const harmlessUp: ReadonlySet<string> = new Set([
  'accept', 'accept-encoding', 'accept-language', 'anthropic-beta', 'anthropic-version', 'content-encoding', 'content-length', 'content-type', 'host', 'openai-beta', 'traceparent', 'user-agent', 'x-request-id',
]);
/** Gateway headers that say how a call is to be treated; all others may hold credentials. */
const harmlessGateway: ReadonlySet<string> = new Set(['cache-control', 'debug', 'mode', 'refresh-prompt-cache', 'sensitive-headers']);
/** A secret that is shorter is a word that occurs everywhere. */
const secretCharsMin = 8;
/** Of the JSON of all headers of one request or answer. */
const headersCharsMax = 16_384;

const isSensitive = (name: string, more: ReadonlySet<string>): boolean => more.has(name) || (sensitiveName.test(name) && !countName.test(name));

/** Flat lists; names in lower case. */
export function clientHeaders(headers: readonly string[], gatewayHeaders: readonly string[], hasAuthorization: boolean, more: ReadonlySet<string>): string {
  const list = new HeaderText();
  if (hasAuthorization) list.add('authorization', masked);
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    list.add(name, isSensitive(name, more) ? masked : headers[index + 1] as string);
  }
  for (let index = 0; index < gatewayHeaders.length; index += 2) {
    const name = gatewayHeaders[index] as string;
    list.add(`x-gateway-${name}`, harmlessGateway.has(name) && !more.has(`x-gateway-${name}`) ? gatewayHeaders[index + 1] as string : masked);
  }
  return list.text();
}

/** Of a request to a provider. `client`: what the client sent stays as it is there. */
export function upstreamHeaders(headers: readonly string[], client: readonly string[], more: ReadonlySet<string>): string {
  const list = new HeaderText();
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    const isShown = !more.has(name) && (harmlessUp.has(name) || (!isSensitive(name, more) && isIn(client, name, value)));
    list.add(name, isShown ? value : masked);
  }
  return list.text();
}

export function answerHeaders(headers: readonly string[], more: ReadonlySet<string>): string {
  const list = new HeaderText();
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    list.add(name, isSensitive(name, more) ? masked : headers[index + 1] as string);
  }
  return list.text();
}

function isIn(headers: readonly string[], name: string, value: string): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === name && headers[index + 1] === value) return true;
  return false;
}

/** JSON object of headers; of one that comes again the values stand behind one another. */
class HeaderText {
  readonly #values = new Map<string, string>();
  #chars = 2;
  #left = 0;

  add(name: string, value: string): void {
    // Each character is a byte on the wire; most are ASCII.
    const text = Buffer.from(value, 'latin1').toString('utf8');
    this.#chars += name.length + text.length + 6;
    if (this.#chars > headersCharsMax) {
      this.#left += 1;
      return;
    }
    const before = this.#values.get(name);
    this.#values.set(name, before === undefined ? text : `${before}, ${text}`);
  }

  text(): string {
    if (this.#left > 0) this.#values.set('…', `${this.#left} more`);
    return JSON.stringify(Object.fromEntries(this.#values));
  }
}

/** The address without user, password and the values of its query, but for versions. */
export function maskedUrl(url: string): string {
  const at = url.indexOf('?');
  const address = (at === -1 ? url : url.slice(0, at)).replace(/^([a-z]+:\/\/)[^/@]*@/i, `$1${masked}@`);
  if (at === -1) return address;
  const query = url.slice(at + 1).split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return equals === -1 || /^(?:api-version|alt|beta|limit|after|before|order|model|purpose)=/i.test(pair) ? pair : `${pair.slice(0, equals)}=${masked}`;
  });
  return `${address}?${query.join('&')}`;
}

/** Values of cookies are often words. */
const cookieCharsMin = 16;

/** Behind which the credentials alone may be repeated. */
const schemeAndCredentials = /^[a-z][\w-]*\s+\S+$/i;

/** Credentials of a call that are looked for in all that is kept of it. */
export class Secrets {
  readonly #texts = new Set<string>();
  /** Longest first: where one begins another, nothing of the longer one is left. */
  #sorted: readonly string[] | null = null;

  /** Also as JSON and addresses spell it. */
  add(value: unknown): void {
    if (typeof value !== 'string' || value.length < secretCharsMin) return;
    this.#sorted = null;
    for (const spelling of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(Buffer.from(value).toString())]) this.#texts.add(spelling);
  }

  /** Members of an object that are secret by their name, at its first level. */
  addNamed(values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) if (sensitiveName.test(name.toLowerCase())) this.add(value);
  }

  /** Scheme and credentials; of the basic scheme what is inside, too. */
  addAuthorization(value: string): void {
    this.add(value);
    const credentials = value.replace(/^\S+\s+/, '');
    this.add(credentials);
    if (!/^basic\s/i.test(value)) return;
    const pair = Buffer.from(credentials, 'base64').toString();
    this.add(pair);
    this.add(pair.slice(pair.indexOf(':') + 1));
  }

  /** In a header of any name. */
  #addCredentials(value: string): void {
    if (schemeAndCredentials.test(value)) this.addAuthorization(value);
    else this.add(value);
  }

  /** Flat list of what a client sent: what is masked there by its name may stand elsewhere, too. */
  addHeaders(headers: readonly string[]): void {
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      const value = headers[index + 1] as string;
      if (!isSensitive(name, none)) continue;
      this.#addCredentials(value);
      if (name === 'cookie') for (const pair of value.split(';')) this.#addCookie(pair.slice(pair.indexOf('=') + 1).trim());
    }
  }

  /** Flat list of what goes up. `names`, in lower case: headers that an integration adds, whose values are secret whatever they are called. */
  addOwnHeaders(headers: readonly string[], names: ReadonlySet<string>): void {
    for (let index = 0; index < headers.length; index += 2) {
      const name = (headers[index] as string).toLowerCase();
      const value = headers[index + 1] as string;
      if (!names.has(name)) continue;
      if (name === 'authorization') this.addAuthorization(value);
      else this.#addCredentials(value);
    }
  }

  /** Of an address, as a client sent it. */
  addQuery(query: string): void {
    if (query !== '') for (const [name, value] of new URLSearchParams(query)) if (isSensitive(name.toLowerCase(), none)) this.add(value);
  }

  #addCookie(value: string): void {
    if (value.length >= cookieCharsMin) this.add(value);
  }

  masked(bytes: Buffer): Buffer {
    let clean = bytes;
    this.#sorted ??= [...this.#texts].sort((left, right) => right.length - left.length);
    for (const secret of this.#sorted) {
      if (!clean.includes(secret)) continue;
      clean = Buffer.from(clean.toString('latin1').replaceAll(Buffer.from(secret).toString('latin1'), masked), 'latin1');
    }
    return clean;
  }

  /** Of the longest one: a text that is cut has to be longer by this, so that none stands at its end in part. */
  get bytesMax(): number {
    let most = 0;
    for (const secret of this.#texts) most = Math.max(most, Buffer.byteLength(secret));
    return most;
  }
}

const none: ReadonlySet<string> = new Set();
