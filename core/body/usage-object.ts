// Runs once or twice at the end of each answer.
// Reads the token counts out of one usage object on the bytes, in the shapes of OpenAI's chat, completions, embeddings, responses, images and audio APIs, of Anthropic's
// messages, and of Bedrock's, Cohere's and Perplexity's own; other members are stepped over.

import { skipBlank, skipString, skipValue } from './cursor.js';
import { scalarAt } from './scan.js';

const quote = 0x22, comma = 0x2c, colon = 0x3a, braceOpen = 0x7b, braceClose = 0x7d;

/** -1 where nothing was said. */
export class TokenCounts {
  input = -1;
  output = -1;
  total = -1;
  cached = -1;
  reasoning = -1;
  cacheWrite = -1;
  inputAudio = -1;
  inputImage = -1;
  outputAudio = -1;
  outputImage = -1;
  /** By the names of their rates; null for most. */
  units: Record<string, number> | null = null;
  /** Anthropic and Bedrock count what a cache was read or written for beside the input. */
  isInputApart = false;
  /** The input came as `prompt_tokens`, in which that is counted even where its parts have Anthropic's names. */
  isPrompt = false;
  isBatch = false;
  /** `output` leaves out reasoning and citations. */
  isOutputApart = false;

  clear(): void {
    this.input = this.output = this.total = this.cached = this.reasoning = this.cacheWrite = -1;
    this.inputAudio = this.inputImage = this.outputAudio = this.outputImage = -1;
    this.units = null;
    this.isInputApart = this.isPrompt = this.isBatch = this.isOutputApart = false;
  }

  get isEmpty(): boolean {
    return this.input === -1 && this.output === -1 && this.total === -1 && this.units === null;
  }

  /** The beginning of the stream may say what this leaves out. */
  get isPartial(): boolean {
    return this.input === -1 || this.output === -1 || (this.isInputApart && this.cacheWrite > 0 && this.units === null);
  }

  /** What was read from and written to a cache beside the input. */
  get besideInput(): number {
    return this.isInputApart && !this.isPrompt ? Math.max(0, this.cached) + Math.max(0, this.cacheWrite) : 0;
  }

  /** What was put out beside the output. xAI's counts tell by their total that they do so. */
  get besideOutput(): number {
    const { reasoning, units } = this;
    if (this.isOutputApart || (reasoning > this.output && this.output !== -1)) return Math.max(0, reasoning) + (units === null ? 0 : units.citation_token ?? 0);
    return reasoning > 0 && this.total === this.input + this.output + reasoning ? reasoning : 0;
  }
}

/** The counts of the object at `at`, in `counts`; null when it is none, is cut off, or names no count. */
export function readTokenCounts(bytes: Buffer, at: number, counts: TokenCounts = new TokenCounts()): TokenCounts | null {
  // Many streams say null until the end.
  if (bytes[at] !== braceOpen) return null;
  counts.clear();
  return readObject(bytes, at, counts, ofUsage) === -1 || counts.isEmpty ? null : counts;
}

const bytesOf = (name: string): Uint8Array => Uint8Array.from(Buffer.from(name, 'latin1'));
const inputTokensDetails = bytesOf('input_tokens_details');
const inputTokenDetails = bytesOf('input_token_details');
const promptTokensDetails = bytesOf('prompt_tokens_details');
const outputTokensDetails = bytesOf('output_tokens_details');
const outputTokenDetails = bytesOf('output_token_details');
const completionTokensDetails = bytesOf('completion_tokens_details');
const cacheCreation = bytesOf('cache_creation');
const serverToolUse = bytesOf('server_tool_use');
const tokensOfCohere = bytesOf('tokens');
const cachedTokens = bytesOf('cached_tokens');
const cacheWriteTokens = bytesOf('cache_write_tokens');
const audioTokens = bytesOf('audio_tokens');
const imageTokens = bytesOf('image_tokens');
const videoTokens = bytesOf('video_tokens');
const reasoningTokens = bytesOf('reasoning_tokens');
const thinkingTokens = bytesOf('thinking_tokens');
const cachedTokensDetails = bytesOf('cached_tokens_details');
const citationTokens = bytesOf('citation_tokens');
const searchQueries = bytesOf('num_search_queries');
const searchUnits = bytesOf('search_units');
const webSearchRequests = bytesOf('web_search_requests');
const hourInputTokens = bytesOf('ephemeral_1h_input_tokens');
const seconds = bytesOf('seconds');
const promptAudioSeconds = bytesOf('prompt_audio_seconds');
const serviceTier = bytesOf('service_tier');
const batchTier = bytesOf('batch');
const inputTokens = bytesOf('input_tokens');
const totalTokens = bytesOf('total_tokens');
const promptTokens = bytesOf('prompt_tokens');
const outputTokens = bytesOf('output_tokens');
const completionTokens = bytesOf('completion_tokens');
const cacheReadInputTokens = bytesOf('cache_read_input_tokens');
const promptCacheHitTokens = bytesOf('prompt_cache_hit_tokens');
const cacheCreationInputTokens = bytesOf('cache_creation_input_tokens');
const bedrockInput = bytesOf('inputTokens');
const bedrockOutput = bytesOf('outputTokens');
const bedrockTotal = bytesOf('totalTokens');
const bedrockRead = bytesOf('cacheReadInputTokens');
const bedrockWritten = bytesOf('cacheWriteInputTokens');
const secondsPerHour = 3600;

