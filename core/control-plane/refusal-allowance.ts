// How many calls that changed nothing are recorded in the audit log: enough to see what somebody tries, not so many that the log fills the disk. What is
// not recorded is counted, and the next record tells how many there were.

/** At once, and then one more in each span. */
const burstMax = 200;
const spanMs = 10_000;
/** Of one key, so that it leaves room for the others. */
const keyBurstMax = 50;
const keysMax = 10_000;

interface Bucket {
  left: number;
  atMs: number;
}

export class RefusalAllowance {
  readonly #all: Bucket = { left: burstMax, atMs: 0 };
  readonly #keys = new Map<string, Bucket>();
  #unrecorded = 0;

  /** How many were not recorded since the last that was; undefined: this one is not. */
  take(keyId: string, nowMs: number): number | undefined {
    let bucket = this.#keys.get(keyId);
    if (bucket === undefined) {
      // A bucket that is forgotten is a full one again; the common one bounds them all.
      if (this.#keys.size >= keysMax) this.#keys.clear();
      this.#keys.set(keyId, bucket = { left: keyBurstMax, atMs: nowMs });
    }
    refill(bucket, nowMs, keyBurstMax);
    refill(this.#all, nowMs, burstMax);
    if (bucket.left < 1 || this.#all.left < 1) {
      this.#unrecorded += 1;
      return undefined;
    }
    bucket.left -= 1;
    this.#all.left -= 1;
    const unrecorded = this.#unrecorded;
    this.#unrecorded = 0;
    return unrecorded;
  }
}

function refill(bucket: Bucket, nowMs: number, leftMax: number): void {
  bucket.left = Math.min(leftMax, bucket.left + Math.max(0, nowMs - bucket.atMs) / spanMs);
  bucket.atMs = nowMs;
}
