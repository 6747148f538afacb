// Bootstrap settings: environment over file over defaults, checked by one schema, frozen. Runs once at start, in the main thread;
// threads get a copy. Faults are sentences that name the variable or key to change.

import { Ajv } from 'ajv';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readDocuments, type DeclaredFile } from '../declare/read-documents.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { readEnvironment } from './environment.js';
import { explainFault, type NoteFault } from './faults.js';
import { readSettingsFile, type SettingsFile } from './file.js';
import { environmentName, isSettingKey, settingKeys, settingsSchema, type CheckedSettings, type LogLevel, type SettingKey } from './schema.js';
import { checkTls, type TlsFiles } from './tls.js';
import { tokenSettings, type TokenSettings } from './tokens.js';

export type { LogLevel } from './schema.js';
export type { TlsFiles } from './tls.js';
export type { TokenSettings } from './tokens.js';

export interface ExporterSetting {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Sign-in of people by OpenID Connect. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** In lower case; none: all. */
  readonly emailDomains: readonly string[];
  /** People who are neither users nor invited become members. */
  readonly takesUnknown: boolean;
  readonly takesUnverified: boolean;
}

/** A rule of `secret_sources`: a file, variable or address of this machine that a plugin for secrets may use, in the plugin's own syntax. */
export interface SecretSourceRule {
  /** Of the plugin. */
  readonly id: string;
  readonly rule: string;
}

/** The objects that the settings declare (`resources`). */
export interface DeclaredSettings {
  /** With the values of variables in their places: secrets are in it. */
  readonly documents: readonly unknown[];
  /** Where they came from, for messages. */
  readonly files: readonly DeclaredFile[];
  readonly isPruning: boolean;
}

export const noResources: DeclaredSettings = Object.freeze({ documents: [], files: [], isPruning: false });

/** Holds only plain data: it is copied to threads. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly threads: number;
  readonly adminKey: string | undefined;
  readonly apiKey: string | undefined;
  /** As given; loadMasterKey() decodes it. */
  readonly masterKey: string | undefined;
  /** In lower case. */
  readonly ownerEmail: string | undefined;
  /** An origin, without a slash at its end. */
  readonly publicUrl: string | undefined;
  /** Undefined: nobody signs in. */
  readonly oidc: OidcSettings | undefined;
  /** Null: only API keys are taken. */
  readonly tokens: TokenSettings | null;
  readonly secretSources: readonly SecretSourceRule[];
  /** For the main thread alone. */
  readonly resources: DeclaredSettings;
  readonly trustedHosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly headersToMetadata: readonly string[];
  readonly logLevel: LogLevel;
  readonly tls: TlsFiles | undefined;
  /** Package names, or absolute paths of package folders. */
  readonly plugins: readonly string[];
  /** Those given by path follow their files. */
  readonly pluginsReload: boolean;
  readonly costHeader: boolean;
  readonly storage: string;
  readonly exporters: readonly ExporterSetting[];
  readonly headerBytesMax: number;
  readonly bodyBytesMax: number;
  readonly heldBodyBytesMax: number;
  readonly collectedBytesMax: number;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly bodyDeadlineMs: number;
  /** Bytes a second. */
  readonly bodyRateMin: number;
  readonly shutdownDeadlineMs: number;
  readonly retryDelayMs: number;
  readonly connectionsMax: number;
  readonly requestsMax: number;
  readonly clientConnectionsMax: number;
  readonly clientConnectionsPerAddressMax: number;
  readonly trustedProxies: readonly string[];
  readonly spinUs: number;
  readonly responsesDays: number;
  readonly cacheMemoryBytes: number;
  readonly cacheDiskBytes: number;
  /** Of exporters that can be read, where their own parameters say nothing else. */
  readonly logStoreBytesMax: number;
  readonly logStoreDays: number;
  readonly limitCounters: number;
  readonly limitOutputTokens: number;
  /** A call under a budget goes out when its reservation is on the disk. */
  readonly isBudgetStrict: boolean;
  readonly alertWebhookUrl: string | undefined;
}

// All faults: whoever mends one should not have to start again to hear of the next.
const ajv = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true, strictRequired: false, keywords: ['defaultText', 'expected', 'secret'] });
const isChecked = ajv.compile<CheckedSettings>(settingsSchema);

export interface InspectedSettings {
  /** Each in one sentence that names the variable or key to change; none when all is well. */
  readonly faults: readonly string[];
  /** Settings that are not what was meant; those in `settings` are defaults. */
  readonly faulty: ReadonlySet<SettingKey>;
  readonly settings: Settings;
}

export function readSettings(environment: NodeJS.ProcessEnv, cwd: string): Settings {
  const { faults: [first, ...others], settings } = inspectSettings(environment, cwd);
  if (first === undefined) return settings;
  const more = others.length === 0 ? '' : ` (and ${others.length} ${others.length === 1 ? 'fault' : 'faults'} more: gateway check lists them)`;
  throw fail('SETTINGS_INVALID', { reason: first + more });
}

