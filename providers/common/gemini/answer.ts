import {
  chatCompletion, isObject, listOf, writeJson, type ChatChoice, type ContentBlock, type FinishReason, type Json, type JsonObject, type ProviderCall,
  type ProviderFault, type TokenUsage, type ToolCall,
} from '@gateway/plugin-sdk';
import { wavOf } from './sound.js';

/** The answer of `generateContent` as a chat completion. */
export function geminiToChat(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer)) throw new Error('the response is not a JSON object');
  const usage = usageOf(answer.usageMetadata);
  const candidates = listOf(answer.candidates).filter(isObject).sort((one, other) => indexOf(one) - indexOf(other));
  const choices = candidates.length === 0 ? [blockedChoice(answer)] : candidates.map((candidate) => choiceOf(candidate, call));
  return chatCompletion(call, {
    ...(typeof answer.responseId === 'string' ? { id: answer.responseId } : {}),
    ...(typeof answer.modelVersion === 'string' ? { model: answer.modelVersion } : {}),
    choices,
    ...(usage === undefined ? {} : { usage }),
    ...(isObject(answer.promptFeedback) ? { extra: { promptFeedback: answer.promptFeedback } } : {}),
  });
}

/** Google blocked the prompt and made no answer at all. */
function blockedChoice(answer: JsonObject): ChatChoice {
  const native = blockReasonOf(answer);
  return native === undefined ? { finish: 'content_filter' } : { finish: 'content_filter', nativeFinish: native };
}

export function blockReasonOf(answer: JsonObject): string | undefined {
  const feedback = answer.promptFeedback;
  return isObject(feedback) && typeof feedback.blockReason === 'string' ? feedback.blockReason : undefined;
}

function choiceOf(candidate: JsonObject, call: ProviderCall): ChatChoice {
  const content = new CandidateContent(call);
  for (const part of partsOf(candidate)) content.add(part);
  const native = typeof candidate.finishReason === 'string' ? candidate.finishReason : undefined;
  const logprobs = logprobsOf(candidate.logprobsResult);
  const annotations = annotationsOf(candidate.groundingMetadata, content.text);
  const extra = { ...extraOf(candidate), ...(content.images.length === 0 || call.isStrict ? {} : { images: content.images }) };
  return {
    text: content.text,
    ...(content.hasThoughts ? { blocks: content.blocks } : {}),
    ...(content.toolCalls.length === 0 ? {} : { toolCalls: content.toolCalls }),
    finish: finishOf(native, content.toolCalls.length > 0),
    ...(native === undefined ? {} : { nativeFinish: native }),
    ...(logprobs === undefined ? {} : { logprobs: { content: logprobs, refusal: null } }),
    ...(content.sound.length === 0 ? {} : { audio: audioOf(content.sound, call) }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

class CandidateContent {
  text = '';
  hasThoughts = false;
  readonly blocks: ContentBlock[] = [];
  readonly toolCalls: ToolCall[] = [];
  readonly images: Json[] = [];
  /** Base64 pieces of samples. */
  readonly sound: string[] = [];

  constructor(readonly call: ProviderCall) {}

  add(part: JsonObject): void {
    const signature = typeof part.thoughtSignature === 'string' ? part.thoughtSignature : undefined;
    if (part.thought === true) this.#thought(typeof part.text === 'string' ? part.text : '', signature);
    else if (isObject(part.functionCall)) this.toolCalls.push(toolCallOf(part.functionCall, signature, this.call));
    else {
      const data = inlineOf(part);
      if (data === undefined) this.#said(textOf(part), signature);
      else if (data.mimeType.startsWith('audio/')) this.sound.push(data.data);
      else if (this.call.isStrict) this.#said(imageText(data), undefined);
      else this.images.push(imagePart(data));
    }
  }

  #thought(thinking: string, signature: string | undefined): void {
    this.hasThoughts = true;
    const last = this.blocks.at(-1);
    // Thoughts come in several parts; a signature ends them.
    if (last?.type === 'thinking' && last.signature === undefined) this.blocks[this.blocks.length - 1] = thinkingBlock(last.thinking + thinking, signature);
    else this.blocks.push(thinkingBlock(thinking, signature));
  }

  #said(text: string, signature: string | undefined): void {
    if (text !== '') {
      this.text += text;
      const last = this.blocks.at(-1);
      if (last?.type === 'text') this.blocks[this.blocks.length - 1] = { type: 'text', text: last.text + text };
      else this.blocks.push({ type: 'text', text });
    }
    // The signature of a text that no thoughts were shown for is a hint only, and not worth a block of its own.
    if (signature !== undefined && this.hasThoughts) this.#sign(signature);
  }

  #sign(signature: string): void {
    const unsigned = this.blocks.findLastIndex((block) => block.type === 'thinking' && block.signature === undefined);
    const block = this.blocks[unsigned];
    if (block?.type === 'thinking') this.blocks[unsigned] = thinkingBlock(block.thinking, signature);
    else this.blocks.push(thinkingBlock('', signature));
  }
}

