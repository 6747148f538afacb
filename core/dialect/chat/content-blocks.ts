// Hot: runs for each piece of a content block that is put together.
// The extension `content_blocks` of the chat dialect: `{ index, delta }` is a piece of the block with this index, `{ index, content_block }`
// begins one, or is one whole.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import { Fragments } from '../common/members.js';

/** A signature comes whole, and clients set it rather than add to it. */
const growing: ReadonlySet<string> = new Set(['text', 'thinking', 'data']);

export class ContentBlocks {
  readonly #blocks = new Map<number, Fragments>();

  read(entries: readonly Json[]): number {
    let bytes = 0;
    for (const entry of entries) {
      if (!isObject(entry)) continue;
      const { index: place, ...itself } = entry;
      const index = typeof place === 'number' ? place : this.#blocks.size;
      let block = this.#blocks.get(index);
      if (block === undefined) {
        block = new Fragments(growing);
        this.#blocks.set(index, block);
        bytes += 16;
      }
      const hasForm = isObject(entry.content_block) || isObject(entry.delta);
      if (isObject(entry.content_block)) bytes += block.setAll(entry.content_block);
      if (isObject(entry.delta)) bytes += block.setAll(entry.delta);
      if (!hasForm) bytes += block.setAll(itself);
    }
    return bytes;
  }

  /** In the order of their indexes; none when all that they say is `content`. */
  list(content: string): JsonObject[] {
    const blocks = [...this.#blocks].sort(([left], [right]) => left - right).map(([, fragments]) => typed(fragments.object()));
    const isContentAlone = blocks.every((block) => block.type === 'text' && Object.keys(block).length === 2);
    return isContentAlone && blocks.map(({ text }) => text).join('') === content ? [] : blocks;
  }
}

/** Pieces do not say what they are pieces of. */
function typed(block: JsonObject): JsonObject {
  const { type, ...rest } = block;
  if (type === 'thinking' || (type === undefined && ('thinking' in block || 'signature' in block))) return { type: 'thinking', thinking: '', ...rest };
  if (type === 'text' || (type === undefined && 'text' in block)) return { type: 'text', text: '', ...rest };
  return block;
}
