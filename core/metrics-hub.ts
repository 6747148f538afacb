// Where the main thread brings together what `GET /metrics` says: the figures of every thread, asked for by message, and the text that an exporter
// makes of them on the log thread. No loop waits for another one: a thread that does not answer in time is left out, and said to be.

import type { ThreadFigures } from '@gateway/plugin-sdk';
import { reasonOf } from './errors/gateway-error.js';
import type { Scraped } from './telemetry/figures.js';

/** A thread has this long to say its figures. */
export const figuresMsMax = 500;
/** The log thread has this long to make the text. */
export const textMsMax = 3_000;
/** Both, for the thread that has the client. */
export const scrapeMsMax = 4_000;

export const lateScrape: Scraped = { kind: 'failed', reason: `it took longer than ${scrapeMsMax} ms` };

export interface MetricsSources {
  /** Never rejects. */
  figures(): readonly (ThreadFigures | Promise<ThreadFigures>)[];
  /** On the log thread. */
  text(threads: readonly ThreadFigures[]): Promise<Scraped>;
}

export class MetricsHub {
  #running: Promise<Scraped> | null = null;

  constructor(readonly sources: MetricsSources) {}

  /** Never rejects. Whoever asks while an answer is being made gets the same one. */
  scrape(): Promise<Scraped> {
    return this.#running ??= this.#scrape().finally(() => { this.#running = null; });
  }

  async #scrape(): Promise<Scraped> {
    try {
      return await this.sources.text(await Promise.all(this.sources.figures()));
    } catch (thrown) {
      return { kind: 'failed', reason: reasonOf(thrown) };
    }
  }
}
