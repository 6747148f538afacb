// The ledger, as handlers ask it. Amounts are in the unit of a counter: requests, tokens, or millionths of a cent.

export interface SpendService {
  /** The sum of a counter since its last reset; 0 for one that does not exist. */
  used(counterKey: string): number;
  /** It counts from 0 again; resolves when calls obey that. */
  reset(counterKey: string): void | Promise<void>;
  /** The counters of a policy that hold anything, in the order of their value keys. */
  entitiesOf(policyId: string): AsyncIterable<SpendEntity>;
}

export interface SpendEntity {
  readonly valueKey: string;
  readonly used: number;
  /** Alerts that were sent since the last reset. */
  readonly isThresholdTold: boolean;
  readonly isExhaustedTold: boolean;
}
