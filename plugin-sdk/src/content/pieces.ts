import type { TextEdit } from '../kinds/guardrail.js';
import type { EndpointName, Json } from '../shared.js';

/** One text of a body: what somebody wrote, or will read. */
export interface TextPiece {
  /** Place in the body, name by name: `['messages', 2, 'content', 0, 'text']`. Behind a text that is JSON the place goes on inside of it. */
  readonly at: readonly (string | number)[];
  /** `arguments`: one value in the arguments of a tool call. `thinking`: the model's reasoning. */
  readonly kind: 'text' | 'arguments' | 'thinking';
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** What belongs together: the index of the message or list item, of an answer the choice. */
  readonly group: number;
  readonly text: string;
}

type Members = Readonly<Record<string, Json>>;
type Place = readonly (string | number)[];
type Role = TextPiece['role'];

/** Places deeper than this are not told apart any more. */
const depthMax = 32;

/** `messages[2].content[0].text` */
export const placeOf = (piece: TextPiece): string =>
  piece.at.reduce<string>((path, name) => (typeof name === 'number' ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`), '');

/** Every text of a request that somebody wrote, in order. Tool definitions are the application's own and not among them. */
export function requestPieces(endpoint: EndpointName, body: Json): TextPiece[] {
  const pieces = new Pieces();
  if (!isMembers(body)) return pieces.list;
  switch (endpoint) {
    case 'chatCompletions': pieces.chatMessages(body.messages); break;
    case 'messages': case 'countTokens':
      pieces.content(body.system, ['system'], 'system', -1);
      pieces.chatMessages(body.messages);
      break;
    case 'responses':
      pieces.text(body.instructions, ['instructions'], 'system', -1);
      pieces.responseItems(body.input, ['input'], 'user');
      break;
    case 'completions':
      pieces.texts(body.prompt, ['prompt'], 'user');
      pieces.text(body.suffix, ['suffix'], 'user', 0);
      break;
    case 'embeddings': pieces.inputs(body.input, ['input']); break;
    case 'moderations': pieces.inputs(body.input, ['input']); break;
    case 'rerank':
      pieces.content(body.query, ['query'], 'user', -1);
      each(body.documents, (document, index) => pieces.content(document, ['documents', index], 'user', index));
      break;
    case 'imageGenerations': pieces.text(body.prompt, ['prompt'], 'user', 0); break;
    case 'speech':
      pieces.text(body.input, ['input'], 'user', 0);
      pieces.text(body.instructions, ['instructions'], 'system', 0);
      break;
    default:
  }
  return pieces.list;
}

/** Every text of a plain answer, in order; all choices. */
export function answerPieces(endpoint: EndpointName, body: Json): TextPiece[] {
  const pieces = new Pieces();
  if (!isMembers(body)) return pieces.list;
  switch (endpoint) {
    case 'chatCompletions':
      each(body.choices, (choice, index) => {
        if (isMembers(choice)) pieces.message(choice.message, ['choices', index, 'message'], 'assistant', index);
      });
      break;
    case 'completions':
      each(body.choices, (choice, index) => {
        if (isMembers(choice)) pieces.text(choice.text, ['choices', index, 'text'], 'assistant', index);
      });
      break;
    case 'messages': pieces.content(body.content, ['content'], 'assistant', 0); break;
    case 'responses': pieces.responseItems(body.output, ['output'], 'assistant'); break;
    default:
  }
  return pieces.list;
}

class Pieces {
  readonly list: TextPiece[] = [];

  text(value: Json | undefined, at: Place, role: Role, group: number, kind: TextPiece['kind'] = 'text'): void {
    if (typeof value === 'string' && value !== '') this.list.push({ at, kind, role, group, text: value });
  }

  /** A text, or a list of texts, each a group of its own. */
  texts(value: Json | undefined, at: Place, role: Role): void {
    this.text(value, at, role, 0);
    each(value, (item, index) => this.text(item, [...at, index], role, index));
  }

  /** Texts, or lists of content parts, as embeddings and moderations take them. */
  inputs(value: Json | undefined, at: Place): void {
    this.text(value, at, 'user', 0);
    each(value, (item, index) => this.content(item, [...at, index], 'user', index));
  }

  chatMessages(value: Json | undefined): void {
    each(value, (message, index) => {
      if (isMembers(message)) this.message(message, ['messages', index], roleOf(message.role), index);
    });
  }

  message(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (!isMembers(value)) return;
    // Compatible providers are not of one mind about its name.
    this.text(value.reasoning_content, [...at, 'reasoning_content'], role, group, 'thinking');
    this.text(value.reasoning, [...at, 'reasoning'], role, group, 'thinking');
    each(value.reasoning_details, (detail, index) => {
      if (!isMembers(detail)) return;
      this.text(detail.text, [...at, 'reasoning_details', index, 'text'], role, group, 'thinking');
      this.text(detail.summary, [...at, 'reasoning_details', index, 'summary'], role, group, 'thinking');
    });
    this.content(value.content, [...at, 'content'], role, group);
    // Blocks beside the content, as the chat pivot carries them. Where their text is the content once more, it is read once and changed in both.
    const isCopy = blocksText(value.content_blocks) === value.content;
    each(value.content_blocks, (block, index) => {
      if (!isMembers(block)) return;
      if (block.type === 'thinking') this.text(block.thinking, [...at, 'content_blocks', index, 'thinking'], role, group, 'thinking');
      else if (block.type === 'text' && !isCopy) this.text(block.text, [...at, 'content_blocks', index, 'text'], role, group);
    });
    this.text(value.refusal, [...at, 'refusal'], role, group);
    each(value.tool_calls, (call, index) => {
      if (!isMembers(call)) return;
      if (isMembers(call.function)) this.jsonText(call.function.arguments, [...at, 'tool_calls', index, 'function', 'arguments'], role, group);
      if (isMembers(call.custom)) this.text(call.custom.input, [...at, 'tool_calls', index, 'custom', 'input'], role, group, 'arguments');
    });
    if (isMembers(value.function_call)) this.jsonText(value.function_call.arguments, [...at, 'function_call', 'arguments'], role, group);
    if (isMembers(value.audio)) this.text(value.audio.transcript, [...at, 'audio', 'transcript'], role, group);
  }

  /** A text, a part, or a list of parts in any of the dialects. */
  content(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (at.length > depthMax) this.text(deepText(value), at, role, group);
    else if (typeof value === 'string') this.text(value, at, role, group);
    else if (isMembers(value)) this.part(value, at, role, group);
    else each(value, (part, index) => this.content(part, [...at, index], role, group));
  }

  part(part: Members, at: Place, role: Role, group: number): void {
    this.text(part.text, [...at, 'text'], role, group);
    this.text(part.refusal, [...at, 'refusal'], role, group);
    this.text(part.thinking, [...at, 'thinking'], role, group, 'thinking');
    this.text(part.title, [...at, 'title'], role, group);
    this.text(part.context, [...at, 'context'], role, group);
    switch (part.type) {
      case 'tool_use': case 'server_tool_use': case 'mcp_tool_use': this.values(part.input, [...at, 'input'], role, group, 0); break;
      case 'tool_result': case 'mcp_tool_result': case 'search_result': this.content(part.content, [...at, 'content'], part.type === 'search_result' ? role : 'tool', group); break;
      case 'document':
        if (!isMembers(part.source)) break;
        if (part.source.type === 'text') this.text(part.source.data, [...at, 'source', 'data'], role, group);
        else this.content(part.source.content, [...at, 'source', 'content'], role, group);
        break;
      default:
    }
  }

  responseItems(value: Json | undefined, at: Place, byDefault: Role): void {
    if (typeof value === 'string') {
      this.text(value, at, byDefault, 0);
      return;
    }
    each(value, (item, index) => {
      if (!isMembers(item)) return;
      const place = [...at, index];
      // Of an answer everything is one choice.
      const group = byDefault === 'assistant' ? 0 : index;
      switch (item.type) {
        case 'function_call': this.jsonText(item.arguments, [...place, 'arguments'], 'assistant', group); break;
        case 'mcp_call':
          this.jsonText(item.arguments, [...place, 'arguments'], 'assistant', group);
          this.text(item.output, [...place, 'output'], 'tool', group);
          break;
        case 'custom_tool_call': this.text(item.input, [...place, 'input'], 'assistant', group, 'arguments'); break;
        case 'function_call_output': case 'custom_tool_call_output': case 'local_shell_call_output': this.content(item.output, [...place, 'output'], 'tool', group); break;
        case 'code_interpreter_call': this.text(item.code, [...place, 'code'], 'assistant', group, 'arguments'); break;
        case 'reasoning':
          each(item.summary, (part, at2) => isMembers(part) && this.text(part.text, [...place, 'summary', at2, 'text'], 'assistant', group, 'thinking'));
          each(item.content, (part, at2) => isMembers(part) && this.text(part.text, [...place, 'content', at2, 'text'], 'assistant', group, 'thinking'));
          break;
        default: this.content(item.content, [...place, 'content'], typeof item.role === 'string' ? roleOf(item.role) : byDefault, group);
      }
    });
  }

  /** Arguments that travel as JSON text: each value in them, or the text itself when it is no JSON. */
  jsonText(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (typeof value !== 'string') return;
    let parsed: Json;
    try {
      parsed = JSON.parse(value);
    } catch {
      this.text(value, at, role, group, 'arguments');
      return;
    }
    if (typeof parsed === 'object' && parsed !== null) this.values(parsed, at, role, group, 0);
    else this.text(value, at, role, group, 'arguments');
  }

  values(value: Json | undefined, at: Place, role: Role, group: number, depth: number): void {
    if (typeof value === 'string') this.text(value, at, role, group, 'arguments');
    else if (typeof value === 'number') this.text(String(value), at, role, group, 'arguments');
    else if (typeof value !== 'object' || value === null) return;
    else if (depth === depthMax) this.text(deepText(value), at, role, group, 'arguments');
    else if (Array.isArray(value)) value.forEach((item: Json, index) => this.values(item, [...at, index], role, group, depth + 1));
    else for (const [name, item] of Object.entries(value)) this.values(item, [...at, name], role, group, depth + 1);
  }
}

/**
 * The body with the edits made; nothing of the old one is written to. A logarithm of probabilities shows the words that were there, so `logprobs`
 * of a changed choice become null; a signature does not fit a changed thought any more, and becomes empty.
 */
export function applyEdits(body: Json, pieces: readonly TextPiece[], edits: readonly TextEdit[]): Json {
  const byPiece = new Map<number, TextEdit[]>();
  for (const edit of edits) {
    const list = byPiece.get(edit.piece);
    if (list === undefined) byPiece.set(edit.piece, [edit]);
    else list.push(edit);
  }
  const copy = new BodyCopy(body);
  for (const [index, list] of byPiece) {
    const piece = pieces[index];
    if (piece === undefined) throw new RangeError(`there is no piece ${index}`);
    const text = editText(piece.text, list);
    if (text === piece.text) continue;
    copy.set(piece.at, text);
    const part = piece.at.slice(0, -1);
    if (piece.at.at(-1) === 'content') joinBlocks(copy, part, piece.text, text);
    if (piece.at[0] === 'choices') copy.replace(['choices', piece.group, 'logprobs'], null);
    if (piece.kind === 'thinking') copy.replace([...part, 'signature'], '');
    if (piece.kind === 'text') copy.replace([...part, 'logprobs'], []);
  }
  return copy.body();
}

/** A container of the copy, which may be written to. */
type Container = Record<string | number, Json>;

/** A body with places written to. Each list and object on the way to one is copied once, however many places below it change; JSON inside of a text is parsed and written once. */
class BodyCopy {
  #root: Json;
  readonly #copied = new Set<Json>();
  /** Texts that are JSON, where they stand. */
  readonly #opened = new Map<Container, Map<string | number, BodyCopy>>();

  constructor(body: Json) {
    this.#root = body;
  }

  set(at: Place, value: Json, from = 0): void {
    const last = at.length - 1;
    if (last < from) {
      this.#root = value;
      return;
    }
    let container = this.#root = this.#copyOf(this.#root);
    for (let depth = from; depth < last; depth += 1) {
      const name = at[depth] as string | number;
      const inner: Json | undefined = memberOf(container, name);
      if (typeof inner === 'string') {
        this.#openedAt(container, name, inner).set(at, value, depth + 1);
        return;
      }
      const copy = this.#copyOf(inner ?? null);
      if (copy !== inner) write(container, name, copy);
      container = copy;
    }
    const name = at[last] as string | number;
    if (Array.isArray(container) && !(typeof name === 'number' && name < container.length)) throw new RangeError('the body has no such place');
    write(container, name, value);
  }

  /** Only where the body has something else already. */
  replace(at: Place, value: Json): void {
    const found = this.at(at);
    if (found !== undefined && found !== value) this.set(at, value);
  }

  at(at: Place): Json | undefined {
    let current: Json | undefined = this.#root;
    for (const name of at) {
      if (typeof current !== 'object' || current === null) return undefined;
      current = memberOf(current as Container, name);
    }
    return current;
  }

  body(): Json {
    for (const [container, texts] of this.#opened) for (const [name, text] of texts) write(container, name, JSON.stringify(text.body()));
    return this.#root;
  }

  #copyOf(value: Json): Container {
    if (typeof value !== 'object' || value === null) throw new RangeError('the body has no such place');
    if (this.#copied.has(value)) return value as Container;
    const copy = Array.isArray(value) ? value.slice() as Json : { ...value as Members };
    this.#copied.add(copy);
    return copy as Container;
  }

  #openedAt(container: Container, name: string | number, text: string): BodyCopy {
    let texts = this.#opened.get(container);
    if (texts === undefined) this.#opened.set(container, texts = new Map());
    let opened = texts.get(name);
    if (opened === undefined) texts.set(name, opened = new BodyCopy(JSON.parse(text) as Json));
    return opened;
  }
}

const memberOf = (container: Container, name: string | number): Json | undefined => (Object.hasOwn(container, name) ? container[name] : undefined);

/** As an own member, whatever its name: `__proto__` is one that JSON may have. */
function write(container: Container, name: string | number, value: Json): void {
  if (name === '__proto__') Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
  else container[name] = value;
}

/** Throws when edits overlap or lie outside of the text. */
export function editText(text: string, edits: readonly { readonly from: number; readonly to: number; readonly text: string }[]): string {
  let result = '';
  let at = 0;
  for (const edit of [...edits].sort((left, right) => left.from - right.from)) {
    if (edit.from < at || edit.to < edit.from || edit.to > text.length) throw new RangeError('edits overlap, or lie outside of the text');
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
}

/** All texts below a place that is too deep to go on from, as one. Without recursion: clients nest as deep as they like. */
function deepText(value: Json | undefined): string {
  const texts: string[] = [];
  const open: Json[] = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' || typeof next === 'number') texts.push(String(next));
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner as Json);
  }
  return texts.reverse().join('\n');
}

function blocksText(blocks: Json | undefined): string | undefined {
  if (!Array.isArray(blocks)) return undefined;
  let text = '';
  for (const block of blocks as readonly Json[]) if (isMembers(block) && block.type === 'text' && typeof block.text === 'string') text += block.text;
  return text;
}

/** The text blocks beside a content that has changed: what they said is now in the first of them. */
function joinBlocks(copy: BodyCopy, at: Place, before: string, text: string): void {
  const blocks = copy.at([...at, 'content_blocks']);
  if (!Array.isArray(blocks) || blocksText(blocks) !== before) return;
  let isFirst = true;
  const changed = blocks.map((block: Json) => {
    if (!isMembers(block) || block.type !== 'text') return block;
    const next = { ...block, text: isFirst ? text : '' };
    isFirst = false;
    return next;
  });
  copy.set([...at, 'content_blocks'], changed);
}

const roleOf = (role: Json | undefined): Role =>
  (role === 'system' || role === 'developer' ? 'system' : role === 'assistant' || role === 'model' ? 'assistant' : role === 'tool' || role === 'function' ? 'tool' : 'user');

function each(value: Json | undefined, visit: (item: Json, index: number) => unknown): void {
  if (Array.isArray(value)) value.forEach((item: Json, index) => { visit(item, index); });
}

const isMembers = (value: Json | undefined): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
