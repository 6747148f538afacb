// What the control store holds, one table for each kind of row. `fields` is what a row must look like when it is read: rows come from a
// disk that other versions wrote to. Raise `format` when a field is added, removed or changes its meaning, and teach repository.ts to
// bring older rows up.

export interface OrganisationRow {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the Unix epoch, as all times in rows. */
  readonly createdAtMs: number;
}

export interface WorkspaceRow {
  readonly id: string;
  readonly organisationId: string;
  readonly slug: string;
  readonly name: string;
  readonly createdAtMs: number;
}

export const keyTypes = ['organisation-service', 'workspace-service', 'workspace-user'] as const;
export type KeyType = (typeof keyTypes)[number];

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly type: KeyType;
  readonly organisationId: string;
  /** Null for a key of the organisation. */
  readonly workspaceId: string | null;
  readonly scopes: readonly string[];
  /** SHA-256 of the key in lower-case hex. The key itself is stored nowhere. */
  readonly keyHash: string;
  /** The first characters of the key, to tell keys apart by eye. */
  readonly keyPrefix: string;
  /** An exhausted key still identifies its owner; the budget check refuses the call. */
  readonly status: 'active' | 'exhausted';
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/** Which rows the first start made; there is one, under the id `first`. */
export interface BootstrapRow {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly adminKeyId: string;
  readonly apiKeyId: string;
}

export interface Table<R extends { readonly id: string }> {
  readonly name: string;
  readonly format: number;
  readonly fields: { readonly [K in keyof R & string]: (value: unknown) => boolean };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isOneOf = (values: readonly string[]) => (value: unknown): boolean => typeof value === 'string' && values.includes(value);
const isNullOr = (check: (value: unknown) => boolean) => (value: unknown): boolean => value === null || check(value);

export const organisations: Table<OrganisationRow> = {
  name: 'organisation', format: 1,
  fields: { id: isFilled, name: isText, createdAtMs: isTime },
};
export const workspaces: Table<WorkspaceRow> = {
  name: 'workspace', format: 1,
  fields: { id: isFilled, organisationId: isFilled, slug: isText, name: isText, createdAtMs: isTime },
};
export const apiKeys: Table<ApiKeyRow> = {
  name: 'api-key', format: 1,
  fields: {
    id: isFilled, name: isText, type: isOneOf(keyTypes), organisationId: isFilled, workspaceId: isNullOr(isFilled),
    scopes: (value) => Array.isArray(value) && value.every(isText),
    keyHash: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
    keyPrefix: isFilled, status: isOneOf(['active', 'exhausted']), createdAtMs: isTime, expiresAtMs: isNullOr(isTime),
  },
};
export const bootstraps: Table<BootstrapRow> = {
  name: 'bootstrap', format: 1,
  fields: { id: isFilled, organisationId: isFilled, workspaceId: isFilled, adminKeyId: isFilled, apiKeyId: isFilled },
};