/** Whose members an object has: those of the usage itself, or of what it says below. */
const ofUsage = 0, inputBelow = 1, outputBelow = 2, cacheBelow = 3, toolsBelow = 4, cachedBelow = 5, nothingBelow = 6;

/** Index behind the object at `at`; -1 when it is cut off or broken. One pass: its bytes are looked at once, by whoever needs them. */
function readObject(bytes: Buffer, at: number, counts: TokenCounts, level: number): number {
  let index = skipBlank(bytes, at + 1);
  if (bytes[index] === braceClose) return index + 1;
  for (;;) {
    if (bytes[index] !== quote) return -1;
    const keyStart = index;
    index = skipString(bytes, index);
    if (index === -1) return -1;
    const keyEnd = index;
    index = skipBlank(bytes, index);
    if (bytes[index] !== colon) return -1;
    index = skipBlank(bytes, index + 1);
    const byte = bytes[index];
    if (byte === braceOpen && (level === ofUsage || level === inputBelow)) {
      index = readObject(bytes, index, counts, level === ofUsage ? levelOf(bytes, keyStart, keyEnd) : levelBelowInput(bytes, keyStart, keyEnd));
    } else {
      const valueStart = index;
      index = skipValue(bytes, index);
      if (index !== -1 && level !== nothingBelow) take(bytes, keyStart, keyEnd, valueStart, index, counts, level);
    }
    if (index === -1) return -1;
    index = skipBlank(bytes, index);
    if (bytes[index] === braceClose) return index + 1;
    if (bytes[index] !== comma) return -1;
    index = skipBlank(bytes, index + 1);
  }
}

function levelOf(bytes: Buffer, keyStart: number, keyEnd: number): number {
  switch (keyEnd - keyStart - 2) {
    case 6: return isName(bytes, keyStart, tokensOfCohere) ? ofUsage : nothingBelow;
    case 14: return isName(bytes, keyStart, cacheCreation) ? cacheBelow : nothingBelow;
    case 15: return isName(bytes, keyStart, serverToolUse) ? toolsBelow : nothingBelow;
    case 19: return isName(bytes, keyStart, inputTokenDetails) ? inputBelow : nothingBelow;
    case 20:
      if (isName(bytes, keyStart, inputTokensDetails)) return inputBelow;
      return isName(bytes, keyStart, outputTokenDetails) ? outputBelow : nothingBelow;
    case 21:
      if (isName(bytes, keyStart, promptTokensDetails)) return inputBelow;
      return isName(bytes, keyStart, outputTokensDetails) ? outputBelow : nothingBelow;
    case 25: return isName(bytes, keyStart, completionTokensDetails) ? outputBelow : nothingBelow;
    default: return nothingBelow;
  }
}

function levelBelowInput(bytes: Buffer, keyStart: number, keyEnd: number): number {
  return keyEnd - keyStart - 2 === 21 && isName(bytes, keyStart, cachedTokensDetails) ? cachedBelow : nothingBelow;
}

function take(bytes: Buffer, keyStart: number, keyEnd: number, valueStart: number, valueEnd: number, counts: TokenCounts, level: number): void {
  const length = keyEnd - keyStart - 2;
  switch (level) {
    case inputBelow: takeInput(bytes, keyStart, length, valueStart, valueEnd, counts); return;
    case outputBelow: takeOutput(bytes, keyStart, length, valueStart, valueEnd, counts); return;
    case cachedBelow:
      if (length !== 12) return;
      if (isName(bytes, keyStart, audioTokens)) addUnits(counts, 'cache_read_audio_input_token', countAt(bytes, valueStart, valueEnd));
      else if (isName(bytes, keyStart, imageTokens)) addUnits(counts, 'cache_read_image_input_token', countAt(bytes, valueStart, valueEnd));
      return;
    case cacheBelow:
      if (length === 25 && isName(bytes, keyStart, hourInputTokens)) addUnits(counts, 'cache_write_1h_input_token', countAt(bytes, valueStart, valueEnd));
      return;
    case toolsBelow:
      if (length === 19 && isName(bytes, keyStart, webSearchRequests)) addUnits(counts, 'web_search', countAt(bytes, valueStart, valueEnd));
      return;
    default: takeCount(bytes, keyStart, length, valueStart, valueEnd, counts);
  }
}

