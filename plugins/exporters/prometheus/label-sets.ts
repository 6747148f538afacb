// Which providers and models get series of their own. Clients choose the names of models, so the number of series must not be theirs to choose:
// beyond a limit, what is new counts as `other`. A pair that has never answered well has a small share of the room, and none of the rest.

export const otherLabel = 'other';
/** Of the room, for pairs that have never answered well. */
const untriedShare = 8;
const labelCharsMax = 128;

export interface PairLabels {
  readonly provider: string;
  readonly model: string;
}

export class LabelSets {
  /** Records that were counted under `other`. */
  overflowed = 0;
  readonly #proven = new Map<string, PairLabels>();
  readonly #untried = new Map<string, PairLabels>();
  readonly #providers = new Set<string>();
  readonly #untriedMax: number;
  readonly #providersMax: number;

  constructor(readonly pairsMax: number) {
    this.#untriedMax = Math.max(1, Math.floor(pairsMax / untriedShare));
    this.#providersMax = pairsMax;
  }

  labelsOf(provider: string, model: string, isSuccess: boolean): PairLabels {
    const key = `${provider} ${model}`;
    const known = this.#proven.get(key);
    if (known !== undefined) return known;
    const untried = this.#untried.get(key);
    if (untried !== undefined) {
      if (isSuccess && this.#proven.size < this.pairsMax) {
        this.#untried.delete(key);
        this.#proven.set(key, untried);
      }
      return untried;
    }
    const [room, maximum] = isSuccess ? [this.#proven, this.pairsMax] : [this.#untried, this.#untriedMax];
    if (room.size >= maximum || model.length > labelCharsMax || provider.length > labelCharsMax) {
      this.overflowed += 1;
      return { provider: this.#providers.has(provider) ? provider : otherLabel, model: otherLabel };
    }
    const labels = { provider, model };
    room.set(key, labels);
    if (this.#providers.size < this.#providersMax) this.#providers.add(provider);
    return labels;
  }
}
