// Secret references as calls use them, and their current values. Printing, logging or serialising them shows no secret.

import type { SecretDocument } from '@gateway/plugin-sdk';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { placeOf } from '../storage/open-rows.js';
import { Secret, type Sealer } from '../storage/sealer.js';
import { isOpenTo, secretReferences, type SecretReferenceRow } from '../storage/tables/secret-references.js';

export class StoredReference {
  readonly #row: SecretReferenceRow;
  /** JSON of the credentials for its manager. */
  readonly auth: Secret;
  /** Hash of manager, path and credentials: when it changes, the value must be read again. */
  readonly fingerprint: string;

  /** Throws SETTINGS_INVALID when its secrets do not open. */
  constructor(row: SecretReferenceRow, sealer: Sealer) {
    this.#row = row;
    const sealed: object = row.sealedAuth === null ? {} : JSON.parse(sealer.open(row.sealedAuth, placeOf(secretReferences, row.id, 'sealedAuth')));
    const auth = JSON.stringify({ ...row.authConfig, ...sealed });
    this.auth = new Secret(auth);
    this.fingerprint = createHash('sha256').update(JSON.stringify([row.managerId, row.path, auth])).digest('base64url');
    Object.freeze(this);
  }

  get id(): string {
    return this.#row.id;
  }

  get organisationId(): string {
    return this.#row.organisationId;
  }

  get slug(): string {
    return this.#row.slug;
  }

  get managerId(): string {
    return this.#row.managerId;
  }

  get path(): string {
    return this.#row.path;
  }

  /** Member of the document that holds the value; null: the document is one value, or the mapping names the member. */
  get key(): string | null {
    return this.#row.key;
  }

  isOpenTo(workspaceId: string): boolean {
    return isOpenTo(this.#row, workspaceId);
  }
}

/** The document from a manager, or the reason why there is none. A new object whenever that changes. */
export class SecretValue {
  readonly #document: SecretDocument | null;

  /** `reason`: empty when there is a value. */
  constructor(document: SecretDocument | null, readonly reason: string) {
    this.#document = document;
    Object.freeze(this);
  }

  /** Null: there is none. */
  reveal(): SecretDocument | null {
    return this.#document;
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