function takeInput(bytes: Buffer, keyStart: number, length: number, valueStart: number, valueEnd: number, counts: TokenCounts): void {
  switch (length) {
    case 12:
      if (isName(bytes, keyStart, audioTokens)) counts.inputAudio = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, imageTokens)) counts.inputImage = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, videoTokens)) addUnits(counts, 'request_video_token', countAt(bytes, valueStart, valueEnd));
      return;
    case 13:
      if (isName(bytes, keyStart, cachedTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
      return;
    case 18:
      if (isName(bytes, keyStart, cacheWriteTokens)) counts.cacheWrite = countAt(bytes, valueStart, valueEnd);
      return;
    case 27:
      if (isName(bytes, keyStart, cacheCreationInputTokens)) counts.cacheWrite = countAt(bytes, valueStart, valueEnd);
  }
}

function takeOutput(bytes: Buffer, keyStart: number, length: number, valueStart: number, valueEnd: number, counts: TokenCounts): void {
  switch (length) {
    case 12:
      if (isName(bytes, keyStart, audioTokens)) counts.outputAudio = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, imageTokens)) counts.outputImage = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, videoTokens)) addUnits(counts, 'response_video_token', countAt(bytes, valueStart, valueEnd));
      return;
    case 15:
      if (isName(bytes, keyStart, thinkingTokens)) counts.reasoning = countAt(bytes, valueStart, valueEnd);
      // Where it stands here, it is in the output.
      else if (isName(bytes, keyStart, citationTokens)) addUnits(counts, 'citation_token', countAt(bytes, valueStart, valueEnd));
      return;
    case 16:
      if (isName(bytes, keyStart, reasoningTokens)) counts.reasoning = countAt(bytes, valueStart, valueEnd);
  }
}

function takeCount(bytes: Buffer, keyStart: number, length: number, valueStart: number, valueEnd: number, counts: TokenCounts): void {
  switch (length) {
    case 7:
      // Of sound that is charged by its length.
      if (isName(bytes, keyStart, seconds)) addUnits(counts, 'audio_hour', lengthAt(bytes, valueStart, valueEnd) / secondsPerHour);
      return;
    case 11:
      if (isName(bytes, keyStart, bedrockInput)) {
        counts.input = countAt(bytes, valueStart, valueEnd);
        counts.isInputApart = true;
      } else if (isName(bytes, keyStart, bedrockTotal)) counts.total = countAt(bytes, valueStart, valueEnd);
      return;
    case 12:
      if (isName(bytes, keyStart, inputTokens)) counts.input = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, totalTokens)) counts.total = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, bedrockOutput)) counts.output = countAt(bytes, valueStart, valueEnd);
      else if (isName(bytes, keyStart, searchUnits)) addUnits(counts, 'search_unit', countAt(bytes, valueStart, valueEnd));
      else if (isName(bytes, keyStart, serviceTier) && valueEnd - valueStart === 7 && isName(bytes, valueStart, batchTier)) counts.isBatch = true;
      return;
    case 13:
      if (isName(bytes, keyStart, promptTokens)) {
        counts.input = countAt(bytes, valueStart, valueEnd);
        counts.isPrompt = true;
      } else if (isName(bytes, keyStart, outputTokens)) counts.output = countAt(bytes, valueStart, valueEnd);
      // Moonshot's place for it.
      else if (isName(bytes, keyStart, cachedTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
      return;
    case 15:
      if (isName(bytes, keyStart, citationTokens)) {
        addUnits(counts, 'citation_token', countAt(bytes, valueStart, valueEnd));
        counts.isOutputApart = true;
      }
      return;
    case 16:
      // Perplexity counts it beside the output, others in it.
      if (counts.reasoning === -1 && isName(bytes, keyStart, reasoningTokens)) counts.reasoning = countAt(bytes, valueStart, valueEnd);
      return;
    case 17:
      if (isName(bytes, keyStart, completionTokens)) counts.output = countAt(bytes, valueStart, valueEnd);
      return;
    case 18:
      if (isName(bytes, keyStart, searchQueries)) {
        addUnits(counts, 'web_search', countAt(bytes, valueStart, valueEnd));
        counts.isOutputApart = true;
      }
      return;
    case 20:
      if (isName(bytes, keyStart, bedrockRead)) counts.cached = countAt(bytes, valueStart, valueEnd);
      // Mistral's; null for text.
      else if (isName(bytes, keyStart, promptAudioSeconds)) addUnits(counts, 'audio_hour', lengthAt(bytes, valueStart, valueEnd) / secondsPerHour);
      return;
    case 21:
      if (isName(bytes, keyStart, bedrockWritten)) counts.cacheWrite = countAt(bytes, valueStart, valueEnd);
      return;
    case 23:
      // Anthropic's and DeepSeek's.
      if (isName(bytes, keyStart, cacheReadInputTokens)) {
        counts.cached = countAt(bytes, valueStart, valueEnd);
        counts.isInputApart = true;
      } else if (isName(bytes, keyStart, promptCacheHitTokens)) counts.cached = countAt(bytes, valueStart, valueEnd);
      return;
    case 27:
      if (isName(bytes, keyStart, cacheCreationInputTokens)) {
        counts.cacheWrite = countAt(bytes, valueStart, valueEnd);
        counts.isInputApart = true;
      }
  }
}

