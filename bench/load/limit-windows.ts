// Calls of several connections against rate limits, for as many windows as asked, and whether exactly as many passed in each as the limit says. Which window a call fell into is
// not guessed from clocks: each that passes is told how many are left, so in a window every number from the limit to nothing is told once, and no number twice. What the gateway
// tells is not believed alone: by this program's clock no window may hold more of the calls that began and ended in it than the limit, nor fewer when those at its edges are added.

import { Agent, request } from 'node:http';

export interface LimitedSeries {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the limit lets through in a window. */
  readonly limit: number;
  /** Windows begin at multiples of it since the Unix epoch; Infinity: all of the load is in one. */
  readonly windowMs: number;
}

export interface WindowLoad {
  readonly port: number;
  readonly series: readonly LimitedSeries[];
  readonly connections: number;
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number;
  /** So much longer at the most, where a busy machine has not come to the end of every limit. */
  readonly patienceMs?: number;
  /** Before the next call of a connection whose last one was refused. */
  readonly pauseMs: number;
  readonly onProgress?: (passed: number, refused: number) => void;
}

export interface SeriesFigures {
  readonly name: string;
  readonly limit: number;
  readonly passed: number;
  readonly refused: number;
  /** Answers that are neither 200 nor 429. */
  readonly others: number;
  /** Windows that were used up, by what calls were told. */
  readonly windows: number;
  /** Windows of the clock in which calls were refused. */
  readonly usedUp: number;
  /** Calls of windows that were not used up, such as the last one. */
  readonly rest: number;
  /** Undefined: as many passed in each window as the limit says. */
  readonly fault: string | undefined;
}

const callTimeoutMs = 30_000;
const body = '{"model":"gpt-test","messages":[{"role":"user","content":"hi"}]}';

interface Answer {
  readonly status: number;
  readonly left: number;
}

export async function loadWindows({ port, series, connections, untilMs, patienceMs = 0, pauseMs, onProgress }: WindowLoad): Promise<readonly SeriesFigures[]> {
  const told = series.map(({ limit }) => new Uint32Array(limit));
  const byClock = series.map(({ limit, windowMs }) => new ClockWindows(limit, windowMs));
  const refused = series.map(() => 0);
  const others = series.map(() => 0);
  let passed = 0;
  const isOver = (nowMs: number): boolean => nowMs >= untilMs && (nowMs >= untilMs + patienceMs || refused.every((count) => count > 0));
  const run = async (connection: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (let turn = connection; !isOver(Date.now()); turn += 1) {
        const index = turn % series.length;
        const fromMs = Date.now();
        const { status, left } = await call(port, (series[index] as LimitedSeries).headers, agent);
        if (status === 200 || status === 429) (byClock[index] as ClockWindows).add(fromMs, Date.now(), status === 200);
        const numbers = told[index] as Uint32Array;
        if (status === 200 && left >= 0 && left < numbers.length) {
          numbers[left] = (numbers[left] as number) + 1;
          passed += 1;
          continue;
        }
        if (status === 429) refused[index] = (refused[index] as number) + 1;
        else others[index] = (others[index] as number) + 1;
        if (pauseMs > 0) await new Promise((resolve) => { setTimeout(resolve, pauseMs); });
      }
    } finally {
      agent.destroy();
    }
  };
  const progress = onProgress === undefined ? undefined : setInterval(() => onProgress(passed, refused.reduce((sum, each) => sum + each, 0)), 60_000);
  try {
    await Promise.all(Array.from({ length: connections }, (_, index) => run(index)));
  } finally {
    clearInterval(progress);
  }
  return series.map(({ name, limit }, index) => {
    const figures = figuresOf(name, limit, told[index] as Uint32Array, refused[index] as number, others[index] as number);
    const { usedUp, fault } = byClock[index] as ClockWindows;
    return { ...figures, usedUp, fault: figures.fault ?? fault };
  });
}

/** Calls by the windows of this program's clock, which is the gateway's: both run on one machine. */
class ClockWindows {
  readonly #limit: number;
  readonly #windowMs: number;
  /** Calls that passed and began and ended in a window, by its number; and those that ended in a later one than they began in, under each of them. */
  readonly #within = new Map<number, number>();
  readonly #across = new Map<number, number>();
  /** Windows in which a call was refused that began in them too: used up, whatever a busy machine managed to send. */
  readonly #usedUp = new Set<number>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  add(fromMs: number, toMs: number, isPassed: boolean): void {
    const [first, last] = [Math.floor(fromMs / this.#windowMs), Math.floor(toMs / this.#windowMs)];
    if (!isPassed) {
      if (first === last) this.#usedUp.add(first);
      return;
    }
    const counts = first === last ? this.#within : this.#across;
    for (let window = first; window <= last; window += 1) counts.set(window, (counts.get(window) ?? 0) + 1);
  }

  get usedUp(): number {
    return this.#usedUp.size;
  }

  get fault(): string | undefined {
    const numbers = new Set([...this.#within.keys(), ...this.#across.keys(), ...this.#usedUp]);
    for (const window of [...numbers].sort((left, right) => left - right)) {
      const [within, across] = [this.#within.get(window) ?? 0, this.#across.get(window) ?? 0];
      const when = this.#windowMs === Infinity ? 'the window' : `the window of ${new Date(window * this.#windowMs).toISOString()}`;
      if (within > this.#limit) return `${within} calls passed in ${when}, and ${across} at its edges`;
      if (this.#usedUp.has(window) && within + across < this.#limit) return `calls were refused in ${when}, and only ${within + across} passed`;
    }
    return undefined;
  }
}

function figuresOf(name: string, limit: number, told: Uint32Array, refused: number, others: number): Omit<SeriesFigures, 'usedUp'> {
  const windows = told[0] ?? 0;
  const passed = told.reduce((sum, each) => sum + each, 0);
  let fault: string | undefined = others === 0 ? undefined : `${others} answers were neither 200 nor 429`;
  // A window may have been left before it was used up: its numbers are the upper ones.
  for (let left = 1; left < told.length; left += 1) {
    if ((told[left] as number) < (told[left - 1] as number)) fault ??= `${told[left]} calls were told that ${left} are left, and ${told[left - 1]} that ${left - 1} are`;
  }
  return { name, limit, passed, refused, others, windows, rest: passed - windows * limit, fault };
}

function call(port: number, headers: Readonly<Record<string, string>>, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', agent, timeout: callTimeoutMs, headers: { 'content-type': 'application/json', 'content-length': String(body.length), ...headers } }, (response) => {
      response.resume();
      const left = response.headers['x-ratelimit-remaining-requests'];
      response.once('end', () => resolve({ status: response.statusCode ?? 0, left: typeof left === 'string' ? Number(left) : -1 }));
      response.once('error', reject);
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', reject);
    sent.end(body);
  });
}
