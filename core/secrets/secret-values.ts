// The values of secret references in one serving thread: read from their managers when a plan first needs them, kept in memory, and read again every few
// minutes beside the calls. Each thread reads for itself, so that no value crosses threads and no thread depends on another. While reading
// fails, the last good value stays in use; targets that need a reference which never had one cannot be used until it has.

import { isObject, isSecretError, type SecretDocument, type SecretSource } from '@gateway/plugin-sdk';
import { isGatewayError, reasonOf } from '../errors/gateway-error.js';
import type { Registry } from '../registry/registry.js';
import type { SecretSourceRule } from '../settings/read.js';
import { SecretValue, type StoredReference } from '../snapshot/stored-reference.js';
import type { View } from '../snapshot/view.js';
import { sourcePluginOf } from './source-plugin.js';

/** Age at which a value is read again. */
const ageMs = 300_000;
/** First pause after a failure; it doubles with each further one. */
const retryMsMin = 1_000;
const retryMsMax = 30_000;
/** Size of one answer. */
const readMsMax = 5_000;
/** How long a call waits while other references are read first. */
const waitMsMax = 10_000;
const readingMax = 16;
const referencesMax = 10_000;
const documentCharsMax = 65_536;
/** Of all documents that a thread holds. */
const heldCharsMax = 32 * 1024 * 1024;
const reasonCharsMax = 300;
/** Shorter parts of credentials are not taken out of messages: they reveal little, and ordinary words would go with them. */
const blottedCharsMin = 6;

interface SecretValuesOptions {
  readonly registry: Registry;
  readonly rules: readonly SecretSourceRule[];
  view(): View;
  /** Does not keep the process alive. Returns what cancels it. */
  after(delayMs: number, work: () => void): () => void;
  count(metric: string): void;
  /** A value could not be read; `reason` is for the log. */
  onFault(slug: string, reason: string): void;
}

interface Entry {
  reference: StoredReference;
  /** Null: it has never been read. */
  value: SecretValue | null;
  /** JSON of the last document from the manager. */
  text: string;
  source: SecretSource | null;
  reading: Promise<void> | null;
  failures: number;
  cancel: (() => void) | null;
}

