import type { EventSink, ProviderCall } from '../kinds/provider.js';
import type { Json } from '../shared.js';
import type { ChatChoice, ContentBlock, FinishReason, JsonObject, TokenUsage, ToolCall } from './types.js';

type Open = Record<string, Json>;

const hasMembers = (members: Open): boolean => Object.keys(members).length > 0;

/** Token counts as a chat completion tells them. */
export function chatUsage(usage: TokenUsage): JsonObject {
  const wire: Open = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total ?? usage.input + usage.output,
  };
  const prompt: Open = {};
  if (usage.cachedInput !== undefined) prompt.cached_tokens = usage.cachedInput;
  if (usage.audioInput !== undefined) prompt.audio_tokens = usage.audioInput;
  if (usage.imageInput !== undefined) prompt.image_tokens = usage.imageInput;
  if (usage.videoInput !== undefined) prompt.video_tokens = usage.videoInput;
  const cached: Open = {};
  if (usage.cachedAudioInput !== undefined) cached.audio_tokens = usage.cachedAudioInput;
  if (usage.cachedImageInput !== undefined) cached.image_tokens = usage.cachedImageInput;
  if (hasMembers(cached)) prompt.cached_tokens_details = cached;
  if (hasMembers(prompt)) wire.prompt_tokens_details = prompt;
  const completion: Open = {};
  if (usage.reasoning !== undefined) completion.reasoning_tokens = usage.reasoning;
  if (usage.audioOutput !== undefined) completion.audio_tokens = usage.audioOutput;
  if (usage.imageOutput !== undefined) completion.image_tokens = usage.imageOutput;
  if (hasMembers(completion)) wire.completion_tokens_details = completion;
  if (usage.cachedInput !== undefined) wire.cache_read_input_tokens = usage.cachedInput;
  if (usage.cacheWriteInput !== undefined) wire.cache_creation_input_tokens = usage.cacheWriteInput;
  const hour = usage.cacheWriteHourInput ?? 0;
  if (hour > 0) wire.cache_creation = { ephemeral_5m_input_tokens: Math.max(0, (usage.cacheWriteInput ?? 0) - hour), ephemeral_1h_input_tokens: hour };
  if (usage.audioSeconds !== undefined && usage.audioSeconds > 0) wire.prompt_audio_seconds = usage.audioSeconds;
  if (usage.webSearches !== undefined && usage.webSearches > 0) wire.server_tool_use = { web_search_requests: usage.webSearches };
  return wire;
}

export interface ChatAnswer {
  /** Default: `chatcmpl-` and the id of the exchange. */
  readonly id?: string;
  /** Default: the model that was asked for. */
  readonly model?: string;
  /** Seconds since the Unix epoch; default: now. */
  readonly created?: number;
  readonly choices: readonly ChatChoice[];
  readonly usage?: TokenUsage;
  readonly systemFingerprint?: string;
  /** Further members of the answer for clients that are not strict. */
  readonly extra?: JsonObject;
}

/** A whole chat completion. Thinking and whatever else OpenAI's API has no place for is left out for strict clients. */
export function chatCompletion(call: ProviderCall, answer: ChatAnswer): JsonObject {
  const wire: Open = {
    id: answer.id ?? `chatcmpl-${call.exchange.id}`,
    object: 'chat.completion',
    created: answer.created ?? call.createdAt,
    model: answer.model ?? call.model,
    choices: answer.choices.map((choice, index) => wireChoice(call, choice, index)),
  };
  if (answer.usage !== undefined) wire.usage = chatUsage(answer.usage);
  if (answer.systemFingerprint !== undefined) wire.system_fingerprint = answer.systemFingerprint;
  if (!call.isStrict) Object.assign(wire, answer.extra);
  return wire;
}

