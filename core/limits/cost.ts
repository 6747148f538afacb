// The cost of a call: its usage times the rates of its model. On serving threads for calls under a cost limit, on the log thread for the others, and when history is
// priced again: one function, so that all of them say the same.

import type { Usage } from '../exchange/usage.js';
import { priceAt, type Rate, type Rates } from './prices.js';

/** The parts of a usage, or of a log record, that cost something. */
export type BilledUse = Pick<Usage, 'inputTokens' | 'outputTokens' | 'totalTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'inputAudioTokens' | 'inputImageTokens' | 'reasoningTokens' | 'outputAudioTokens' | 'outputImageTokens' | 'units'>;

/** Factors on prices, by kind (`pricing_adjustments`). */
export interface Adjustments {
  readonly byKind: Readonly<Record<string, number>>;
  readonly byUnit: Readonly<Record<string, number>>;
  readonly others: number;
}

export interface CostOptions {
  readonly isBatch?: boolean;
  readonly adjustments?: Adjustments | null;
}

/** The price of work in batches, as a share of the price for the same work at once. */
const batchFactor = 0.5;
/** One call costs no more: ten million dollars. */
export const centsMax = 1_000_000_000;

/** US cents; 0 where `rates` is null: the model has no price. An answer that told no usage costs nothing. */
export function costOf(rates: Rates | null, use: BilledUse, { isBatch = false, adjustments = null }: CostOptions = {}): number {
  if (rates === null || !tellsUsage(use)) return 0;
  const { tokens, units } = rates;
  const bill = new Bill(inputOf(use), adjustments);

  const cached = amount(use.cachedTokens);
  const written = amount(use.cacheWriteTokens);
  const audio = amount(use.inputAudioTokens);
  const image = amount(use.inputImageTokens);
  const video = unit(use, 'request_video_token');
  // Parts that are more than the whole overlap: sound and images that were cached, where the provider does not say so.
  const toldAudio = Math.min(unit(use, 'cache_read_audio_input_token'), cached, audio);
  const toldImage = Math.min(unit(use, 'cache_read_image_input_token'), cached - toldAudio, image);
  const overlap = bill.inputTokens === 0 ? 0 : amount(cached + written + audio + image + video - bill.inputTokens - toldAudio - toldImage);
  const cachedAudio = Math.min(toldAudio + overlap, cached - toldImage, audio);
  const cachedImage = Math.min(toldImage + overlap - (cachedAudio - toldAudio), cached - cachedAudio, image);
  const longWritten = Math.min(unit(use, 'cache_write_1h_input_token'), written);
  const plainInput = tokens.request_token;
  bill.add('request_token', bill.inputTokens - cached - written - video - (audio - cachedAudio) - (image - cachedImage), plainInput);
  bill.add('cache_read_input_token', cached - cachedAudio - cachedImage, tokens.cache_read_input_token ?? plainInput);
  bill.add('cache_read_audio_input_token', cachedAudio, tokens.cache_read_audio_input_token ?? tokens.cache_read_input_token ?? tokens.request_audio_token ?? plainInput);
  bill.add('cache_read_image_input_token', cachedImage, tokens.cache_read_image_input_token ?? tokens.cache_read_input_token ?? tokens.request_image_token ?? plainInput);
  bill.add('cache_write_input_token', written - longWritten, tokens.cache_write_input_token ?? plainInput);
  bill.add('cache_write_1h_input_token', longWritten, units.cache_write_1h_input_token ?? tokens.cache_write_input_token ?? plainInput);
  bill.add('request_audio_token', audio - cachedAudio, tokens.request_audio_token ?? plainInput);
  bill.add('request_image_token', image - cachedImage, tokens.request_image_token ?? plainInput);
  bill.add('request_video_token', video, units.request_video_token ?? plainInput);

  const reasoning = amount(use.reasoningTokens);
  const outputAudio = amount(use.outputAudioTokens);
  const outputImage = amount(use.outputImageTokens);
  const outputVideo = unit(use, 'response_video_token');
  const citation = unit(use, 'citation_token');
  const plainOutput = tokens.response_token;
  bill.add('response_token', amount(use.outputTokens) - reasoning - outputAudio - outputImage - outputVideo - citation, plainOutput);
  bill.add('reasoning_token', reasoning, tokens.reasoning_token ?? plainOutput);
  bill.add('response_audio_token', outputAudio, tokens.response_audio_token ?? plainOutput);
  bill.add('response_image_token', outputImage, tokens.response_image_token ?? plainOutput);
  bill.add('response_video_token', outputVideo, units.response_video_token ?? plainOutput);
  bill.add('citation_token', citation, units.citation_token ?? plainOutput);

  bill.addUnit('request', 1, units.request);
  if (use.units !== null) {
    for (const [name, count] of Object.entries(use.units)) {
      if (!tokenUnits.has(name)) bill.addUnit(name, count, name === 'audio_hour' ? units.request_audio_hour ?? units.audio_hour : units[name]);
    }
  }
  return bounded(isBatch ? bill.cents * batchFactor : bill.cents);
}