export class SecretValues {
  readonly #options: SecretValuesOptions;
  /** By the ids of references. */
  readonly #entries = new Map<string, Entry>();
  #reading = 0;
  #heldChars = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(options: SecretValuesOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async value(reference: StoredReference): Promise<SecretValue> {
    let entry = this.#entries.get(reference.id);
    if (entry?.reference.fingerprint !== reference.fingerprint) {
      if (entry !== undefined) this.#drop(entry);
      if (this.#isClosed || this.#entries.size >= referencesMax) return new SecretValue(null, `more than ${referencesMax} references are in use`);
      entry = { reference, value: null, text: '', source: null, reading: null, failures: 0, cancel: null };
      this.#entries.set(reference.id, entry);
    }
    entry.reference = reference;
    if (entry.value === null) await this.#within(this.#readOnce(entry));
    const { value } = entry;
    if (value === null) return new SecretValue(null, 'its manager gave no answer in time');
    this.#options.view().putSecretValue(reference.id, value);
    return value;
  }

  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#entries.values()]) this.#drop(entry);
  }

  #drop(entry: Entry): void {
    if (this.#entries.get(entry.reference.id) === entry) this.#entries.delete(entry.reference.id);
    this.#hold(entry, '');
    entry.cancel?.();
    entry.cancel = null;
    const { source } = entry;
    entry.source = null;
    Promise.resolve().then(() => source?.close?.()).catch((thrown: unknown) => this.#options.onFault(entry.reference.slug, this.#told(entry, thrown)));
  }

  /** Reads once at a time for each reference; all who ask share the result. Never rejects. */
  #readOnce(entry: Entry): Promise<void> {
    return entry.reading ??= this.#read(entry).finally(() => { entry.reading = null; });
  }

  async #within(reading: Promise<void>): Promise<void> {
    let cancel: (() => void) | undefined = undefined;
    await Promise.race([reading, new Promise<void>((resolve) => { cancel = this.#options.after(waitMsMax, resolve); })]);
    (cancel as (() => void) | undefined)?.();
  }

  async #read(entry: Entry): Promise<void> {
    if (this.#reading >= readingMax) await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
    else this.#reading += 1;
    try {
      const document = checked(await this.#ask(entry));
      if (this.#isCurrent(entry)) this.#take(entry, document);
    } catch (thrown) {
      if (this.#isCurrent(entry)) this.#fail(entry, thrown);
    } finally {
      // Whoever waits next has the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }

  async #ask(entry: Entry): Promise<unknown> {
    const { path } = entry.reference;
    const abort = new AbortController();
    let cancel: (() => void) | undefined = undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#options.after(readMsMax, () => {
        abort.abort();
        reject(new Error(`no answer within ${readMsMax} ms`));
      });
    });
    try {
      entry.source ??= await Promise.race([this.#open(entry.reference), late]);
      return await Promise.race([entry.source.read(path, abort.signal), late]);
    } finally {
      (cancel as (() => void) | undefined)?.();
    }
  }

  async #open({ managerId, auth }: StoredReference): Promise<SecretSource> {
    const { registry, rules } = this.#options;
    const manager = await sourcePluginOf(registry, managerId);
    if (manager === undefined) throw new Error(`no plugin ${managerId} of the kind secrets is installed`);
    const params: Record<string, unknown> = JSON.parse(auth.reveal());
    const fault = registry.checkParams(manager.plugin, params);
    if (fault !== undefined) throw new Error(`its auth_config does not fit: ${fault.path} ${fault.reason}`);
    return manager.plugin.create(params, registry.host(`secrets/${manager.id}`), rules.filter(({ id }) => id === manager.id).map(({ rule }) => rule));
  }

  #isCurrent(entry: Entry): boolean {
    return !this.#isClosed && this.#entries.get(entry.reference.id) === entry;
  }

  #take(entry: Entry, document: SecretDocument): void {
    const text = JSON.stringify(document);
    if (this.#heldChars - entry.text.length + text.length > heldCharsMax) throw new Error(`the secrets that are held are larger than ${heldCharsMax} characters together`);
    entry.failures = 0;
    this.#options.count('secrets.read');
    if (entry.value === null || entry.value.reason !== '' || text !== entry.text) this.#show(entry, new SecretValue(document, ''), text);
    this.#again(entry, ageMs);
  }

  #fail(entry: Entry, thrown: unknown): void {
    entry.failures += 1;
    this.#options.onFault(entry.reference.slug, this.#told(entry, thrown));
    const shown = isSecretError(thrown) ? this.#blotted(entry, thrown.message) : 'its manager could not be asked';
    if (entry.value === null || (entry.value.reason !== '' && entry.value.reason !== shown)) this.#show(entry, new SecretValue(null, shown), '');
    this.#again(entry, Math.min(retryMsMax, retryMsMin * 2 ** Math.min(entry.failures - 1, 10)));
  }

  #show(entry: Entry, value: SecretValue, text: string): void {
    entry.value = value;
    this.#hold(entry, text);
    this.#options.view().putSecretValue(entry.reference.id, value);
  }

  #hold(entry: Entry, text: string): void {
    this.#heldChars += text.length - entry.text.length;
    entry.text = text;
  }

  #again(entry: Entry, delayMs: number): void {
    entry.cancel?.();
    entry.cancel = this.#options.after(delayMs, () => {
      const view = this.#options.view();
      const reference = view.reference(entry.reference.id);
      // No mapping needs the reference any more, or it was changed, and is read under its new fingerprint.
      if (reference?.fingerprint !== entry.reference.fingerprint || !view.isMapped(reference.id)) {
        this.#drop(entry);
        return;
      }
      entry.reference = reference;
      this.#readOnce(entry).catch((thrown: unknown) => this.#options.onFault(reference.slug, this.#told(entry, thrown)));
    });
  }

  #told(entry: Entry, thrown: unknown): string {
    return this.#blotted(entry, isGatewayError(thrown) ? `${thrown.code}: ${thrown.message}` : reasonOf(thrown));
  }

  /** The message without parts of the credentials, which plugins and servers may quote. */
  #blotted(entry: Entry, message: string): string {
    let text = message.slice(0, reasonCharsMax);
    const parts: unknown[] = Object.values(JSON.parse(entry.reference.auth.reveal()));
    for (const part of parts) if (typeof part === 'string' && part.length >= blottedCharsMin) text = text.replaceAll(part, '[secret]');
    return text;
  }
}

/** Checks the document of a plugin: a text or an object, within the size limit. Throws otherwise. */
function checked(document: unknown): SecretDocument {
  if (typeof document !== 'string' && !isObject(document)) throw new Error('the plugin gave neither a text nor an object');
  if ((JSON.stringify(document)?.length ?? Infinity) > documentCharsMax) throw new Error(`the secret is larger than ${documentCharsMax} characters`);
  // Its values are JSON: it was just written as JSON.
  return document as SecretDocument;
}
