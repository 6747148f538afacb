import { argumentsOf, isObject, readTurns, readJson, type ContentBlock, type JsonObject, type Part, type ProviderCall, type Source, type ToolCall, type Turn } from '@gateway/plugin-sdk';
import { hasNoSystem, isGeminiThree } from './models.js';

/** Where the two services that speak this format differ. */
export interface GeminiDialect {
  /** Vertex AI reads `gs://` addresses and wants a media type with every address; the Gemini API has files of its own. */
  readonly files: 'gemini' | 'vertex';
}

/** A list that is still being written; what is inside is plain JSON. */
type Parts = JsonObject[];

export interface Conversation {
  readonly systemInstruction?: JsonObject;
  readonly contents: readonly JsonObject[];
}

/**
 * Google's documented stand-in for a thought signature that got lost. Gemini 3 answers 400 to a function call of the conversation that
 * has none, and clients of OpenAI's API have no place to keep it.
 */
const standInSignature = 'skip_thought_signature_validator';

/** The messages as Gemini's contents: all system texts apart, roles user and model, neighbours of the same role merged. */
export function conversation(body: JsonObject, call: ProviderCall, dialect: GeminiDialect): Conversation {
  const writer = new ContentWriter(call, dialect);
  for (const turn of readTurns(body, call)) writer.turn(turn);
  return writer.done();
}

class ContentWriter {
  readonly #contents: { role: 'user' | 'model'; parts: Parts }[] = [];
  readonly #system: Parts = [];
  readonly #isThree: boolean;
  /** Media of tool results, for models that do not take them inside the result: follow after the last result. */
  #pending: Parts = [];
  #isCacheReported = false;

  constructor(readonly call: ProviderCall, readonly dialect: GeminiDialect) {
    this.#isThree = isGeminiThree(call.model);
  }

  turn(turn: Turn): void {
    if (turn.role !== 'tool') this.#flush();
    this.#noteCache(turn.cacheControl);
    for (const part of turn.parts) this.#noteCache(part.cacheControl);
    switch (turn.role) {
      case 'system': this.#system.push(...turn.parts.flatMap((part) => this.#systemPart(part))); return;
      case 'user':
        if (turn.name !== undefined) this.call.report('messages.name');
        this.#add('user', turn.parts.flatMap((part) => this.#part(part)));
        return;
      case 'assistant': this.#add('model', this.#assistant(turn)); return;
      case 'tool': this.#add('user', [this.#toolResult(turn)]);
    }
  }

