// Hot: runs for each event of a translated stream.
// Puts the pieces of an answer into content blocks that come one after another, as the Messages API wants them, although chat providers may
// send the arguments of parallel tool calls in turns. The first unfinished block is written live; what belongs behind it waits.
// Loses no piece: a tool call counts as finished when its arguments are a whole JSON value, or at the end, not when another one begins.

import type { EventSink, JsonObject } from '@gateway/plugin-sdk';
import type { ToolSegment } from '../chat/tool-segment.js';
import type { ToolIds } from './outcome.js';
import { signatureBlock } from './signature.js';

interface TextSegment {
  readonly kind: 'text';
  /** Which of the provider's blocks this is. */
  readonly source: number;
  pending: string;
  isOpen: boolean;
}

interface ThinkingSegment {
  readonly kind: 'thinking';
  /** Which of the provider's blocks this is. */
  readonly source: number;
  pending: string;
  signature: string;
  isOpen: boolean;
}

interface RedactedSegment {
  readonly kind: 'redacted';
  readonly block: JsonObject;
}

type Segment = ToolSegment | TextSegment | ThinkingSegment | RedactedSegment;

export class BlockWriter {
  /** In the order of the answer; the first is being written. */
  readonly #segments: Segment[] = [];
  #index = 0;
  hasToolUse = false;

  constructor(readonly ids: ToolIds) {}

  text(source: number, text: string, out: EventSink): void {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.kind === 'text' && last.source === source) last.pending += text;
    else this.#segments.push({ kind: 'text', source, pending: text, isOpen: false });
    this.#drain(out, false);
  }

  thinking(source: number, thinking: string, out: EventSink): void {
    this.#thinkingSegment(source).pending += thinking;
    this.#drain(out, false);
  }

  signature(source: number, signature: string, out: EventSink): void {
    this.#thinkingSegment(source).signature += signature;
    this.#drain(out, false);
  }

  redacted(block: JsonObject, out: EventSink): void {
    this.#segments.push({ kind: 'redacted', block });
    this.#drain(out, false);
  }

  addTool(tool: ToolSegment): void {
    this.#segments.push(tool);
  }

  /** To be called after `tool` got new members. */
  toolArguments(tool: ToolSegment, piece: string, out: EventSink): void {
    if (piece !== '') {
      if (tool.isClosed) {
        if (piece.trim() === '') return;
        throw new Error(`the provider went on with the arguments of tool call ${tool.blockId} after they were a whole JSON value`);
      }
      tool.hasArguments = true;
      tool.pending += piece;
      tool.extent.push(piece);
    }
    this.#drain(out, false);
  }

  /** A signature that came after its tool call had begun still reaches the client, behind the call. */
  thoughtSignature(tool: ToolSegment, signature: string, out: EventSink): void {
    if (tool.thoughtSignature === signature) return;
    tool.thoughtSignature = signature;
    if (tool.isOpen) this.redacted(signatureBlock(tool.blockId, signature), out);
  }

  /** Nothing more comes: writes what waits and closes the last block. */
  end(out: EventSink): void {
    this.#drain(out, true);
  }

  #thinkingSegment(source: number): ThinkingSegment {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.kind === 'thinking' && last.source === source) return last;
    const segment: ThinkingSegment = { kind: 'thinking', source, pending: '', signature: '', isOpen: false };
    this.#segments.push(segment);
    return segment;
  }

  #drain(out: EventSink, isFinal: boolean): void {
    for (let head = this.#segments[0]; head !== undefined; head = this.#segments[0]) {
      const isLast = this.#segments.length === 1;
      switch (head.kind) {
        case 'text':
          if (!head.isOpen) {
            // The API refuses a text of nothing but blanks when the client sends it back: it waits for a letter, or is left out.
            if (head.pending.trim() === '') {
              if (isLast && !isFinal) return;
              break;
            }
            this.#open(out, { type: 'text', text: '' });
            head.isOpen = true;
          }
          if (head.pending !== '') this.#delta(out, { type: 'text_delta', text: head.pending });
          head.pending = '';
          if (isLast && !isFinal) return;
          this.#close(out);
          break;
        case 'thinking':
          if (!head.isOpen) this.#open(out, { type: 'thinking', thinking: '', signature: '' });
          head.isOpen = true;
          if (head.pending !== '') this.#delta(out, { type: 'thinking_delta', thinking: head.pending });
          head.pending = '';
          if (isLast && !isFinal) return;
          // Right before the end of the block, whole: clients set it rather than add to it.
          if (head.signature !== '') this.#delta(out, { type: 'signature_delta', signature: head.signature });
          this.#close(out);
          break;
        case 'redacted':
          this.#open(out, head.block);
          this.#close(out);
          break;
        case 'tool':
          if (!this.#drainTool(head, out, isLast, isFinal)) return;
      }
      this.#segments.shift();
    }
  }

  /** False: the call may still go on. */
  #drainTool(tool: ToolSegment, out: EventSink, isLast: boolean, isFinal: boolean): boolean {
    const isFinished = isFinal || (!isLast && tool.extent.isWhole);
    if (!tool.isOpen) {
      if (tool.name === '') {
        if (!isFinal) return false;
        if (!tool.hasArguments) return true;
        throw new Error('the stream holds a tool call without a name');
      }
      // The id may come later, until there is nothing more to come.
      if (tool.id === '' && !isFinished) return false;
      tool.blockId = this.ids.take(tool.id);
      tool.isOpen = true;
      this.hasToolUse = true;
      if (tool.thoughtSignature !== '') {
        this.#open(out, signatureBlock(tool.blockId, tool.thoughtSignature));
        this.#close(out);
      }
      this.#open(out, { type: 'tool_use', id: tool.blockId, name: tool.name, input: {} });
    }
    if (tool.pending !== '') this.#delta(out, { type: 'input_json_delta', partial_json: tool.pending });
    tool.pending = '';
    if (!isFinished) return false;
    tool.isClosed = true;
    this.#close(out);
    return true;
  }

  #open(out: EventSink, block: JsonObject): void {
    out.write({ event: 'content_block_start', data: { type: 'content_block_start', index: this.#index, content_block: block } });
  }

  #delta(out: EventSink, delta: JsonObject): void {
    out.write({ event: 'content_block_delta', data: { type: 'content_block_delta', index: this.#index, delta } });
  }

  #close(out: EventSink): void {
    out.write({ event: 'content_block_stop', data: { type: 'content_block_stop', index: this.#index } });
    this.#index += 1;
  }
}
