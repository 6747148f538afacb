// What a record in a ring is made of; one file writes it (record-writer.ts), one reads it (record-reader.ts), both in one process. A fixed part; numbers that few
// calls have, where one of them is there; what limits counted; then texts, each with a tag (text.ts), of which only those are there that are not empty. More is added at the end
// of the fixed part, or under a new tag.

import { utf8Tags } from './text.js';

/** Grows with each change of the layout. */
export const recordFormat = 4;

/** Offsets in bytes: times, tokens, sizes and the price are doubles, flags to generation words of 32 bits. */
export const at = {
  length: 0,
  /** `recordFormat`, and above it where the texts begin. */
  format: 4,
  startedAtMs: 8, firstByteMs: 16, tookMs: 24, upstreamMs: 32,
  inputTokens: 40, outputTokens: 48, totalTokens: 56, cachedTokens: 64, reasoningTokens: 72,
  requestBytes: 80, responseBytes: 88,
  /** What the call cost; negative while nobody knows. */
  price: 96,
  flags: 104, status: 108,
  // 16 bits each.
  attempts: 112, targetIndex: 114,
  generation: 116,
  // Numbers in the dictionary, 16 bits each.
  organisationId: 120, workspaceId: 122, keyId: 124, endpoint: 126, method: 128, provider: 130, model: 132, targetPath: 134,
  errorCode: 136, cacheStatus: 138, finishReason: 140,
  /** How many texts follow. */
  textCount: 142,
  // Ids as bytes.
  id: 144, traceId: 160, spanId: 176, parentSpanId: 184,
  // As above.
  configId: 192, configVersionId: 194, providerSlug: 196,
  /** 16 bits. */
  retries: 198,
} as const;
export const fixedBytes = 200;
/** Behind the fixed part, as doubles; only with `flag.hasMore`. */
export const more = { cacheWriteTokens: 200, inputAudioTokens: 208, inputImageTokens: 216, outputAudioTokens: 224, outputImageTokens: 232, saved: 240 } as const;
export const moreBytes = 48;
/**
 * Behind these, as doubles, only with `flag.hasLimits`: how many limits there are, and where in the text of decisions they belong; then of each its number in
 * the dictionary, its count before the call, and the one after it.
 */
export const limitsAt = { count: 0, position: 8, first: 16 } as const;
export const limitAt = { told: 0, before: 8, after: 16 } as const;
export const limitBytes = 24;

/** Bits of `flags`. How an id is written takes two: text with a tag (or nothing), hex, UUID, or the same as `id`. */
export const flag = { isStream: 1, endedShift: 1, idShift: 3, traceIdShift: 5, spanIdShift: 7, parentSpanIdShift: 9, isLeft: 2048, isPriced: 4096, hasMore: 8192, hasBodies: 16_384, hasLimits: 32_768 } as const;
export const idForm = { text: 0, hex: 1, uuid: 2, same: 3 } as const;
export const endings = ['complete', 'client', 'upstream', 'gateway'] as const;

export const tag = {
  id: 1, traceId: 2, spanId: 3, parentSpanId: 4, spanName: 5, organisationId: 6, workspaceId: 7, keyId: 8, endpoint: 9, method: 10, path: 11, provider: 12,
  model: 13, targetPath: 14, errorCode: 15, cacheStatus: 16, finishReason: 17, metadata: 18, hookResults: 19, configId: 20, configVersionId: 21,
  providerSlug: 22, promptSlug: 23, promptId: 24, promptVersionId: 25, decision: 26,
} as const;

/** What was kept of bodies and headers, in the order of these, as UTF-8 (text.ts). What is the same as another one stands once: the request that went up as the client's. */
export const bodyNames = ['requestHeaders', 'request', 'upstreamUrl', 'upstreamHeaders', 'upstreamRequest', 'upstreamResponse', 'responseHeaders', 'response'] as const;
export const bodyTag = { first: utf8Tags, sameRequest: 136, sameResponse: 137 } as const;
