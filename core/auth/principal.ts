// Who a call is made for, and where that is looked up. The rows behind it are storage's business.

import type { Principal } from '../snapshot/principal.js';

export type { Principal } from '../snapshot/principal.js';

/** The part of the snapshot that authentication needs; both are read synchronously, on each call. */
export interface KeyLookup {
  principalByKeyHash(hash: string): Principal | undefined;
  /** A quick no: false when no key begins as `text` does. */
  mayBeKey(text: string): boolean;
  /** Every key begins with one of these; few, since generated keys have one in common. */
  keyBeginnings(): readonly string[];
}