function wireChoice(call: ProviderCall, choice: ChatChoice, index: number): Json {
  const toolCalls = choice.toolCalls ?? [];
  const text = choice.text ?? '';
  const message: Open = {
    role: 'assistant',
    // A message of nothing but tool calls has null here; an empty answer is an empty text.
    content: text === '' && (toolCalls.length > 0 || choice.refusal !== undefined) ? null : text,
    refusal: choice.refusal ?? null,
  };
  if (toolCalls.length > 0) message.tool_calls = toolCalls.map((toolCall) => wireToolCall(call, toolCall));
  if (choice.audio !== undefined) message.audio = choice.audio;
  if (choice.annotations !== undefined) message.annotations = choice.annotations;
  const wire: Open = { index, message, logprobs: choice.logprobs ?? null, finish_reason: choice.finish };
  if (call.isStrict) return wire;
  if (choice.blocks !== undefined && choice.blocks.length > 0) message.content_blocks = choice.blocks as unknown as Json;
  Object.assign(message, choice.extra);
  if (choice.nativeFinish !== undefined) wire.native_finish_reason = choice.nativeFinish;
  if (choice.stopSequence !== undefined) wire.stop_sequence = choice.stopSequence;
  return wire;
}

function wireToolCall(call: ProviderCall, toolCall: ToolCall): Json {
  const wire: Open = { id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: toolCall.arguments } };
  if (toolCall.thoughtSignature !== undefined && !call.isStrict) wire.thought_signature = toolCall.thoughtSignature;
  return wire;
}

interface ChoiceState {
  isStarted: boolean;
  /** The open content block; '' when none is. */
  block: ContentBlock['type'] | '';
  blockIndex: number;
  toolCount: number;
  finish: FinishReason | '';
  nativeFinish: string;
  stopSequence: string;
}

/**
 * Writes the chunks of a streamed chat completion, in the order OpenAI's clients expect: the role once, content and tool calls as they
 * come, then the finish reason, then usage. Say each thing when the provider says it; `end()` writes the last chunks, and fails the
 * stream when no finish reason was given, for then the provider broke off. `[DONE]` is the host's.
 */
export class ChatStreamWriter {
  id: string;
  model: string;
  created: number;
  readonly #choices: ChoiceState[] = [];
  #usage: TokenUsage | null = null;
  #extra: JsonObject | null = null;

  constructor(readonly call: ProviderCall) {
    this.id = `chatcmpl-${call.exchange.id}`;
    this.model = call.model;
    this.created = call.createdAt;
  }

  /** Announces the assistant's turn; called by the others when it was not. */
  start(out: EventSink, choice = 0): void {
    const state = this.#state(choice);
    if (state.isStarted) return;
    state.isStarted = true;
    this.#write(out, choice, { role: 'assistant', content: '', refusal: null });
  }