  done(): Conversation {
    this.#flush();
    // Google wants at least one content: a prompt of system messages alone is what the model is to answer.
    if (this.#contents.length === 0) return { contents: this.#system.length === 0 ? [] : [{ role: 'user', parts: this.#system }] };
    if (this.#system.length > 0 && hasNoSystem(this.call.model)) return { contents: this.#withSystem() };
    return this.#system.length === 0 ? { contents: this.#contents } : { systemInstruction: { parts: this.#system }, contents: this.#contents };
  }

  /** System texts in front of what the user says first. */
  #withSystem(): readonly JsonObject[] {
    const [first, ...rest] = this.#contents;
    return first?.role === 'user' ? [{ role: 'user', parts: [...this.#system, ...first.parts] }, ...rest] : [{ role: 'user', parts: this.#system }, ...this.#contents];
  }

  #add(role: 'user' | 'model', parts: Parts): void {
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.#contents.push({ role, parts });
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const media = this.#pending;
    this.#pending = [];
    this.#add('user', media);
  }

  #noteCache(mark: unknown): void {
    if (mark === undefined || this.#isCacheReported) return;
    this.#isCacheReported = true;
    this.call.report('cache_control');
  }

  #systemPart(part: Part): Parts {
    return part.kind === 'text' ? textParts(part.text) : this.call.refuse(part.place, 'system messages hold text only');
  }

  #assistant(turn: Extract<Turn, { role: 'assistant' }>): Parts {
    const parts: Parts = turn.blocks.some((block) => block.type === 'text')
      ? this.#blocks(turn.blocks)
      : [...this.#blocks(turn.blocks), ...turn.parts.flatMap((part) => this.#part(part))];
    if (turn.refusal !== undefined && turn.refusal !== '') parts.push({ text: turn.refusal });
    settleSignatures(parts);
    turn.toolCalls.forEach((toolCall, index) => parts.push(this.#functionCall(toolCall, turn.place, index === 0)));
    return parts;
  }

  #blocks(blocks: readonly ContentBlock[]): Parts {
    return blocks.flatMap((block): Parts => {
      if (block.type === 'text') return textParts(block.text);
      // Another provider's reasoning: nobody but that provider can read it.
      if (block.type === 'redacted_thinking') return [];
      const thought: Parts = block.thinking === '' ? [] : [{ text: block.thinking, thought: true }];
      return block.signature === undefined ? thought : [...thought, { thoughtSignature: block.signature }];
    });
  }

  /** Of parallel calls only the first carries a signature, and only Gemini 3 insists on it. */
  #functionCall(toolCall: ToolCall, place: string, isFirst: boolean): JsonObject {
    const signature = toolCall.thoughtSignature ?? (isFirst && this.#isThree ? standInSignature : undefined);
    return {
      functionCall: { ...(this.#isThree ? { id: toolCall.id } : {}), name: toolCall.name, args: argumentsOf(toolCall, this.call, place) },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  }

  #toolResult(turn: Extract<Turn, { role: 'tool' }>): JsonObject {
    if (turn.name === '') return this.call.refuse(`${turn.place}.tool_call_id`, 'answers no tool call of this conversation; give the name of the tool');
    const text = turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
    const media = turn.parts.filter((part) => part.kind !== 'text').flatMap((part) => this.#part(part));
    const inside = this.#isThree ? media.filter((part) => part.inlineData !== undefined) : [];
    this.#pending.push(...media.filter((part) => !inside.includes(part)));
    return {
      functionResponse: {
        ...(this.#isThree ? { id: turn.toolCallId } : {}),
        name: turn.name,
        response: turn.isError ? { error: text } : asObject(text),
        ...(inside.length === 0 ? {} : { parts: inside }),
      },
    };
  }

  #part(part: Part): Parts {
    switch (part.kind) {
      case 'text': return textParts(part.text);
      case 'audio': return [{ inlineData: { mimeType: audioTypes.get(part.format.toLowerCase()) ?? `audio/${part.format.toLowerCase()}`, data: part.data } }];
      case 'image': {
        if (part.detail !== undefined && part.detail !== 'auto') this.call.report('messages.content.image_url.detail');
        return [this.#media(part.source, part.place, 'image/jpeg')];
      }
      case 'file': return [this.#media(part.source, part.place, undefined)];
    }
  }

  #media(source: Source, place: string, assumed: string | undefined): JsonObject {
    if (source.kind === 'data') return { inlineData: { mimeType: source.mediaType, data: source.data } };
    if (source.kind === 'id') return { fileData: { fileUri: this.#fileAddress(source.id, place) } };
    const { url } = source;
    this.#checkAddress(url, place);
    const mimeType = source.mediaType ?? (isYouTube(url) ? 'video/mp4' : assumed);
    if (mimeType === undefined && this.dialect.files === 'vertex') return this.call.refuse(place, 'the media type is not known; give mime_type or a filename with an extension');
    // The Gemini API documents these addresses without a type.
    const isLeftOut = mimeType === undefined || (source.mediaType === undefined && isYouTube(url) && this.dialect.files === 'gemini');
    return { fileData: { ...(isLeftOut ? {} : { mimeType }), fileUri: url } };
  }

  #checkAddress(url: string, place: string): void {
    if (/^https:\/\//i.test(url)) return;
    if (this.dialect.files === 'vertex') {
      if (!/^(?:gs|http):\/\//i.test(url)) this.call.refuse(place, 'must be a data URL, or an https or gs address');
      return;
    }
    if (/^gs:\/\//i.test(url)) this.call.refuse(place, 'the Gemini API reads no gs address before it is registered; register it with the Files API and send the address of the file');
    this.call.refuse(place, 'must be a data URL or an https address');
  }

  #fileAddress(id: string, place: string): string {
    if (/^(?:https|gs):\/\//i.test(id)) {
      this.#checkAddress(id, place);
      return id;
    }
    if (this.dialect.files === 'vertex') return this.call.refuse(place, 'Vertex AI keeps no files; send file_data, or a gs or https address as file_url');
    return `https://generativelanguage.googleapis.com/v1beta/${id.startsWith('files/') ? id : `files/${id}`}`;
  }
}

const audioTypes: ReadonlyMap<string, string> = new Map([['mp3', 'audio/mp3'], ['pcm16', 'audio/pcm;rate=24000'], ['m4a', 'audio/mp4']]);

const textParts = (text: string): Parts => (text === '' ? [] : [{ text }]);

const isYouTube = (url: string): boolean => /^https:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i.test(url);

/** A tool's answer that is a JSON object goes as one; any other text is named. */
function asObject(text: string): JsonObject {
  if (text.trimStart().startsWith('{')) {
    try {
      const value = readJson(text);
      if (isObject(value)) return value;
    } catch {
      // A text that only looks like JSON is a text.
    }
  }
  return { result: text };
}

/**
 * Google signs what follows the thoughts, not the thoughts: a signature goes on the text before it when it stands behind one, else on the text
 * that comes next. Where there is none it stays with the thought, and with nothing at all on an empty text.
 */
function settleSignatures(parts: Parts): void {
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (part === undefined || part.thoughtSignature === undefined || part.text !== undefined) continue;
    const { thoughtSignature } = part;
    const owner = isOpen(parts[index - 1]) ? index - 1 : isOpen(parts[index + 1]) ? index + 1 : parts[index - 1]?.thought === true ? index - 1 : -1;
    if (owner === -1) {
      parts[index] = { text: '', thoughtSignature };
      continue;
    }
    parts[owner] = { ...parts[owner], thoughtSignature };
    parts.splice(index, 1);
    index -= 1;
  }
}

const isOpen = (part: JsonObject | undefined): boolean => part !== undefined && part.text !== undefined && part.thought !== true && part.thoughtSignature === undefined;
