import { createHash } from 'node:crypto';
import { argumentsOf, type ContentBlock, type Json, type ProviderCall, type Turn } from '@gateway/plugin-sdk';
import { ContentWriter } from './content.js';
import { isClaude, isNova, type Model } from './model.js';

export interface Conversation {
  readonly system: Json[];
  readonly messages: Json[];
  /** Names of the tools that the history calls or answers, in order. Converse wants a tool configuration then. */
  readonly usedTools: readonly string[];
}

const toolUseIdPattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** The system instructions, and messages whose roles alternate; the results of parallel tool calls are in one user message. */
export function conversationOf(turns: readonly Turn[], call: ProviderCall, model: Model): Conversation {
  const caches = model.vendor === '' || isClaude(model) || isNova(model);
  const writer = new ContentWriter(call, caches);
  const system: Json[] = [];
  const messages = new Messages();
  const usedTools = new Set<string>();
  for (const turn of turns) {
    const cachePoint = turn.cacheControl === undefined ? [] : writer.cachePoint(turn.cacheControl);
    switch (turn.role) {
      case 'system': {
        const blocks = turn.parts.flatMap((part) => (part.kind === 'text' ? writer.blocks(part) : [call.refuse(part.place, 'system messages hold text only')]));
        if (blocks.length > 0) system.push(...blocks, ...cachePoint);
        break;
      }
      case 'user': {
        if (turn.name !== undefined) call.report('messages.name');
        const blocks = turn.parts.flatMap((part) => writer.blocks(part));
        if (blocks.length > 0) messages.user(...blocks, ...cachePoint);
        break;
      }
      case 'assistant': {
        const blocks = assistantBlocks(turn, call, model, writer);
        for (const toolCall of turn.toolCalls) {
          usedTools.add(toolCall.name);
          blocks.push({ toolUse: { toolUseId: toolUseId(toolCall.id, model), name: toolCall.name, input: argumentsOf(toolCall, call, turn.place) } });
        }
        if (blocks.length > 0) messages.assistant(...blocks, ...cachePoint);
        break;
      }
      case 'tool': {
        if (turn.name !== '') usedTools.add(turn.name);
        const content = turn.parts.flatMap((part) => {
          if (part.kind === 'audio') return [call.refuse(part.place, 'Bedrock takes no audio in tool results')];
          // The cache point goes behind the result: inside, Converse has none.
          const { cacheControl: _, ...plain } = part;
          return writer.blocks(plain);
        });
        const inner = turn.parts.find((part) => part.cacheControl !== undefined)?.cacheControl;
        const marks = cachePoint.length > 0 || inner === undefined ? cachePoint : writer.cachePoint(inner);
        messages.toolResult({
          toolResult: {
            toolUseId: toolUseId(turn.toolCallId, model),
            // Models refuse an empty text, and Converse demands the list.
            content: content.length > 0 ? content : [{ text: '(no output)' }],
            ...errorStatus(turn.isError, call, model),
          },
        }, ...marks);
        break;
      }
    }
  }
  return { system, messages: messages.finished(), usedTools: [...usedTools] };
}

/** Only Claude and Nova know that a tool failed; for others the text of the result has to tell. */
function errorStatus(isError: boolean, call: ProviderCall, model: Model): { readonly status?: 'error' } {
  if (!isError) return {};
  if (model.vendor === '' || isClaude(model) || isNova(model)) return { status: 'error' };
  call.report('messages.is_error');
  return {};
}

function assistantBlocks(turn: Turn & { readonly role: 'assistant' }, call: ProviderCall, model: Model, writer: ContentWriter): Json[] {
  const blocks = turn.blocks.flatMap((block) => thinkingBlock(block, call, model));
  // Blocks with text tell all of the text, in its place between the thinking.
  if (!turn.blocks.some((block) => block.type === 'text' && block.text.trim() !== '')) blocks.push(...turn.parts.flatMap((part) => writer.blocks(part)));
  if (blocks.length === 0 && turn.refusal !== undefined && turn.refusal.trim() !== '') blocks.push({ text: turn.refusal });
  return blocks;
}

function thinkingBlock(block: ContentBlock, call: ProviderCall, model: Model): Json[] {
  if (block.type === 'text') return block.text.trim() === '' ? [] : [{ text: block.text }];
  // Claude refuses thinking that it did not sign. Others than Claude and Nova want no thinking back at all.
  const isWanted = block.type === 'thinking'
    ? isNova(model) || ((isClaude(model) || model.vendor === '') && block.signature !== undefined && block.signature !== '')
    : isNova(model) || isClaude(model) || model.vendor === '';
  if (!isWanted) {
    call.report('messages.content_blocks');
    return [];
  }
  if (block.type === 'redacted_thinking') return [{ reasoningContent: { redactedContent: block.data } }];
  const signature = block.signature === undefined || block.signature === '' ? {} : { signature: block.signature };
  return [{ reasoningContent: { reasoningText: { text: block.thinking, ...signature } } }];
}

/**
 * Ids of other providers in the history may hold characters that Converse refuses, and Mistral's models want nine letters and digits: such
 * an id is replaced by one made from it, the same for the call and its result.
 */
function toolUseId(id: string, model: Model): string {
  if (model.vendor === 'mistral') return /^[a-zA-Z0-9]{9}$/.test(id) ? id : digest(id).slice(0, 9);
  return toolUseIdPattern.test(id) ? id : `call_${digest(id).slice(0, 24)}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Joins neighbours of the same role; within a user message the tool results come first, as the models demand. */
class Messages {
  readonly #messages: Json[] = [];
  #role: 'user' | 'assistant' | '' = '';
  #results: Json[] = [];
  #content: Json[] = [];

  user(...blocks: readonly Json[]): void {
    this.#turnTo('user');
    this.#content.push(...blocks);
  }

  assistant(...blocks: readonly Json[]): void {
    this.#turnTo('assistant');
    this.#content.push(...blocks);
  }

  toolResult(...blocks: readonly Json[]): void {
    this.#turnTo('user');
    this.#results.push(...blocks);
  }

  finished(): Json[] {
    this.#turnTo('');
    return this.#messages;
  }

  #turnTo(role: 'user' | 'assistant' | ''): void {
    if (role === this.#role) return;
    if (this.#role !== '') this.#messages.push({ role: this.#role, content: [...this.#results, ...this.#content] });
    this.#role = role;
    this.#results = [];
    this.#content = [];
  }
}