/** Never throws for what is given: everything that is wrong with it is in `faults`. */
export function inspectSettings(environment: NodeJS.ProcessEnv, cwd: string): InspectedSettings {
  const faults: string[] = [];
  const faulty = new Set<SettingKey>();
  const note: NoteFault = (reason, keys) => {
    faults.push(reason);
    for (const key of keys) faulty.add(key);
  };
  const fromEnvironment = readEnvironment(environment, note);
  const file = fileOf(environment, cwd, fromEnvironment, note);
  const given = new Map([...(file?.values ?? []), ...fromEnvironment]);
  const placeOf = (key: SettingKey): string => (fromEnvironment.has(key) ? environmentName(key) : `${key} in ${file?.name ?? 'the settings'}`);
  for (const [key, value] of given) {
    const reference = referenceIn(value);
    if (reference === undefined) continue;
    given.delete(key);
    note(`${placeOf(key)} is ${reference}, and references are not read in settings; ${fromEnvironment.has(key) ? 'give the value itself' : `set ${environmentName(key)} itself in the environment`}`, [key]);
  }
  checkBySchema(given, placeOf, note);
  const checked: unknown = Object.fromEntries(given);
  // What was at fault is gone, and the defaults are good.
  assert(isChecked(checked));
  if (checked.admin_key !== undefined && checked.admin_key === checked.api_key) {
    note('GATEWAY_ADMIN_KEY and GATEWAY_API_KEY must differ: one administers, the other only calls', ['admin_key', 'api_key']);
  }
  const pluginsFolder = fromEnvironment.has('plugins') ? cwd : file?.folder ?? cwd;
  const resources = resourcesOf(checked, { environment, cwd, file: fromEnvironment.has('resources') ? undefined : file }, note);
  const settings = freeze(checked, cwd, pluginsFolder, resources, note);
  return { faults, faulty, settings };
}

/** A file that cannot be read says nothing, so that everything may be meant otherwise but what the environment says. */
function fileOf(environment: NodeJS.ProcessEnv, cwd: string, fromEnvironment: ReadonlyMap<SettingKey, unknown>, note: NoteFault): SettingsFile | undefined {
  try {
    return readSettingsFile(environment, cwd, note);
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    note(thrown.message, settingKeys.filter((key) => !fromEnvironment.has(key)));
    return undefined;
  }
}

/** Takes out what the schema refuses, and tells one fault of each. */
function checkBySchema(given: Map<SettingKey, unknown>, placeOf: (key: SettingKey) => string, note: NoteFault): void {
  if (isChecked(Object.fromEntries(given))) return;
  for (const fault of isChecked.errors ?? []) {
    const key = fault.instancePath.split('/')[1] ?? '';
    // Both readers took known keys only, so every fault is inside one of them.
    assert(isSettingKey(key));
    if (!given.has(key)) continue;
    note(explainFault(key, placeOf(key), given.get(key), fault), [key]);
    given.delete(key);
  }
}

/** `env:NAME`, as plugins may have it resolved in their parameters. */
function referenceIn(value: unknown): string | undefined {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  return texts.find((text): text is string => typeof text === 'string' && /^env:[A-Za-z_]\w*$/.test(text));
}