  text(out: EventSink, text: string, choice = 0, logprobs?: Json): void {
    if (text === '' && logprobs === undefined) return;
    const delta: Open = { content: text };
    if (!this.call.isStrict) delta.content_blocks = [{ index: this.#block(out, 'text', choice), delta: { text } }];
    this.#write(out, choice, delta, logprobs);
  }

  refusal(out: EventSink, refusal: string, choice = 0): void {
    this.#write(out, choice, { refusal });
  }

  /** A piece of reasoning; strict clients do not see it. */
  thinking(out: EventSink, thinking: string, choice = 0): void {
    if (this.call.isStrict || thinking === '') return;
    this.#write(out, choice, { content_blocks: [{ index: this.#block(out, 'thinking', choice), delta: { thinking } }] });
  }

  /** The signature of the reasoning before it; ends that block. */
  signature(out: EventSink, signature: string, choice = 0): void {
    if (this.call.isStrict) return;
    this.#write(out, choice, { content_blocks: [{ index: this.#block(out, 'thinking', choice), delta: { signature } }] });
    this.#state(choice).block = '';
  }

  redactedThinking(out: EventSink, data: string, choice = 0): void {
    if (this.call.isStrict) return;
    const state = this.#state(choice);
    state.block = '';
    this.#write(out, choice, { content_blocks: [{ index: this.#block(out, 'redacted_thinking', choice), content_block: { type: 'redacted_thinking', data } }] });
    state.block = '';
  }

  /** The provider began another block of the same type: what follows is not the same text. */
  endBlock(choice = 0): void {
    this.#state(choice).block = '';
  }

  /** Begins a tool call; `arguments` may hold all of it. Returns its index, for `toolArguments`. */
  toolCall(out: EventSink, toolCall: { readonly id: string; readonly name: string; readonly arguments?: string; readonly thoughtSignature?: string }, choice = 0): number {
    const state = this.#state(choice);
    const index = state.toolCount;
    state.toolCount += 1;
    state.block = '';
    const wire: Open = { index, id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: toolCall.arguments ?? '' } };
    if (toolCall.thoughtSignature !== undefined && !this.call.isStrict) wire.thought_signature = toolCall.thoughtSignature;
    this.#write(out, choice, { tool_calls: [wire] });
    return index;
  }

  toolArguments(out: EventSink, index: number, piece: string, choice = 0): void {
    if (piece !== '') this.#write(out, choice, { tool_calls: [{ index, function: { arguments: piece } }] });
  }

  /** Any other member of a delta; OpenAI's own only (`audio`, `annotations`), or for clients that are not strict. */
  delta(out: EventSink, delta: JsonObject, choice = 0): void {
    this.#write(out, choice, delta);
  }

  /** Kept until `end()`. A second one of the same choice replaces the first. */
  finish(reason: FinishReason, native = '', choice = 0, stopSequence = ''): void {
    const state = this.#state(choice);
    state.finish = reason;
    state.nativeFinish = native;
    state.stopSequence = stopSequence;
  }

  /** Kept until `end()`; what comes later replaces what came before. */
  usage(usage: TokenUsage): void {
    this.#usage = usage;
  }

  /** Members of the last chunk, for clients that are not strict. */
  extra(extra: JsonObject): void {
    this.#extra = extra;
  }

  /** How many tool calls the choice has so far. */
  toolCount(choice = 0): number {
    return this.#state(choice).toolCount;
  }

  /** To be called when the provider's stream has ended. */
  end(out: EventSink): void {
    const choices = this.#choices;
    if (choices.length === 0 || choices.some((state) => state.finish === '')) {
      out.fail(new Error('the stream ended before the answer was complete'));
      return;
    }
    const usage = this.#usage === null ? null : chatUsage(this.#usage);
    const isUsageApart = this.call.includesUsage;
    choices.forEach((state, index) => {
      this.start(out, index);
      const choice: Open = { index, delta: {}, logprobs: null, finish_reason: state.finish };
      if (!this.call.isStrict && state.nativeFinish !== '') choice.native_finish_reason = state.nativeFinish;
      if (!this.call.isStrict && state.stopSequence !== '') choice.stop_sequence = state.stopSequence;
      const chunk = this.#chunk([choice]);
      if (usage !== null && !isUsageApart && index === choices.length - 1) chunk.usage = usage;
      if (this.#extra !== null && !this.call.isStrict && index === choices.length - 1) Object.assign(chunk, this.#extra);
      out.write({ event: undefined, data: chunk });
    });
    if (usage === null || !isUsageApart) return;
    const last = this.#chunk([]);
    last.usage = usage;
    out.write({ event: undefined, data: last });
  }

  #state(choice: number): ChoiceState {
    for (let index = this.#choices.length; index <= choice; index += 1) {
      this.#choices.push({ isStarted: false, block: '', blockIndex: -1, toolCount: 0, finish: '', nativeFinish: '', stopSequence: '' });
    }
    return this.#choices[choice] as ChoiceState;
  }

  #block(out: EventSink, type: ContentBlock['type'], choice: number): number {
    this.start(out, choice);
    const state = this.#state(choice);
    if (state.block !== type) {
      state.block = type;
      state.blockIndex += 1;
    }
    return state.blockIndex;
  }

  #write(out: EventSink, choice: number, delta: JsonObject, logprobs: Json = null): void {
    const state = this.#state(choice);
    if (!state.isStarted && delta.role === undefined) this.start(out, choice);
    out.write({ event: undefined, data: this.#chunk([{ index: choice, delta, logprobs, finish_reason: null }]) });
  }

  #chunk(choices: Json): Open {
    return { id: this.id, object: 'chat.completion.chunk', created: this.created, model: this.model, choices };
  }
}
