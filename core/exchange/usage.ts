/** What an answer said about itself. Numbers are -1, texts empty where it said nothing. */
export interface Usage {
  readonly model: string;
  readonly finishReason: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly inputAudioTokens: number;
  readonly inputImageTokens: number;
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
  readonly outputImageTokens: number;
}
