import { argumentsOf, readTurns, type Json, type JsonObject, type ProviderCall, type Turn } from '@gateway/plugin-sdk';
import { blocksOf, markLast, textBlock, type Block } from './content.js';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

export interface Conversation {
  readonly system: readonly Block[];
  readonly messages: readonly Message[];
}

/**
 * The turns as the API wants them: system text apart, user and assistant alternating, and the results of all calls of one answer at the
 * head of one user message. System messages between the turns move to the others in `system`, in their order: only some models take them
 * where they stand, and none on the cloud platforms.
 */
export function readConversation(body: JsonObject, call: ProviderCall): Conversation {
  const system: Block[] = [];
  const messages: Message[] = [];
  for (const turn of readTurns(body, call)) {
    switch (turn.role) {
      case 'system': system.push(...systemBlocks(turn, call)); break;
      case 'user': {
        if (turn.name !== undefined) call.report('messages.name');
        const blocks = blocksOf(turn.parts, call);
        markLast(blocks, turn.cacheControl);
        append(messages, 'user', blocks);
        break;
      }
      case 'assistant': append(messages, 'assistant', assistantBlocks(turn, call)); break;
      case 'tool': appendResult(messages, resultBlock(turn, call)); break;
    }
  }
  return { system, messages };
}

/** Whether the conversation stands in the middle of a tool's use, and the answer that called the tool comes back without its thinking. */
export function isThinkingLost(messages: readonly Message[]): boolean {
  const [answer, results] = messages.slice(-2);
  if (answer?.role !== 'assistant' || results?.content[0]?.type !== 'tool_result') return false;
  const first = answer.content[0]?.type;
  return first !== 'thinking' && first !== 'redacted_thinking';
}

function append(messages: Message[], role: Message['role'], blocks: readonly Block[]): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else messages.push({ role, content: [...blocks] });
}

/** Results stand before everything else in their message, also when the client put a text between them. */
function appendResult(messages: Message[], result: Block): void {
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    messages.push({ role: 'user', content: [result] });
    return;
  }
  const after = last.content.findLastIndex((block) => block.type === 'tool_result') + 1;
  last.content.splice(after, 0, result);
}

function systemBlocks(turn: Extract<Turn, { role: 'system' }>, call: ProviderCall): Block[] {
  for (const part of turn.parts) {
    if (part.kind !== 'text') call.refuse(part.place, 'a system message holds text only');
  }
  const blocks = blocksOf(turn.parts, call);
  markLast(blocks, turn.cacheControl);
  return blocks;
}

function assistantBlocks(turn: Extract<Turn, { role: 'assistant' }>, call: ProviderCall): Block[] {
  const blocks: Block[] = [];
  let hasText = false;
  for (const block of turn.blocks) {
    switch (block.type) {
      case 'text':
        hasText = true;
        if (block.text.trim() !== '') blocks.push(textBlock(block.text));
        break;
      case 'thinking':
        // Without its signature it is another provider's reasoning, which the API rejects.
        if (block.signature === undefined || block.signature === '') call.report('messages.content_blocks');
        else blocks.push({ type: 'thinking', thinking: block.thinking, signature: block.signature });
        break;
      case 'redacted_thinking': blocks.push({ type: 'redacted_thinking', data: block.data }); break;
    }
  }
  if (!hasText) blocks.push(...blocksOf(turn.parts, call));
  if (turn.parts.length === 0 && turn.refusal !== undefined && turn.refusal.trim() !== '') blocks.push(textBlock(turn.refusal));
  for (const toolCall of turn.toolCalls) {
    blocks.push({ type: 'tool_use', id: wireId(toolCall.id), name: toolCall.name, input: argumentsOf(toolCall, call, turn.place) });
  }
  markLast(blocks, turn.cacheControl);
  return blocks;
}

function resultBlock(turn: Extract<Turn, { role: 'tool' }>, call: ProviderCall): Block {
  const block: Block = { type: 'tool_result', tool_use_id: wireId(turn.toolCallId) };
  const content = resultContent(turn, call);
  if (content !== undefined) block.content = content;
  if (turn.isError) block.is_error = true;
  markLast([block], turn.cacheControl);
  return block;
}

function resultContent(turn: Extract<Turn, { role: 'tool' }>, call: ProviderCall): Json | undefined {
  const [only] = turn.parts;
  if (turn.parts.length === 1 && only?.kind === 'text' && only.cacheControl === undefined) return only.text === '' ? undefined : only.text;
  const blocks = blocksOf(turn.parts, call);
  return blocks.length === 0 ? undefined : blocks;
}

/** The API takes letters, digits, `_` and `-` in ids; those that another provider gave may hold more. */
const wireId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, '_');
