// Hot: runs for each tool call delta of a translated stream.
// Says which tool call a delta belongs to. OpenAI tells by index; others leave the index out, give all calls the same one, name the id in
// every delta or late, or send whole calls. Keeps the calls of one answer; writes nothing.

import { isObject, type JsonObject } from '@gateway/plugin-sdk';
import { ToolSegment } from './tool-segment.js';

export class ToolDeltas {
  /** All calls, oldest first. */
  readonly #tools: ToolSegment[] = [];
  /** The newest call that came under an index. */
  readonly #byIndex = new Map<number, ToolSegment>();

  /** The call that `delta` is part of; `onNew` is called before when it begins one. Takes over id and name, once each. */
  find(delta: JsonObject, onNew: (tool: ToolSegment) => void): ToolSegment {
    const called = isObject(delta.function) ? delta.function : delta;
    const id = typeof delta.id === 'string' ? delta.id : '';
    const name = typeof called.name === 'string' ? called.name : '';
    const index = typeof delta.index === 'number' ? delta.index : -1;
    let tool = index === -1 ? this.#withoutIndex(id, name) : this.#withIndex(index, id, name, hasArguments(called));
    if (tool === undefined) {
      tool = new ToolSegment();
      this.#tools.push(tool);
      onNew(tool);
    }
    if (index !== -1) this.#byIndex.set(index, tool);
    if (tool.id === '' && !tool.isOpen) tool.id = id;
    if (tool.name === '') tool.name = name;
    return tool;
  }

  #withIndex(index: number, id: string, name: string, hasMore: boolean): ToolSegment | undefined {
    const tool = this.#byIndex.get(index);
    if (tool === undefined || name === '') return tool;
    // With a name it may be another call under the same index.
    if (id !== '' && tool.id !== '') return id === tool.id ? tool : undefined;
    return hasMore && tool.extent.isWhole ? undefined : tool;
  }

  #withoutIndex(id: string, name: string): ToolSegment | undefined {
    const last = this.#tools.at(-1);
    if (id !== '') {
      const known = this.#tools.findLast((tool) => tool.id === id);
      if (known !== undefined) return known;
      // A late id has no name with it, or the one that is known.
      return last !== undefined && last.id === '' && !last.isOpen && (name === '' || name === last.name) ? last : undefined;
    }
    if (name === '' || last === undefined) return last;
    // A call without an id: its name in every delta, or another call.
    return last.name === '' || (last.name === name && !last.extent.isWhole) ? last : undefined;
  }
}

const hasArguments = (called: JsonObject): boolean => called.arguments !== undefined && called.arguments !== null && called.arguments !== '';
