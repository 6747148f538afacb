/** The figures of the process for its metrics. Made for each question; nothing of it is kept up to date in between. */
export interface ProcessFigures {
  readonly threads: readonly ThreadFigures[];
  readonly exporters: readonly ExporterFigures[];
  readonly rings: readonly RingFigures[];
  readonly breakers: BreakerFigures;
}

export interface ThreadFigures {
  /** `serve-0`, `serve-1`, ..., `control`, `log`. */
  readonly name: string;
  /** False: it did not answer in time. Its figures are empty, 0 and null then. */
  readonly isAnswering: boolean;
  /** Counters by name, since the thread began: those of the gateway (`refused.KEY_INVALID`), and of plugins below their ids. */
  readonly counts: Readonly<Record<string, number>>;
  /** Calls under way; -1 where none are served. */
  readonly openCalls: number;
  /** By how much the event loop was late since the last question; null the first time. */
  readonly loopDelay: LoopDelay | null;
  /** Milliseconds in which the event loop did not wait, since the thread began. */
  readonly busyMs: number;
  readonly heapBytes: number;
  /** Circuit breakers that are not closed, of the targets that the thread has seen; other threads may tell of the same slot. */
  readonly broken: readonly BrokenTargetFigures[];
}

export interface BrokenTargetFigures {
  readonly slot: number;
  readonly provider: string;
  readonly state: 'open' | 'probing';
}

/** Milliseconds. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ExporterFigures {
  /** Id of the exporter; `id#2` for the second one with the id. */
  readonly name: string;
  /** Records that wait for it or are on their way, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Records since the start. */
  readonly exported: number;
  readonly dropped: number;
}

/** Records of one thread on their way to the exporters. */
export interface RingFigures {
  readonly thread: string;
  readonly waitingBytes: number;
  readonly sizeBytes: number;
}

/** Circuit breakers that are in use, over all threads. */
export interface BreakerFigures {
  readonly closed: number;
  readonly open: number;
  readonly probing: number;
}