const thinkingBlock = (thinking: string, signature: string | undefined): ContentBlock => ({ type: 'thinking', thinking, ...(signature === undefined ? {} : { signature }) });

export function toolCallOf(functionCall: JsonObject, signature: string | undefined, call: ProviderCall): ToolCall {
  return {
    id: typeof functionCall.id === 'string' && functionCall.id !== '' ? functionCall.id : call.newId('call_'),
    name: typeof functionCall.name === 'string' ? functionCall.name : '',
    arguments: writeJson(functionCall.args ?? {}),
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/** What a part says in words; code that Google ran, and its output, are shown as code. */
export function textOf(part: JsonObject): string {
  if (typeof part.text === 'string') return part.text;
  const { executableCode, codeExecutionResult } = part;
  if (isObject(executableCode) && typeof executableCode.code === 'string') {
    return `\n\`\`\`${typeof executableCode.language === 'string' ? executableCode.language.toLowerCase() : ''}\n${executableCode.code.trimEnd()}\n\`\`\`\n`;
  }
  if (isObject(codeExecutionResult) && typeof codeExecutionResult.output === 'string') return `\n\`\`\`\n${codeExecutionResult.output.trimEnd()}\n\`\`\`\n`;
  return '';
}

export interface InlineData {
  readonly mimeType: string;
  readonly data: string;
}

export function inlineOf(part: JsonObject): InlineData | undefined {
  const { inlineData } = part;
  if (!isObject(inlineData) || typeof inlineData.data !== 'string') return undefined;
  return { mimeType: typeof inlineData.mimeType === 'string' ? inlineData.mimeType : 'image/png', data: inlineData.data };
}

export const imagePart = ({ mimeType, data }: InlineData): JsonObject => ({ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } });

/** OpenAI's message has no place for an image: strict clients get it in the text. */
export const imageText = ({ mimeType, data }: InlineData): string => `\n![image](data:${mimeType};base64,${data})\n`;

function audioOf(pieces: readonly string[], call: ProviderCall): JsonObject {
  const samples = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')));
  const format = isObject(call.body.audio) ? call.body.audio.format : undefined;
  const data = format === 'pcm16' ? samples : wavOf(samples, 24_000);
  return { id: call.newId('audio_'), data: data.toString('base64'), expires_at: call.createdAt, transcript: '' };
}

/** Words for an answer that Google kept back, or that is not what the model was to give. */
const withheld: ReadonlySet<string> = new Set([
  'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER',
  'NO_IMAGE', 'OTHER', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE', 'MALFORMED_RESPONSE',
]);

/** OpenAI's words. A word that came later than this was written is no reason to take the answer for a refused one. */
export function finishOf(native: string | undefined, hasToolCalls: boolean): FinishReason {
  switch (native) {
    case 'MAX_TOKENS': case 'CONTINUATION': return 'length';
    default:
      if (native !== undefined && withheld.has(native)) return 'content_filter';
      return hasToolCalls ? 'tool_calls' : 'stop';
  }
}

export function usageOf(metadata: Json | undefined): TokenUsage | undefined {
  if (!isObject(metadata)) return undefined;
  const thoughts = countOf(metadata.thoughtsTokenCount);
  const cached = countOf(metadata.cachedContentTokenCount);
  const total = countOf(metadata.totalTokenCount);
  const audioInput = modalityOf(metadata.promptTokensDetails, 'AUDIO');
  const audioOutput = modalityOf(metadata.candidatesTokensDetails, 'AUDIO');
  const imageInput = modalityOf(metadata.promptTokensDetails, 'IMAGE');
  const imageOutput = modalityOf(metadata.candidatesTokensDetails, 'IMAGE');
  const videoInput = modalityOf(metadata.promptTokensDetails, 'VIDEO');
  const cachedAudioInput = modalityOf(metadata.cacheTokensDetails, 'AUDIO');
  const cachedImageInput = modalityOf(metadata.cacheTokensDetails, 'IMAGE');
  return {
    input: (countOf(metadata.promptTokenCount) ?? 0) + (countOf(metadata.toolUsePromptTokenCount) ?? 0),
    output: (countOf(metadata.candidatesTokenCount) ?? 0) + (thoughts ?? 0),
    ...(cached === undefined ? {} : { cachedInput: cached }),
    ...(thoughts === undefined ? {} : { reasoning: thoughts }),
    ...(audioInput === undefined ? {} : { audioInput }),
    ...(audioOutput === undefined ? {} : { audioOutput }),
    ...(imageInput === undefined ? {} : { imageInput }),
    ...(imageOutput === undefined ? {} : { imageOutput }),
    ...(videoInput === undefined ? {} : { videoInput }),
    ...(cachedAudioInput === undefined ? {} : { cachedAudioInput }),
    ...(cachedImageInput === undefined ? {} : { cachedImageInput }),
    ...(total === undefined ? {} : { total }),
  };
}

const countOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

export function modalityOf(details: Json | undefined, modality: string): number | undefined {
  let sum: number | undefined = undefined;
  for (const detail of listOf(details)) if (isObject(detail) && detail.modality === modality) sum = (sum ?? 0) + (countOf(detail.tokenCount) ?? 0);
  return sum;
}

export function logprobsOf(result: Json | undefined): JsonObject[] | undefined {
  if (!isObject(result)) return undefined;
  const tops = listOf(result.topCandidates);
  return listOf(result.chosenCandidates).map((chosen, index) => {
    const top = tops[index];
    return { ...tokenOf(chosen), top_logprobs: listOf(isObject(top) ? top.candidates : undefined).map(tokenOf) };
  });
}

function tokenOf(candidate: Json): JsonObject {
  const token = isObject(candidate) && typeof candidate.token === 'string' ? candidate.token : '';
  return { token, logprob: isObject(candidate) && typeof candidate.logProbability === 'number' ? candidate.logProbability : 0, bytes: [...Buffer.from(token)] };
}

/** What Google tells of an answer beside its content, under Google's names. */
const extras = ['groundingMetadata', 'safetyRatings', 'citationMetadata', 'urlContextMetadata', 'avgLogprobs', 'finishMessage'];

export function extraOf(candidate: JsonObject): JsonObject {
  const extra: Record<string, Json> = {};
  for (const name of extras) {
    const value = candidate[name];
    if (value !== undefined) extra[name] = value;
  }
  return extra;
}

/** Web sources as OpenAI's citations. Google counts bytes, OpenAI characters. */
export function annotationsOf(grounding: Json | undefined, text: string): JsonObject[] {
  if (!isObject(grounding)) return [];
  const chunks = listOf(grounding.groundingChunks);
  const bytes = Buffer.from(text);
  const at = (offset: Json | undefined): number => (typeof offset === 'number' ? bytes.toString('utf8', 0, offset).length : 0);
  return listOf(grounding.groundingSupports).flatMap((support) => {
    if (!isObject(support) || !isObject(support.segment)) return [];
    const { startIndex, endIndex } = support.segment;
    return listOf(support.groundingChunkIndices).flatMap((index) => {
      const chunk = typeof index === 'number' ? chunks[index] : undefined;
      const web = isObject(chunk) ? chunk.web ?? chunk.maps ?? chunk.retrievedContext : undefined;
      if (!isObject(web) || typeof web.uri !== 'string') return [];
      const citation = { start_index: at(startIndex), end_index: at(endIndex), url: web.uri, title: typeof web.title === 'string' ? web.title : web.uri };
      return [{ type: 'url_citation', url_citation: citation }];
    });
  });
}

export function partsOf(candidate: JsonObject): JsonObject[] {
  return isObject(candidate.content) ? listOf(candidate.content.parts).filter(isObject) : [];
}

export const indexOf = (candidate: JsonObject): number => (typeof candidate.index === 'number' ? candidate.index : 0);

/** `{ error: { code, message, status } }`, also as the only element of a list. */
export function geminiError(body: Json): ProviderFault | undefined {
  const first = Array.isArray(body) ? (body as readonly Json[])[0] : body;
  const error = isObject(first) ? first.error : undefined;
  if (!isObject(error) || typeof error.message !== 'string') return undefined;
  const code = typeof error.code === 'number' || typeof error.code === 'string' ? String(error.code) : undefined;
  // Others have a message as well; Google's always has one of these.
  if (typeof error.status !== 'string' && code === undefined) return undefined;
  const type = error.status ?? error.type;
  return { message: error.message, ...(typeof type === 'string' ? { type } : {}), ...(code === undefined ? {} : { code }) };
}
