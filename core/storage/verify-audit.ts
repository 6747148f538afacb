// Whether the audit log is whole: every entry goes into the hash of the next, and the head of the store knows the last one. Finds an entry that was
// changed, removed, put in between or moved, and entries removed at the end. Runs beside a gateway that goes on writing.

import { reasonOf } from '../errors/gateway-error.js';
import { auditHashOf, emptyAuditHash, type Repository } from './repository.js';

export interface AuditVerdict {
  /** Entries that are as they were written, from the first one on. */
  readonly entries: number;
  /** The hash of the last of them: written down elsewhere, it proves later that none of these was changed since. */
  readonly hash: string;
  /** The first thing that is wrong; undefined: all is well. */
  readonly fault: AuditFault | undefined;
}

export interface AuditFault {
  /** Where: the commit, and which of its entries. */
  readonly sequence: number;
  readonly number: number;
  readonly reason: string;
}

export async function verifyAudit(repository: Repository): Promise<AuditVerdict> {
  const head = await repository.head();
  let entries = 0;
  let hash = emptyAuditHash;
  let last = { sequence: 0, number: 0 };
  /** As the head must know it. */
  let hashAtHead = emptyAuditHash;
  const verdict = (reason?: string, at = last): AuditVerdict => ({ entries, hash, fault: reason === undefined ? undefined : { ...at, reason } });
  try {
    for await (const { sequence, number, packed, hash: told } of repository.audit()) {
      if (auditHashOf(hash, packed) !== told) return verdict('it was changed, or the entry before it was changed, removed or put in between', { sequence, number });
      entries += 1;
      hash = told;
      last = { sequence, number };
      if (sequence <= head.sequence) hashAtHead = told;
    }
  } catch (thrown) {
    return verdict(`what follows it cannot be read: ${reasonOf(thrown)}`);
  }
  if (hashAtHead !== head.auditHash) return verdict('entries behind it were removed, or the head of the store was changed');
  // Written while it was read, when they are newer than the head that was read first.
  if (last.sequence > (await repository.head()).sequence) return verdict('it is newer than the head of the store, which was put back or changed');
  return verdict();
}
