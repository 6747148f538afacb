/** What an answer said about itself. Numbers are -1, texts empty where it said nothing. */
export interface Usage {
  readonly model: string;
  readonly finishReason: string;
  /** All of the input, what a cache was read or written for included, whatever the provider's own count leaves out. */
  readonly inputTokens: number;
  /** All of the output, reasoning included. */
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Of `inputTokens`: read from the provider's cache, written to it, sound, images. */
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly inputAudioTokens: number;
  readonly inputImageTokens: number;
  /** Of `outputTokens`. */
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
  readonly outputImageTokens: number;
  /** What is billed beside or within these, by the names of its rates (limits/prices.ts): `web_search`. Null for most. */
  readonly units: Readonly<Record<string, number>> | null;
  /** The answer says that it was made in a batch. */
  readonly isBatch: boolean;
}

export const noUsage: Usage = Object.freeze({
  model: '', finishReason: '', inputTokens: -1, outputTokens: -1, totalTokens: -1, cachedTokens: -1, cacheWriteTokens: -1, inputAudioTokens: -1, inputImageTokens: -1,
  reasoningTokens: -1, outputAudioTokens: -1, outputImageTokens: -1, units: null, isBatch: false,
});