function addUnits(counts: TokenCounts, name: string, count: number): void {
  if (!(count > 0)) return;
  counts.units ??= {};
  counts.units[name] = count;
}

/** A length may have a fraction; 0 when it is none. */
function lengthAt(bytes: Buffer, valueStart: number, valueEnd: number): number {
  const value = scalarAt(bytes, valueStart, valueEnd);
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}

/** The value when it is a count, else -1. */
function countAt(bytes: Buffer, valueStart: number, valueEnd: number): number {
  let count = 0;
  for (let index = valueStart; index < valueEnd; index += 1) {
    const digit = (bytes[index] as number) - 48;
    if (digit < 0 || digit > 9) return unusualCountAt(bytes, valueStart, valueEnd);
    count = count * 10 + digit;
  }
  return count <= Number.MAX_SAFE_INTEGER ? count : -1;
}

/** `12.0` and `1e3` are counts too, if odd ones. */
function unusualCountAt(bytes: Buffer, valueStart: number, valueEnd: number): number {
  const value = scalarAt(bytes, valueStart, valueEnd);
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : -1;
}

/** Of a key as long as `name`. Names of counts have no escapes in any API; one with escapes is another name. */
function isName(bytes: Buffer, keyStart: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) if (bytes[keyStart + 1 + index] !== name[index]) return false;
  return true;
}

/** Gemini's `usageMetadata` at `at`, as it comes through the proxy; null when it is none, is cut off, or names no count. */
export function readGeminiCounts(bytes: Buffer, at: number): TokenCounts | null {
  if (bytes[at] !== braceOpen) return null;
  const end = skipValue(bytes, at);
  if (end === -1 || end - at > geminiBytesMax) return null;
  const counts = new TokenCounts();
  const given = objectOf(bytes, at, end);
  const prompt = tokensIn(given.promptTokenCount);
  if (prompt !== -1) counts.input = prompt + Math.max(0, tokensIn(given.toolUsePromptTokenCount));
  const thoughts = tokensIn(given.thoughtsTokenCount);
  const candidates = tokensIn(given.candidatesTokenCount);
  if (candidates !== -1 || thoughts !== -1) counts.output = Math.max(0, candidates) + Math.max(0, thoughts);
  counts.total = tokensIn(given.totalTokenCount);
  counts.cached = tokensIn(given.cachedContentTokenCount);
  counts.reasoning = thoughts;
  counts.inputAudio = modalityIn(given.promptTokensDetails, 'AUDIO');
  counts.inputImage = modalityIn(given.promptTokensDetails, 'IMAGE');
  counts.outputAudio = modalityIn(given.candidatesTokensDetails, 'AUDIO');
  counts.outputImage = modalityIn(given.candidatesTokensDetails, 'IMAGE');
  addUnits(counts, 'request_video_token', modalityIn(given.promptTokensDetails, 'VIDEO'));
  addUnits(counts, 'cache_read_audio_input_token', modalityIn(given.cacheTokensDetails, 'AUDIO'));
  addUnits(counts, 'cache_read_image_input_token', modalityIn(given.cacheTokensDetails, 'IMAGE'));
  return counts.isEmpty ? null : counts;
}

const geminiBytesMax = 8_192;

function objectOf(bytes: Buffer, at: number, end: number): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(bytes.toString('utf8', at, end)));
  } catch {
    return {};
  }
}

const tokensIn = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : -1);

function modalityIn(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return -1;
  let count = -1;
  for (const detail of details) if (Object(detail).modality === modality) count = Math.max(0, count) + Math.max(0, tokensIn(Object(detail).tokenCount));
  return count;
}
