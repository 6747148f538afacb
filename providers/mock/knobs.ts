// Behaviour asked for in the model name: `mock?latency_ms=50&chunks=20`. A knob that is unknown or no number is a fault, so that a test never
// runs on a misspelt one.

export interface Knobs {
  /** Before the head of the answer. */
  readonly latency_ms: number;
  /** Between two pieces of the answer. */
  readonly chunk_ms: number;
  /** Content deltas of a streamed answer; 0: one for each word of the text. */
  readonly chunks: number;
  /** Characters of content; 0: the echo of the last user message. */
  readonly bytes: number;
  /** Bytes of one written piece, so that events are cut anywhere; 0: one event a piece. */
  readonly cut: number;
  /** Status of every answer: 200, or that of a failure. */
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

const tenMinutesMs = 600_000;
const maxima: Readonly<Record<keyof Knobs, number>> = {
  latency_ms: tenMinutesMs, chunk_ms: tenMinutesMs, chunks: 1_000_000, bytes: 10_000_000, cut: 1_000_000, status: 599, retry_after: 86_400,
  fail_first: 1_000_000, break_after: 1_000_000, endless: 1,
};

const isKnob = (name: string): name is keyof Knobs => Object.hasOwn(defaults, name);

/** Longest key that names a counter. */
const keyCharactersMax = 200;

export interface Asked {
  readonly knobs: Knobs;
  /** Names the counter of `fail_first`. */
  readonly key: string;
  readonly fault: string | undefined;
}

const misread = (fault: string): Asked => ({ knobs: defaults, key: '', fault });

export function readKnobs(model: unknown): Asked {
  const start = typeof model === 'string' ? model.indexOf('?') : -1;
  if (typeof model !== 'string' || start === -1) return { knobs: defaults, key: '', fault: undefined };
  const values: Record<keyof Knobs, number> = { ...defaults };
  let key = '';
  for (const [name, text] of new URLSearchParams(model.slice(start + 1))) {
    if (name === 'key') {
      if (text.length > keyCharactersMax) return misread(`key must have at most ${keyCharactersMax} characters`);
      key = text;
      continue;
    }
    if (!isKnob(name)) return misread(`unknown knob ${name.slice(0, 40)}; knobs are ${[...Object.keys(defaults), 'key'].join(', ')}`);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value > maxima[name]) return misread(`knob ${name} must be a whole number from 0 to ${maxima[name]}`);
    values[name] = value;
  }
  if (values.status !== 200 && values.status < 400) return misread('knob status must be 200, or from 400 to 599');
  return { knobs: values, key, fault: undefined };
}
