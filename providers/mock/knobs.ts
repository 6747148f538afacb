// Behaviour asked for in the model name: `mock?latency_ms=50&chunks=20`. A knob that is unknown or no number is a fault, so that a test never
// runs on a misspelt one.

export interface Knobs {
  /** Before the head of the answer. */
  readonly latency_ms: number;
  /** Between two chunks of the answer. */
  readonly chunk_ms: number;
  /** Content deltas of a streamed answer; 0: one for each word of the text. */
  readonly chunks: number;
  /** Characters of content; 0: the echo of the last user message. */
  readonly bytes: number;
  /** Bytes of one written piece, so that events are cut anywhere; 0: one event a piece. */
  readonly cut: number;
  /** Status of every answer. */
  readonly status: number;
  /** Seconds for a retry-after header on failures; -1: none. */
  readonly retry_after: number;
  /** This many calls with the same key fail first (with `status`, or 503). */
  readonly fail_first: number;
  /** The answer breaks off after this many pieces; -1: it ends. */
  readonly break_after: number;
  /** 1: a stream that never ends. */
  readonly endless: number;
}

const defaults: Knobs = { latency_ms: 0, chunk_ms: 0, chunks: 0, bytes: 0, cut: 0, status: 200, retry_after: -1, fail_first: 0, break_after: -1, endless: 0 };

/** Largest value of any knob: a minute of latency, 10 MB of content. */
const valueMax = 10_000_000;

export interface Asked {
  readonly knobs: Knobs;
  /** Names the counter of `fail_first`. */
  readonly key: string;
  readonly fault: string | undefined;
}

export function readKnobs(model: unknown): Asked {
  if (typeof model !== 'string' || !model.includes('?')) return { knobs: defaults, key: '', fault: undefined };
  const values: Record<string, number> = { ...defaults };
  let key = '';
  for (const [name, text] of new URLSearchParams(model.slice(model.indexOf('?') + 1))) {
    if (name === 'key') {
      key = text;
      continue;
    }
    const value = Number(text);
    if (!Object.hasOwn(defaults, name)) return { knobs: defaults, key, fault: `model: unknown knob ${name}; knobs are ${[...Object.keys(defaults), 'key'].join(', ')}` };
    if (text === '' || !Number.isInteger(value) || value < 0 || value > valueMax) return { knobs: defaults, key, fault: `model: knob ${name} must be a whole number from 0 to ${valueMax}` };
    values[name] = value;
  }
  const status = values.status ?? 200;
  if (status < 200 || status > 599) return { knobs: defaults, key, fault: 'model: knob status must be from 200 to 599' };
  return { knobs: { ...defaults, ...values }, key, fault: undefined };
}
