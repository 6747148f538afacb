// Hot: runs for each tool call delta that is put together.
// Which call a delta belongs to is found as it is for translated streams, because the providers that leave indexes and ids out are the same.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { ToolSegment } from './tool-segment.js';
import { ToolDeltas } from './tool-deltas.js';
import { Fragments, Members } from '../common/members.js';

const growing: ReadonlySet<string> = new Set(['arguments', 'input']);

/** What a call takes with nothing in it. */
const callBytes = 64;

interface Call {
  /** id, type, and what providers add. */
  readonly members: Members;
  /** `function` or `custom`, as far as they came. */
  readonly called: Map<string, Fragments>;
}

export class ToolCalls {
  readonly #deltas = new ToolDeltas();
  /** In the order they began. */
  readonly #calls = new Map<ToolSegment, Call>();
  #bytes = 0;

  read(deltas: readonly Json[]): number {
    this.#bytes = 0;
    for (const delta of deltas) if (isObject(delta)) this.#readOne(delta);
    return this.#bytes;
  }

  list(): JsonObject[] {
    return [...this.#calls.values()].map(({ members, called }) => {
      const { id, type, ...rest } = members.object();
      const call: Record<string, Json> = {};
      if (id !== undefined) call.id = id;
      call.type = type ?? [...called.keys()][0] ?? 'function';
      for (const [name, fragments] of called) {
        const text = name === 'custom' ? 'input' : 'arguments';
        call[name] = { [text]: '', ...fragments.object() };
      }
      return { ...call, ...rest };
    });
  }

  #readOne(delta: JsonObject): void {
    const segment = this.#deltas.find(delta, (created) => {
      this.#calls.set(created, { members: new Members(), called: new Map() });
      this.#bytes += callBytes;
    });
    const call = this.#calls.get(segment);
    if (call === undefined) return;
    for (const name in delta) {
      const value = delta[name];
      if (name === 'index') continue;
      if ((name === 'function' || name === 'custom') && isObject(value)) this.#readCalled(segment, call, name, value);
      else this.#bytes += call.members.set(name, value);
    }
  }

  #readCalled(segment: ToolSegment, call: Call, kind: string, value: JsonObject): void {
    let fragments = call.called.get(kind);
    if (fragments === undefined) {
      fragments = new Fragments(growing);
      call.called.set(kind, fragments);
    }
    for (const name in value) {
      const given = value[name];
      // Some write whole arguments as an object.
      const piece = name === 'arguments' && isObject(given) ? JSON.stringify(given) : given;
      if (name === 'arguments' && typeof piece === 'string') segment.extent.push(piece);
      this.#bytes += fragments.set(name, piece);
    }
  }
}
