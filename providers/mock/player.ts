// Plays a prepared answer to a listener: head after a latency, then piece after piece, as a provider on the network would, with pause, resume
// and cancel. A paused answer makes nothing, so nothing piles up.

import type { UpstreamCall, UpstreamListener } from '@gateway/plugin-sdk';

export interface Score {
  readonly status: number;
  readonly headers: readonly string[];
  /** The pieces of the body; may be endless. */
  readonly pieces: Iterator<Uint8Array>;
  readonly latencyMs: number;
  readonly pieceMs: number;
  /** The answer breaks off after so many pieces; -1: it ends. */
  readonly breakAfter: number;
}

/** Pieces given in one go before other work gets its turn. */
const piecesAtOnce = 16;

export class Player implements UpstreamCall {
  #timeout: NodeJS.Timeout | undefined = undefined;
  #immediate: NodeJS.Immediate | undefined = undefined;
  #isPaused = false;
  #isWaiting = false;
  #isOver = false;
  #given = 0;

  constructor(readonly score: Score, readonly listener: UpstreamListener) {
    this.#after(score.latencyMs, () => {
      listener.onHead(score.status, score.headers);
      this.#next();
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused || this.#isOver) return;
    this.#isPaused = false;
    if (!this.#isWaiting) this.#after(0, () => this.#next());
  }

  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
  }

  #after(delayMs: number, work: () => void): void {
    this.#isWaiting = true;
    const run = (): void => {
      this.#isWaiting = false;
      if (!this.#isOver) work();
    };
    if (delayMs > 0) this.#timeout = setTimeout(run, delayMs);
    else this.#immediate = setImmediate(run);
  }

  #next(): void {
    const { score, listener } = this;
    for (let count = 0; count < piecesAtOnce; count += 1) {
      if (this.#isOver || this.#isPaused) return;
      if (score.breakAfter >= 0 && this.#given >= score.breakAfter) {
        this.#isOver = true;
        listener.onError(new Error('the mock was asked to break off'));
        return;
      }
      const step = score.pieces.next();
      if (step.done === true) {
        this.#isOver = true;
        listener.onEnd();
        return;
      }
      this.#given += 1;
      listener.onChunk(step.value);
      if (score.pieceMs > 0) break;
    }
    if (!this.#isPaused) this.#after(score.pieceMs, () => this.#next());
  }
}
