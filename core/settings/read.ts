// Bootstrap settings: environment over file over defaults, checked by one schema, frozen. Runs once at start, in the main thread;
// threads get a copy. Throws SETTINGS_INVALID with one sentence that names the variable or key to change.

import { Ajv } from 'ajv';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { fail } from '../errors/gateway-error.js';
import { readEnvironment } from './environment.js';
import { explainFault } from './faults.js';
import { readSettingsFile } from './file.js';
import { environmentName, isSettingKey, settingsSchema, type CheckedSettings, type LogLevel } from './schema.js';
import { checkTls, type TlsFiles } from './tls.js';

export type { LogLevel } from './schema.js';
export type { TlsFiles } from './tls.js';

export interface ExporterSetting {
  readonly id: string;
  readonly params: Readonly<Record<string, unknown>>;
}

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
  readonly trustedHosts: readonly string[];
  readonly logLevel: LogLevel;
  readonly tls: TlsFiles | undefined;
  /** Package names, or absolute paths of package folders. */
  readonly plugins: readonly string[];
  /** Those given by path follow their files. */
  readonly pluginsReload: boolean;
  readonly storage: string;
  readonly exporters: readonly ExporterSetting[];
  readonly headerBytesMax: number;
  readonly bodyBytesMax: number;
  readonly collectedBytesMax: number;
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  readonly shutdownDeadlineMs: number;
  readonly retryDelayMs: number;
  readonly connectionsMax: number;
  readonly requestsMax: number;
  readonly spinUs: number;
  readonly responsesDays: number;
  readonly cacheMemoryBytes: number;
  readonly cacheDiskBytes: number;
  readonly logStoreBytesMax: number;
  readonly logStoreDays: number;
}

/** Id of the exporter that GATEWAY_LOG_STORE_* are about. */
const logStore = 'store';

const ajv = new Ajv({ useDefaults: true, allowUnionTypes: true, strictRequired: false, keywords: ['defaultText', 'expected', 'secret'] });
const isChecked = ajv.compile<CheckedSettings>(settingsSchema);

export function readSettings(environment: NodeJS.ProcessEnv, cwd: string): Settings {
  const fromEnvironment = readEnvironment(environment);
  const file = readSettingsFile(environment, cwd);
  const given: unknown = Object.fromEntries([...(file?.values ?? []), ...fromEnvironment]);
  if (!isChecked(given)) {
    const [fault] = isChecked.errors ?? [];
    const key = fault?.instancePath.split('/')[1] ?? '';
    // Both readers took known keys only, so every fault is inside one of them.
    if (fault === undefined || !isSettingKey(key)) throw fail('SETTINGS_INVALID', { reason: `settings are not valid: ${ajv.errorsText(isChecked.errors)}` });
    const place = fromEnvironment.has(key) ? environmentName(key) : `${key} in ${file?.name ?? 'the settings'}`;
    const value = fromEnvironment.get(key) ?? file?.values.get(key);
    throw fail('SETTINGS_INVALID', { reason: explainFault(key, place, value, fault) });
  }
  if (given.admin_key !== undefined && given.admin_key === given.api_key) {
    throw fail('SETTINGS_INVALID', { reason: 'GATEWAY_ADMIN_KEY and GATEWAY_API_KEY must differ: one administers, the other only calls' });
  }
  return freeze(given, cwd);
}

function freeze(given: CheckedSettings, cwd: string): Settings {
  return Object.freeze<Settings>({
    host: given.host,
    port: given.port,
    dataDir: resolve(cwd, given.data_dir),
    threads: given.threads === 'auto' ? availableParallelism() : given.threads,
    adminKey: given.admin_key,
    apiKey: given.api_key,
    masterKey: given.master_key,
    trustedHosts: Object.freeze(given.trusted_hosts),
    logLevel: given.log_level,
    tls: checkTls(given.tls_key_file, given.tls_cert_file, cwd),
    plugins: Object.freeze(given.plugins.map((named) => (/^\.{1,2}(?:[/\\]|$)/.test(named) ? resolve(cwd, named) : named))),
    pluginsReload: given.plugins_reload === 'on',
    storage: given.storage,
    exporters: Object.freeze(given.exporters.map((entry) => exporterOf(typeof entry === 'string' ? { id: entry } : entry, given))),
    headerBytesMax: given.header_bytes_max,
    bodyBytesMax: given.body_bytes_max,
    collectedBytesMax: given.collected_bytes_max,
    connectTimeoutMs: given.connect_timeout_ms,
    firstByteTimeoutMs: given.first_byte_timeout_ms,
    idleTimeoutMs: given.idle_timeout_ms,
    bodyTimeoutMs: given.body_timeout_ms,
    shutdownDeadlineMs: given.shutdown_deadline_ms,
    retryDelayMs: given.retry_delay_ms,
    connectionsMax: given.connections_max,
    requestsMax: given.requests_max,
    spinUs: given.spin_us,
    logStoreBytesMax: given.log_store_bytes_max,
    responsesDays: given.responses_days,
    cacheMemoryBytes: given.cache_memory_bytes,
    cacheDiskBytes: given.cache_disk_bytes,
    logStoreDays: given.log_store_days,
  });
}

/** The log store is the one exporter with settings of its own; its parameters in the file win over them. */
function exporterOf(entry: { readonly id: string; readonly params?: Readonly<Record<string, unknown>> }, given: CheckedSettings): ExporterSetting {
  const fromSettings = entry.id === logStore ? { bytesMax: given.log_store_bytes_max, ageDaysMax: given.log_store_days } : {};
  return Object.freeze({ id: entry.id, params: Object.freeze({ ...fromSettings, ...entry.params }) });
}