/** False: the provider did not say what is to be paid for. */
export function tellsUsage(use: BilledUse): boolean {
  return use.inputTokens >= 0 || use.outputTokens >= 0 || use.totalTokens >= 0 || use.units !== null;
}

/** Of `pricing_adjustments` of an integration; null where they change nothing. */
export function adjustmentsOf(given: Readonly<Record<string, unknown>> | null): Adjustments | null {
  const multiplier: Readonly<Record<string, unknown>> = Object(Object(given).multiplier);
  const byKind = factorsOf(multiplier);
  const byUnit = factorsOf(Object(multiplier.additional_units));
  const others = byKind.default ?? 1;
  delete byKind.default;
  return others === 1 && Object.keys(byKind).length === 0 && Object.keys(byUnit).length === 0 ? null : Object.freeze({ byKind, byUnit, others });
}

class Bill {
  cents = 0;

  constructor(readonly inputTokens: number, readonly adjustments: Adjustments | null) {}

  add(kind: string, count: number, rate: Rate | undefined): void {
    if (rate === undefined || count <= 0) return;
    const cents = bounded(count * priceAt(rate, this.inputTokens));
    const { adjustments } = this;
    this.cents += adjustments === null ? cents : bounded(cents * (adjustments.byKind[kind] ?? adjustments.byKind[otherNames[kind] ?? ''] ?? adjustments.others));
  }

  addUnit(name: string, count: number, rate: Rate | undefined): void {
    if (rate === undefined || !(count > 0)) return;
    const cents = bounded(count * priceAt(rate, this.inputTokens));
    this.cents += this.adjustments === null ? cents : bounded(cents * (this.adjustments.byUnit[name] ?? this.adjustments.others));
  }
}

/** Ordinary tokens are those of text: a factor for these counts where there is none for the ordinary ones; what is written for an hour is written. */
const otherNames: Readonly<Record<string, string>> = {
  request_token: 'request_text_token', response_token: 'response_text_token', cache_read_input_token: 'cache_read_text_input_token', cache_write_input_token: 'cache_write_text_input_token',
  cache_write_1h_input_token: 'cache_write_input_token',
};
/** Units that are tokens, and part of the counts of these. */
const tokenUnits: ReadonlySet<string> = new Set(['request_video_token', 'response_video_token', 'cache_read_audio_input_token', 'cache_read_image_input_token', 'cache_write_1h_input_token', 'citation_token']);

/** Whoever states prices without measure gets no sum that counters and the ledger cannot hold, and nothing that is not a number. */
const bounded = (cents: number): number => (cents >= 0 ? Math.min(cents, centsMax) : 0);
const amount = (count: number): number => (count > 0 ? count : 0);
const unit = ({ units }: BilledUse, name: string): number => amount(units?.[name] ?? 0);

/** Some providers tell the total alone, where there is input only. */
function inputOf({ inputTokens, outputTokens, totalTokens }: BilledUse): number {
  return inputTokens >= 0 ? inputTokens : amount(totalTokens - amount(outputTokens));
}

function factorsOf(given: Readonly<Record<string, unknown>>): Record<string, number> {
  const factors: Record<string, number> = {};
  for (const [kind, factor] of Object.entries(given)) if (typeof factor === 'number' && factor >= 0) factors[kind] = factor;
  return factors;
}
