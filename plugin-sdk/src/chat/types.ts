import type { Json } from '../shared.js';

export type JsonObject = { readonly [key: string]: Json };

/**
 * The chat dialect is the pivot of all translation: OpenAI's chat completions with a few additions, all of them optional.
 * - `thinking` in the request, `content_blocks` in assistant messages and deltas: reasoning with its signatures.
 * - `thought_signature` on a tool call: what some providers want back together with the call.
 * - `cache_control` on content parts, messages and tools: a mark for providers that cache prompts on request.
 * - `top_k`.
 * - `cache_creation_input_tokens` and `cache_read_input_tokens` in usage. `prompt_tokens` always counts all input, cached or not.
 * - `native_finish_reason` and `stop_sequence` on a choice.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A block of an assistant's answer that text alone cannot carry. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature?: string }
  /** Reasoning that only its provider can read; goes back as it came. */
  | { readonly type: 'redacted_thinking'; readonly data: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  readonly thoughtSignature?: string;
}

/** Token counts of one answer. Absent: the provider did not say. */
export interface TokenUsage {
  /** All input tokens, those read from or written to a prompt cache included. */
  readonly input: number;
  readonly output: number;
  /** Of `input`: read from a prompt cache. */
  readonly cachedInput?: number;
  /** Of `input`: written to a prompt cache. */
  readonly cacheWriteInput?: number;
  /** Of `output`. */
  readonly reasoning?: number;
  readonly audioInput?: number;
  readonly audioOutput?: number;
  readonly imageInput?: number;
  readonly imageOutput?: number;
  readonly videoInput?: number;
  /** Of `cachedInput`, and of `audioInput` and `imageInput`. */
  readonly cachedAudioInput?: number;
  readonly cachedImageInput?: number;
  /** Sound that is billed by its length. */
  readonly audioSeconds?: number;
  /** Of `cacheWriteInput`: kept for an hour, which costs more. */
  readonly cacheWriteHourInput?: number;
  /** Searches that the provider made, which are billed one by one. */
  readonly webSearches?: number;
  /** Default: `input` + `output`. */
  readonly total?: number;
}

export interface ChatChoice {
  readonly text?: string;
  readonly refusal?: string;
  /** In the order they came, text included when there is thinking; shown to clients that are not strict. */
  readonly blocks?: readonly ContentBlock[];
  readonly toolCalls?: readonly ToolCall[];
  readonly finish: FinishReason;
  /** The provider's own word for `finish`. */
  readonly nativeFinish?: string;
  readonly stopSequence?: string;
  /** OpenAI's shape: `{ content: [{ token, logprob, bytes, top_logprobs }] }`. */
  readonly logprobs?: Json;
  readonly audio?: JsonObject;
  readonly annotations?: Json;
  /** Further members of the message for clients that are not strict: citations, grounding ... */
  readonly extra?: JsonObject;
}
