// Hot: runs for each call with a limit of tokens or cost.
// How many tokens a call will use, before anybody knows: of its input by the length of its body, of its output by what it asks for at most.

import type { Exchange } from '../exchange/exchange.js';

const bytesPerToken = 4;
/** Texts that are not prose (pictures, sound, files) count as so many tokens, however long. */
const mediaTokens = 1_000;
/** Bodies up to this length are text for the most part: nobody looks. */
const plainBytesMax = 16_384;
/** A text without a blank in its first characters that is longer than this is not prose. */
const proseCharsMax = 4_096;
const blankWithin = 512;
const levelsMax = 32;
/** That a call can ask for at once. */
const answersMax = 128;

export interface Estimate {
  /** -1: nobody has looked yet. */
  input: number;
  output: number;
  /** The call says itself how long its output may be. */
  isStated: boolean;
  /** Its answer is text that somebody generates, however long it is to be at most. */
  isGenerating: boolean;
}

/** Endpoints whose answers are text that somebody generates; others have an input alone. */
const generating: ReadonlySet<string> = new Set(['chatCompletions', 'completions', 'messages', 'responses', 'proxy']);

export function estimate(exchange: Exchange, outputTokens: number): Estimate {
  const { head, bytes, route } = exchange;
  if (!head.hasBody) return { input: 0, output: 0, isStated: true, isGenerating: false };
  const input = bytes.length > 0 ? inputTokens(exchange) : Math.ceil(Math.max(0, head.contentLength) / bytesPerToken);
  if (!generating.has(route.name)) return { input, output: 0, isStated: true, isGenerating: false };
  const body = exchange.isJson ? exchange.json() : nothing;
  // Of several the largest: which of them the provider goes by is its own affair.
  const stated = Math.max(countOf(body.max_completion_tokens), countOf(body.max_tokens), countOf(body.max_output_tokens));
  const answers = Math.max(1, Math.min(Math.max(countOf(body.n), countOf(body.best_of)), answersMax));
  return { input, output: (stated === -1 ? outputTokens : stated) * answers, isStated: stated !== -1, isGenerating: true };
}

const nothing: Readonly<Record<string, unknown>> = Object.freeze({});

/** -1: it is none. */
const countOf = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1);

function inputTokens(exchange: Exchange): number {
  const { length } = exchange.bytes;
  if (length <= plainBytesMax || !exchange.isJson) return Math.ceil(length / bytesPerToken);
  const media = new Media();
  media.look(exchange.json(), 0);
  return Math.ceil(Math.max(0, length - media.chars) / bytesPerToken) + media.count * mediaTokens;
}

class Media {
  chars = 0;
  count = 0;

  look(value: unknown, level: number): void {
    if (typeof value === 'string') {
      if (value.length <= proseCharsMax || value.slice(0, blankWithin).includes(' ')) return;
      this.chars += value.length;
      this.count += 1;
    } else if (typeof value === 'object' && value !== null && level < levelsMax) {
      for (const each of Array.isArray(value) ? value as readonly unknown[] : Object.values(value)) if (typeof each === 'string' || typeof each === 'object') this.look(each, level + 1);
    }
  }
}