function freeze(given: CheckedSettings, cwd: string, pluginsFolder: string, resources: DeclaredSettings, note: NoteFault): Settings {
  return Object.freeze<Settings>({
    host: given.host,
    port: given.port,
    dataDir: resolve(cwd, given.data_dir),
    threads: given.threads === 'auto' ? availableParallelism() : given.threads,
    adminKey: given.admin_key,
    apiKey: given.api_key,
    masterKey: given.master_key,
    ownerEmail: given.owner_email?.toLowerCase(),
    publicUrl: given.public_url === undefined ? undefined : originOf(given.public_url, note),
    oidc: oidcOf(given, note),
    tokens: tokenSettings(given, note),
    secretSources: Object.freeze(given.secret_sources.map((entry) => Object.freeze({ id: entry.slice(0, entry.indexOf('=')), rule: entry.slice(entry.indexOf('=') + 1) }))),
    resources,
    trustedHosts: Object.freeze(given.trusted_hosts),
    corsOrigins: Object.freeze(given.cors_origins),
    headersToMetadata: Object.freeze(given.headers_to_metadata),
    logLevel: given.log_level,
    tls: checkTls(given.tls_key_file, given.tls_cert_file, cwd, note),
    plugins: Object.freeze(given.plugins.map((named) => (/^\.{1,2}(?:[/\\]|$)/.test(named) ? resolve(pluginsFolder, named) : named))),
    pluginsReload: given.plugins_reload === 'on',
    costHeader: given.cost_header === 'on',
    storage: given.storage,
    exporters: Object.freeze(given.exporters.map((entry) => exporterOf(typeof entry === 'string' ? { id: entry } : entry))),
    headerBytesMax: given.header_bytes_max,
    bodyBytesMax: given.body_bytes_max,
    heldBodyBytesMax: given.held_body_bytes_max,
    collectedBytesMax: given.collected_bytes_max,
    connectTimeoutMs: given.connect_timeout_ms,
    firstByteTimeoutMs: given.first_byte_timeout_ms,
    idleTimeoutMs: given.idle_timeout_ms,
    bodyTimeoutMs: given.body_timeout_ms,
    bodyDeadlineMs: given.body_deadline_ms,
    bodyRateMin: given.body_rate_min,
    shutdownDeadlineMs: given.shutdown_deadline_ms,
    retryDelayMs: given.retry_delay_ms,
    connectionsMax: given.connections_max,
    requestsMax: given.requests_max,
    clientConnectionsMax: given.client_connections_max,
    clientConnectionsPerAddressMax: given.client_connections_per_address_max,
    trustedProxies: Object.freeze(given.trusted_proxies.filter((range) => isRange(range, note))),
    spinUs: given.spin_us,
    logStoreBytesMax: given.log_store_bytes_max,
    responsesDays: given.responses_days,
    cacheMemoryBytes: given.cache_memory_bytes,
    cacheDiskBytes: given.cache_disk_bytes,
    logStoreDays: given.log_store_days,
    limitCounters: given.limit_counters,
    limitOutputTokens: given.limit_output_tokens,
    isBudgetStrict: given.budget_durability === 'strict',
    alertWebhookUrl: given.alert_webhook_url,
  });
}

interface Surrounding {
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** That names the resources; undefined: the environment does. */
  readonly file: SettingsFile | undefined;
}

function resourcesOf({ resources, resources_prune }: CheckedSettings, { environment, cwd, file }: Surrounding, note: NoteFault): DeclaredSettings {
  const isPruning = resources_prune === 'on';
  if (resources.length === 0) return isPruning ? { ...noResources, isPruning } : noResources;
  try {
    const files = resources.map((each, index): DeclaredFile => {
      if (typeof each === 'string') return fileAt(each, file?.folder ?? cwd);
      return { name: file?.name ?? 'the settings', text: file?.text ?? '', at: file?.hasOwnResources === true ? ['resources'] : ['resources', index] };
    });
    return Object.freeze({ documents: readDocuments(files, environment).documents, files, isPruning });
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
    note(`resources: ${thrown.message}`, ['resources']);
    return noResources;
  }
}

function fileAt(path: string, folder: string): DeclaredFile {
  try {
    return { name: path, text: readFileSync(resolve(folder, path), 'utf8') };
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${path} cannot be read (${reasonOf(thrown)})` }, thrown);
  }
}

/** The pattern lets more through than addresses. */
function originOf(address: string, note: NoteFault): string | undefined {
  if (URL.canParse(address)) return new URL(address).origin;
  note(`public_url: ${address} is not an address`, ['public_url']);
  return undefined;
}

function oidcOf(given: CheckedSettings, note: NoteFault): OidcSettings | undefined {
  const { oidc_issuer: issuer, oidc_client_id: clientId } = given;
  if (issuer === undefined && clientId === undefined && given.oidc_client_secret === undefined) return undefined;
  if (issuer === undefined || clientId === undefined) {
    note('oidc_issuer and oidc_client_id go together: people sign in with both or not at all', ['oidc_issuer', 'oidc_client_id']);
    return undefined;
  }
  if (given.public_url !== undefined && /^http:\/\/(?!(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\/?$)/.test(given.public_url)) note('public_url must be https where people sign in: their cookies would cross the network in the open', ['public_url']);
  if (!URL.canParse(issuer)) {
    note(`oidc_issuer: ${issuer} is not an address`, ['oidc_issuer']);
    return undefined;
  }
  return Object.freeze({
    issuer, clientId, clientSecret: given.oidc_client_secret, scopes: Object.freeze([...new Set(['openid', ...given.oidc_scopes])]), groupsClaim: given.oidc_groups_claim,
    emailDomains: Object.freeze(given.oidc_email_domains.map((domain) => domain.toLowerCase())), takesUnknown: given.oidc_unknown_people === 'member', takesUnverified: given.oidc_unverified_emails === 'accept',
  });
}

function isRange(range: string, note: NoteFault): boolean {
  const [address = '', bits] = range.split('/');
  const family = isIP(address);
  if (family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128))) return true;
  note(`trusted_proxies: ${range} is not an IP address or a CIDR range`, ['trusted_proxies']);
  return false;
}

const exporterOf = ({ id, params }: { readonly id: string; readonly params?: Readonly<Record<string, unknown>> }): ExporterSetting => Object.freeze({ id, params: Object.freeze({ ...params }) });
