// Keeps secrets out of the gateway's own log: values that were registered, fields whose names say so, and credentials by their shape.
// Runs only for lines that are written.

export const redacted = '[redacted]';
/** Shorter values are words that occur everywhere; hiding them would hide the log. */
const secretCharsMin = 8;
const secretsMax = 10_000;
const depthMax = 6;
const entriesMax = 100;
const charsMax = 8192;

const secretName = /(?:^|[_-])(?:authorization|cookie|secret|password|passphrase|credentials?|token|api_?key|private_?key|master_?key|key_?hash)$/;
const credentialShape = /\b(bearer|basic)\s+[\w.~+/=-]{8,}|\b(?:gw_|sk-|pk-)[\w-]{16,}/gi;

export class Redactor {
  readonly #secrets = new Set<string>();

  /** From now on `value` is printed nowhere. The oldest is forgotten when there are too many. */
  add(value: string): void {
    if (value.length < secretCharsMin) return;
    if (this.#secrets.size >= secretsMax && !this.#secrets.has(value)) {
      for (const oldest of this.#secrets) {
        this.#secrets.delete(oldest);
        break;
      }
    }
    this.#secrets.add(value);
  }

  text(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, redacted);
    clean = clean.replace(credentialShape, (_, scheme: string | undefined) => (scheme === undefined ? redacted : `${scheme} ${redacted}`));
    // Cut after the hiding: half a secret would not be recognised.
    return clean.length > charsMax ? `${clean.slice(0, charsMax)}…` : clean;
  }

  /** A copy that can be printed: JSON values only, bounded in depth and length. */
  value(value: unknown, depth = 0): unknown {
    switch (typeof value) {
      case 'string': return this.text(value);
      case 'number': return Number.isFinite(value) ? value : String(value);
      case 'boolean': case 'undefined': return value;
      case 'object': return value === null ? null : this.#object(value, depth);
      default: return typeof value === 'bigint' ? String(value) : `[${typeof value}]`;
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth >= depthMax) return '[deeper]';
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Set) return this.value([...value], depth);
    if (Array.isArray(value)) return value.slice(0, entriesMax).map((entry) => this.value(entry, depth + 1));
    return this.#entries(value instanceof Map ? [...value] : Object.entries(value), depth);
  }

  #entries(entries: readonly (readonly [unknown, unknown])[], depth: number): Record<string, unknown> {
    return Object.fromEntries(entries.slice(0, entriesMax).map(([key, entry]) => {
      const name = String(key);
      const isHidden = isSecretName(name) && (typeof entry === 'string' || (typeof entry === 'object' && entry !== null));
      return [this.text(name), isHidden ? redacted : this.value(entry, depth + 1)];
    }));
  }

  #error(error: Error, depth: number): Record<string, unknown> {
    const shown: Record<string, unknown> = { name: error.name, message: this.text(error.message) };
    if ('code' in error) shown.code = this.value(error.code, depth + 1);
    if (error.stack !== undefined) shown.stack = this.text(error.stack);
    if (error.cause !== undefined) shown.cause = this.value(error.cause, depth + 1);
    return shown;
  }
}

/** `apiKey`, `api_key`, `X-Api-Key`, `clientSecret`, `sessionToken`; not `keyId`, not `inputTokens`. */
const isSecretName = (name: string): boolean =>
  secretName.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase().replaceAll('-', '_'));
