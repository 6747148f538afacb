// Calls of several connections against rate limits, for as many windows as asked, and whether exactly as many passed in each as the limit says. Which window a call fell into is
// not guessed from clocks: each that passes is told how many are left, so in a window every number from the limit to nothing is told once, and no number twice.

import { Agent, request } from 'node:http';

export interface LimitedSeries {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the limit lets through in a window. */
  readonly limit: number;
}

export interface WindowLoad {
  readonly port: number;
  readonly series: readonly LimitedSeries[];
  readonly connections: number;
  /** Milliseconds since the Unix epoch. */
  readonly untilMs: number;
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
  /** Windows that were used up. */
  readonly windows: number;
  /** Calls of the window that was not used up when the load ended. */
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

export async function loadWindows({ port, series, connections, untilMs, pauseMs, onProgress }: WindowLoad): Promise<readonly SeriesFigures[]> {
  const told = series.map(({ limit }) => new Uint32Array(limit));
  const refused = series.map(() => 0);
  const others = series.map(() => 0);
  let passed = 0;
  const run = async (connection: number): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (let turn = connection; Date.now() < untilMs; turn += 1) {
        const index = turn % series.length;
        const { status, left } = await call(port, (series[index] as LimitedSeries).headers, agent);
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
  return series.map(({ name, limit }, index) => figuresOf(name, limit, told[index] as Uint32Array, refused[index] as number, others[index] as number));
}

function figuresOf(name: string, limit: number, told: Uint32Array, refused: number, others: number): SeriesFigures {
  const windows = told[0] ?? 0;
  const passed = told.reduce((sum, each) => sum + each, 0);
  let fault: string | undefined = others === 0 ? undefined : `${others} answers were neither 200 nor 429`;
  // The last window may have been left before it was used up: its numbers are the upper ones.
  for (let left = 1; left < told.length; left += 1) {
    const more = (told[left] as number) - windows;
    if (more < 0 || more > 1 || (told[left] as number) < (told[left - 1] as number)) fault ??= `${told[left]} calls were told that ${left} are left, and ${told[left - 1]} that ${left - 1} are`;
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
