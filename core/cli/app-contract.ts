// What the command line needs from the rest of the gateway. app.ts implements it; it is loaded only by the commands that run it, so that
// help and version answer at once, and it is replaced by fakes in tests.

import type { LedgerVerdict } from '../limits/verify-ledger.js';
import type { Catalogue } from '../registry/catalogue.js';
import type { Rates } from '../limits/prices.js';
import type { RepriceReport } from '../limits/repricing.js';
import type { Settings } from '../settings/read.js';
import type { AuditVerdict } from '../storage/verify-audit.js';
import type { SettingKey } from '../settings/schema.js';

export interface RunningGateway {
  readonly url: string;
  readonly generatedKeys: { readonly admin?: string; readonly api?: string };
  stop(deadlineMs: number): Promise<void>;
}

export interface CheckedSubject {
  readonly subject: string;
  readonly fault?: string;
}

export interface GatewayApp {
  startGateway(settings: Settings): Promise<RunningGateway>;
  /** `faulty` are settings that are not what was meant: what depends on them is left out. */
  checkGateway(settings: Settings, faulty?: ReadonlySet<SettingKey>): Promise<readonly CheckedSubject[]>;
  backupGateway(settings: Settings, file: string, options: { readonly withSecrets: boolean }): Promise<BackupReport>;
  restoreGateway(settings: Settings, file: string, options: { readonly isForced: boolean }): Promise<BackupReport>;
  rekeyGateway(settings: Settings, options: RekeyOptions): Promise<RekeyReport>;
  /** Whether the audit log of the data directory is as it was written. */
  verifyAuditLog(settings: Settings): Promise<AuditVerdict>;
  /** Whether ledger, log and counters of the data directory agree about what was spent. */
  verifySpending(settings: Settings): Promise<LedgerVerdict>;
  /** What the table of prices has for a model; undefined: nothing. */
  showModel(settings: Settings, question: PriceQuestion): Promise<ShownModel | undefined>;
  /** Models of the last days whose calls used tokens that nobody had a price for. */
  unpricedModels(settings: Settings, days: number): Promise<readonly UnpricedModel[]>;
  /** Prices records again, and says what that changes. */
  repriceHistory(settings: Settings, question: RepriceQuestion): Promise<RepriceReport>;
  /** Everything installed. `cwd` is where packages are looked for. */
  listPlugins(settings: Settings, cwd: string): Promise<Catalogue>;
}

export interface PriceQuestion {
  /** Id of the plugin. */
  readonly provider: string;
  readonly model: string;
}

/** Prices in US cents for one. */
export interface ShownModel extends Rates {
  /** In the table. */
  readonly id: string;
  readonly name: string;
  readonly contextLength: number | null;
  readonly isDeprecated: boolean;
  /** The prices depend on the time of day; these are those of now. */
  readonly isTimely: boolean;
}

export interface UnpricedModel {
  readonly organisationId: string;
  readonly provider: string;
  readonly model: string;
  /** Records without a price, of all of them. */
  readonly unpriced: number;
  readonly count: number;
  readonly totalTokens: number;
  readonly lastSeenMs: number;
}

export interface RepriceQuestion {
  /** Milliseconds since the Unix epoch, inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Id or slug; undefined: all. */
  readonly workspace: string | undefined;
  readonly isWriting: boolean;
  /** Told what changes, before anything is written. */
  readonly onFound: (report: RepriceReport) => void;
}

/** The counts of what a backup holds. */
export interface BackupReport {
  readonly rows: number;
  readonly auditEntries: number;
  /** Rows whose secrets are not in it, as `integration <id>`. */
  readonly withoutSecrets: readonly string[];
  /** The fault of the audit log; undefined: it is whole. */
  readonly auditFault: string | undefined;
}

export interface RekeyReport {
  readonly keyId: string;
  /** Rows whose secrets are under the new key now. */
  readonly changed: number;
  /** Rows whose secrets were given up, as `integration <id>`. */
  readonly forgotten: readonly string[];
  /** Where the new key is; undefined: it is only where it was given. */
  readonly keyFile: string | undefined;
  /** Where the key before is kept, for backups that were made under it. */
  readonly oldKeyFile: string | undefined;
}

export interface RekeyOptions {
  readonly isForgetting: boolean;
  /** Of a file that only its owner can read. */
  readonly newKeyFile: string | undefined;
  readonly newKey: string | undefined;
}

/** The process as the commands see it. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly version: string;
  out(text: string): void;
  error(text: string): void;
  /** False: nobody takes what is printed any more. Known once `onSignal` was called. */
  isHeard?(): boolean;
  loadApp(): Promise<GatewayApp>;
  /** Calls `listener` at each SIGTERM or SIGINT, from now until the process ends. */
  onSignal(listener: (signal: 'SIGTERM' | 'SIGINT') => void): void;
  /** Ends the process now; returns before it is over. */
  exit(code: number): void;
  /** Ends it by force when it is still there after this long, whatever this thread does. */
  endWithin(ms: number): void;
}
