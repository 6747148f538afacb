// The file of a backup: JSON, one object a line. A header; rows, where a later line of the same row takes the place of an earlier one; the entries of
// the audit log; what counters of budgets hold; an end with counts and the SHA-256 of every byte before it. What is not known in a line of this format is refused.

/** Format 1 had no counters of budgets. */
export const backupFormat = 2;

export interface BackupHeader {
  readonly backup: number;
  /** Version of the gateway that made it. */
  readonly gateway: string;
  readonly made: string;
  /** The format of the rows of each table. */
  readonly tables: Readonly<Record<string, number>>;
  /** `sealed`: as they are stored, opened by the master key alone. `absent`: left out. */
  readonly secrets: 'sealed' | 'absent';
}

export interface BackupRow {
  readonly table: string;
  readonly id: string;
  /** Null: the row was removed while the backup was made. */
  readonly row: Readonly<Record<string, unknown>> | null;
}

export interface BackupAudit {
  /** Sequence and number. */
  readonly audit: readonly [number, number];
  /** As it is stored, in base64: the chain is over these bytes. */
  readonly packed: string;
  readonly hash: string;
}

export interface BackupSpend {
  /** The name of the counter. */
  readonly spend: string;
  readonly counted: 'cost' | 'tokens' | 'requests';
  /** The one that it is in, and what was told of it. */
  readonly period: number;
  readonly startMs: number;
  readonly told: number;
  /** In that period. Calls that were under way are in it at what was reserved for them, and counted as estimated. */
  readonly amount: number;
  readonly calls: number;
  readonly estimated: number;
}

export interface BackupEnd {
  readonly end: true;
  /** Of the commit that the backup is as of. */
  readonly sequence: number;
  readonly auditHash: string;
  /** Lines of each kind. */
  readonly rows: number;
  readonly audits: number;
  /** Since format 2. */
  readonly spends?: number;
  readonly sha256: string;
}

export type BackupLine = BackupHeader | BackupRow | BackupAudit | BackupSpend | BackupEnd;

/** Where what was spent is kept. */
export interface SpendingSource {
  read(): AsyncIterable<BackupSpend>;
}

export interface SpendingTarget {
  /** Forgets everything that was counted here. */
  clear(): Promise<void>;
  put(counters: readonly BackupSpend[]): Promise<void>;
}

export interface BackupSummary {
  readonly rows: number;
  readonly auditEntries: number;
  /** Rows whose secrets are not in it, as `integration <id>`. */
  readonly withoutSecrets: readonly string[];
  /** The fault of the audit log; undefined: it is whole. */
  readonly auditFault: string | undefined;
}
