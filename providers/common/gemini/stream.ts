import {
  ChatStreamWriter, isObject, listOf, ProviderError, readJson, type EventSink, type EventStage, type Json, type JsonObject, type ProviderCall,
  type SseEvent,
} from '@gateway/plugin-sdk';
import {
  annotationsOf, blockReasonOf, extraOf, finishOf, geminiError, imagePart, imageText, indexOf, inlineOf, logprobsOf, partsOf, textOf, toolCallOf, usageOf,
} from './answer.js';

/** The events of `streamGenerateContent` as chunks: each is an answer of its own that holds what is new. */
export const geminiStage = (call: ProviderCall): EventStage => new GeminiStage(call);

/** One candidate, as far as it is known. */
interface CandidateState {
  text: string;
  native: string | undefined;
  /** The prompt was blocked: there is no answer, whatever the word for it. */
  isBlocked: boolean;
  hasThoughts: boolean;
  audioId: string;
  /** The last one tells everything. */
  grounding: Json | undefined;
}

class GeminiStage implements EventStage {
  readonly #writer: ChatStreamWriter;
  readonly #candidates: CandidateState[] = [];
  #extra: Record<string, Json> | undefined;
  #isFailed = false;
  #isNamed = false;

  constructor(readonly call: ProviderCall) {
    this.#writer = new ChatStreamWriter(call);
  }

  push(event: SseEvent, out: EventSink): void {
    if (this.#isFailed || event.data === '' || event.data === '[DONE]') return;
    const answer = readJson(event.data);
    const fault = geminiError(answer);
    if (fault !== undefined) {
      this.#isFailed = true;
      out.fail(new ProviderError(fault.message, { status: statusOf(fault.code), type: fault.type, code: fault.code }));
      return;
    }
    if (!isObject(answer)) return;
    this.#name(answer);
    const usage = usageOf(answer.usageMetadata);
    if (usage !== undefined) this.#writer.usage(usage);
    const candidates = listOf(answer.candidates);
    for (const candidate of candidates) if (isObject(candidate)) this.#candidate(candidate, out);
    const blocked = blockReasonOf(answer);
    if (blocked === undefined || candidates.length > 0) return;
    Object.assign(this.#state(0), { native: blocked, isBlocked: true });
    this.#keep({ promptFeedback: answer.promptFeedback ?? null });
  }

  end(out: EventSink): void {
    if (this.#isFailed) return;
    this.#candidates.forEach((state, index) => {
      const annotations = annotationsOf(state.grounding, state.text);
      if (annotations.length > 0) this.#writer.delta(out, { annotations }, index);
      if (state.native !== undefined) this.#writer.finish(state.isBlocked ? 'content_filter' : finishOf(state.native, this.#writer.toolCount(index) > 0), state.native, index);
    });
    if (this.#extra !== undefined) this.#writer.extra(this.#extra);
    this.#writer.end(out);
  }

  /** Every event tells id and model; the first counts, so that all chunks agree. */
  #name(answer: JsonObject): void {
    if (this.#isNamed) return;
    this.#isNamed = true;
    if (typeof answer.responseId === 'string') this.#writer.id = answer.responseId;
    if (typeof answer.modelVersion === 'string') this.#writer.model = answer.modelVersion;
  }

  #candidate(candidate: JsonObject, out: EventSink): void {
    const index = indexOf(candidate);
    const state = this.#state(index);
    let logprobs = logprobsOf(candidate.logprobsResult);
    for (const part of partsOf(candidate)) {
      // Google tells the probabilities of an event, not of a part; they go with its first text.
      if (this.#part(part, index, state, out, logprobs)) logprobs = undefined;
    }
    if (logprobs !== undefined && logprobs.length > 0) this.#writer.text(out, '', index, { content: logprobs, refusal: null });
    if (typeof candidate.finishReason === 'string') state.native = candidate.finishReason;
    if (candidate.groundingMetadata !== undefined) state.grounding = candidate.groundingMetadata;
    this.#keep(extraOf(candidate));
  }

  /** True when the probabilities were written. */
  #part(part: JsonObject, index: number, state: CandidateState, out: EventSink, logprobs: Json | undefined): boolean {
    const writer = this.#writer;
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
    if (part.thought === true) {
      state.hasThoughts = true;
      if (typeof part.text === 'string') writer.thinking(out, part.text, index);
      if (signature !== undefined) writer.signature(out, signature, index);
      return false;
    }
    if (isObject(part.functionCall)) {
      writer.toolCall(out, toolCallOf(part.functionCall, signature, this.call), index);
      return false;
    }
    const data = inlineOf(part);
    if (data !== undefined && data.mimeType.startsWith('audio/')) {
      if (state.audioId === '') state.audioId = this.call.newId('audio_');
      writer.delta(out, { audio: { id: state.audioId, data: data.data } }, index);
      return false;
    }
    if (data !== undefined && !this.call.isStrict) {
      writer.delta(out, { images: [imagePart(data)] }, index);
      return false;
    }
    const text = data === undefined ? textOf(part) : imageText(data);
    state.text += text;
    if (text !== '') writer.text(out, text, index, logprobs === undefined ? undefined : { content: logprobs, refusal: null });
    // Without thoughts shown, the signature of a text is a hint only, and not worth a block of its own.
    if (signature !== undefined && state.hasThoughts) writer.signature(out, signature, index);
    return text !== '';
  }

  #state(index: number): CandidateState {
    while (this.#candidates.length <= index) this.#candidates.push({ text: '', native: undefined, isBlocked: false, hasThoughts: false, audioId: '', grounding: undefined });
    return this.#candidates[index] as CandidateState;
  }

  #keep(extra: JsonObject): void {
    if (Object.keys(extra).length > 0) this.#extra = { ...this.#extra, ...extra };
  }
}

function statusOf(code: string | undefined): number | undefined {
  const status = Number(code);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}
