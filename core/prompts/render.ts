// Renders the nodes of a template (template.ts) with JSON values. Values are only ever text: nothing in a value is read as a template, names a
// partial or reaches a prototype. Steps, depth and output are limited, so that no template occupies its thread for long.

import { exactDigits, isExactNumber, writeJson, type Json } from '@gateway/plugin-sdk';
import type { Node, Path, Template } from './template.js';

/** The prompt cannot be rendered; `reason` says why in the words of a refusal. */
export class RenderFault extends Error {
  constructor(readonly param: 'variables' | 'prompt', readonly reason: string) {
    super(reason);
  }
}

/** Steps of one rendering: nodes written, and values visited to find one. */
export const stepsMax = 500_000;
/** Characters of everything that one call renders. */
export const renderedCharsMax = 16 * 1024 * 1024;
/** Depth of partials within partials. */
export const partialLevelsMax = 10;

/** Finds the template of a partial; undefined: it does not exist or may not be used. `version` as in PartialName. */
export type FindPartial = (slug: string, version: string) => Template | undefined;

export interface Variables {
  readonly given: Readonly<Record<string, unknown>>;
  /** Values for variables that the call leaves out; null: none. */
  readonly defaults: Readonly<Record<string, unknown>> | null;
}

/** Position in JSON text: 0 between strings, 1 in a string, 2 in a string after a backslash. */
type JsonState = 0 | 1 | 2;
const quote = 0x22, backslash = 0x5c;

export class Rendering {
  #out = '';
  #steps = stepsMax;
  #levels = 0;
  readonly #stack: unknown[];
  /** Put before each line of a partial. */
  #indentation = '';
  #isLineStart = false;
  #state: JsonState = 0;

  /** `charsLeft`: characters that may still be rendered with this object. `isJson`: the output is JSON, in which values may not begin or end a string. */
  constructor(variables: Variables, readonly find: FindPartial, public charsLeft: number, readonly isJson: boolean) {
    this.#stack = variables.defaults === null ? [variables.given] : [variables.defaults, variables.given];
  }

  /** Throws RenderFault. */
  render(nodes: readonly Node[]): string {
    this.#out = '';
    this.#write(nodes);
    this.charsLeft -= this.#out.length;
    return this.#out;
  }

  #write(nodes: readonly Node[]): void {
    for (let index = 0; index < nodes.length; index += 1) {
      const node = nodes[index] as Node;
      this.#take(1);
      if (typeof node === 'string') {
        this.#text(node);
        continue;
      }
      switch (node[0]) {
        case 'v': this.#value(this.#lookup(node[1])); break;
        case '#': this.#section(this.#lookup(node[1]), node[2]); break;
        case '^': if (isEmpty(this.#lookup(node[1]))) this.#write(node[2]); break;
        case '>': this.#partial(node[1], node[2], node[3]); break;
        case '>>': this.#given(node[1]); break;
      }
    }
  }

  #section(value: unknown, nodes: readonly Node[]): void {
    if (isEmpty(value)) return;
    const stack = this.#stack;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        this.#take(1);
        stack.push(value[index]);
        this.#write(nodes);
        stack.pop();
      }
      return;
    }
    if (value === true) {
      this.#write(nodes);
      return;
    }
    stack.push(value);
    this.#write(nodes);
    stack.pop();
  }

  /** Looks for the first name in the sections from the inside out, then for the other names in the value found. Own members only, never a prototype's. */
  #lookup(path: Path): unknown {
    const stack = this.#stack;
    if (path.length === 0) return stack[stack.length - 1];
    const first = path[0] as string;
    for (let index = stack.length - 1; index >= 0; index -= 1) {
      this.#take(1);
      const view = stack[index];
      if (typeof view !== 'object' || view === null || !Object.hasOwn(view, first)) continue;
      let value: unknown = (view as Readonly<Record<string, unknown>>)[first];
      for (let at = 1; at < path.length; at += 1) {
        const name = path[at] as string;
        if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
        value = (value as Readonly<Record<string, unknown>>)[name];
      }
      return value;
    }
    return undefined;
  }

  #partial(slug: string, version: string, indentation: string): void {
    const template = this.find(slug, version);
    const shown = version === '' ? slug : `${slug}@${version}`;
    if (template === undefined) throw new RenderFault('prompt', `its template names the partial ${shown}, which is not there, is archived or has no such version`);
    if (this.#levels === partialLevelsMax) throw new RenderFault('prompt', `partials name one another deeper than ${partialLevelsMax} levels, or in a circle, at ${shown}`);
    const [indentationBefore, isLineStartBefore] = [this.#indentation, this.#isLineStart];
    this.#levels += 1;
    this.#indentation = indentationBefore + indentation;
    this.#isLineStart = this.#indentation !== '' && (indentation !== '' || isLineStartBefore);
    this.#write(template.nodes);
    this.#indentation = indentationBefore;
    if (indentationBefore === '') this.#isLineStart = false;
    this.#levels -= 1;
  }

  #given(name: string): void {
    const value = this.#lookup([name]);
    if (value === undefined || value === null) throw new RenderFault('variables', `${name} is missing, and the template asks for it as a partial; give its text`);
    this.#value(value);
  }

  #text(text: string): void {
    if (this.isJson) this.#state = stateBehind(text, this.#state);
    if (this.#indentation === '') this.#put(text);
    else this.#putLines(text);
  }

  #putLines(text: string): void {
    for (let from = 0; from < text.length;) {
      const end = text.indexOf('\n', from);
      const to = end === -1 ? text.length : end + 1;
      this.#take(1);
      if (this.#isLineStart && end !== from) this.#put(this.#indentation);
      this.#put(text.slice(from, to));
      this.#isLineStart = end !== -1;
      from = to;
    }
  }

  #value(value: unknown): void {
    if (value === undefined || value === null) return;
    if (this.#isLineStart) {
      this.#put(this.#indentation);
      this.#isLineStart = false;
    }
    const isText = typeof value === 'string' && !isExactNumber(value);
    const text = textOf(value);
    // Objects are written as JSON each time, which takes far longer than a text.
    if (typeof value === 'object') this.#take(4 + (text.length >> 4));
    if (!this.isJson) {
      this.#put(text);
      return;
    }
    if (this.#state === 2) throw new RenderFault('prompt', 'its raw template has a tag right behind a backslash, which would take the first character of a value with it');
    if (this.#state === 1) this.#put(JSON.stringify(text).slice(1, -1));
    else this.#put(isText ? JSON.stringify(value) : text);
  }

  #put(text: string): void {
    if (this.#out.length + text.length > this.charsLeft) throw new RenderFault('variables', 'would make the prompt longer than it may be; give less');
    this.#out += text;
  }

  #take(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new RenderFault('variables', `hold more than the template can go through in ${stepsMax} steps; give shorter lists`);
  }
}

/** Values for which a section is skipped: those that are false in JavaScript, and empty lists. */
const isEmpty = (value: unknown): boolean => !value || (Array.isArray(value) && value.length === 0);

/** The text of a value; values that are not texts are written as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return isExactNumber(value) ? exactDigits(value) : value;
  // It came from a parsed body, so it is JSON.
  return typeof value === 'object' ? writeJson(value as Json) : String(value);
}

function stateBehind(text: string, before: JsonState): JsonState {
  let state = before;
  for (let index = 0; index < text.length; index += 1) {
    if (state === 2) {
      state = 1;
      continue;
    }
    const code = text.charCodeAt(index);
    if (code === quote) state = state === 0 ? 1 : 0;
    else if (code === backslash && state === 1) state = 2;
  }
  return state;
}
