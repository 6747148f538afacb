// Which providers and models get series of their own. Clients choose the names of models, so the number of series must not be theirs to choose:
// beyond a limit, what is new counts as `other`. A pair that has never answered well has a small share of the room, and none of the rest. One that
// nobody called for long gives its place back when another wants it.

export const otherLabel = 'other';
/** Of the room, for pairs that have never answered well. */
const untriedShare = 8;
const labelCharsMax = 128;
/** A pair that nobody called for so long gives its place to another. */
const idleMs = 3_600_000;
/** All pairs are looked at no more often than that. */
const lookEveryMs = 60_000;

export interface PairLabels {
  readonly provider: string;
  readonly model: string;
}

interface Pair {
  readonly labels: PairLabels;
  seenAtMs: number;
}

export class LabelSets {
  /** Records that were counted under `other`. */
  overflowed = 0;
  readonly #proven = new Map<string, Pair>();
  readonly #untried = new Map<string, Pair>();
  readonly #providers = new Set<string>();
  readonly #untriedMax: number;
  readonly #providersMax: number;
  #lookedAtMs = -Infinity;

  /** `end` ends the series of these labels, for nobody called them for long. False: it does not, as they have something to tell yet. */
  constructor(readonly pairsMax: number, readonly now: () => number, readonly end: (labels: PairLabels) => boolean = () => true) {
    this.#untriedMax = Math.max(1, Math.floor(pairsMax / untriedShare));
    this.#providersMax = pairsMax;
  }

  labelsOf(provider: string, model: string, isSuccess: boolean): PairLabels {
    const key = `${provider} ${model}`;
    const known = this.#proven.get(key);
    if (known !== undefined) {
      known.seenAtMs = this.now();
      return known.labels;
    }
    const untried = this.#untried.get(key);
    if (untried !== undefined) {
      untried.seenAtMs = this.now();
      if (isSuccess && this.#hasRoom(this.#proven, this.pairsMax)) {
        this.#untried.delete(key);
        this.#proven.set(key, untried);
      }
      return untried.labels;
    }
    const [room, maximum] = isSuccess ? [this.#proven, this.pairsMax] : [this.#untried, this.#untriedMax];
    if (model.length > labelCharsMax || provider.length > labelCharsMax || !this.#hasRoom(room, maximum)) {
      this.overflowed += 1;
      return { provider: this.#providers.has(provider) ? provider : otherLabel, model: otherLabel };
    }
    const labels = { provider, model };
    room.set(key, { labels, seenAtMs: this.now() });
    if (this.#providers.size < this.#providersMax) this.#providers.add(provider);
    return labels;
  }

  #hasRoom(room: ReadonlyMap<string, Pair>, maximum: number): boolean {
    if (room.size < maximum) return true;
    const nowMs = this.now();
    // A clock that was set back is no reason to wait.
    if (nowMs >= this.#lookedAtMs && nowMs < this.#lookedAtMs + lookEveryMs) return false;
    this.#lookedAtMs = nowMs;
    for (const each of [this.#proven, this.#untried]) {
      for (const [key, { labels, seenAtMs }] of each) {
        if (nowMs - seenAtMs >= idleMs && this.end(labels)) each.delete(key);
      }
    }
    return room.size < maximum;
  }
}
