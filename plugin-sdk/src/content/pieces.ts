import type { EndpointName, Json } from '../shared.js';
import { exactDigits, isExactNumber, readJson, writeJson } from '../chat/exact-json.js';
import { isObject as isMembers } from '../json.js';
import { withoutEscapes } from './json-escapes.js';
import { echoedNames, isHarmless, isHarmlessInSchema, memberNames, openNames, schemaHolders, schemaNames } from './places.js';
import { nameFault } from './repeated-names.js';
import { readTextFile, writeTextFile } from './text-files.js';
import type { TextEdit, TextPiece } from './text-piece.js';

type Members = Readonly<Record<string, Json>>;
type Place = readonly (string | number)[];
type Role = TextPiece['role'];
type Kind = TextPiece['kind'];

/** Commas and colons between the values in all arguments of one body: each stands before a text of its own. */
const innerValuesMax = 200_000;

/** Thrown by `requestPieces`: the arguments in this body hold more values than can be judged. */
export class TooManyValues extends Error {
  override readonly name = 'TooManyValues';

  constructor(readonly place: string) {
    super(`${place} holds more than ${innerValuesMax} values together with those before it`);
  }
}

function separatorsIn(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x2c || code === 0x3a) count += 1;
    else if (code === 0x22) for (at += 1; at < json.length && json.charCodeAt(at) !== 0x22; at += 1) if (json.charCodeAt(at) === 0x5c) at += 1;
  }
  return count;
}

/** Places deeper than this are not told apart any more. */
const depthMax = 32;

/** `messages[2].content[0].text`. A name that the writer of the body chose is a part of what is judged; it is shown as `*`. */
export const placeOf = ({ at, ownFrom = at.length }: TextPiece): string =>
  at.reduce<string>((path, name, index) => (typeof name === 'number' ? `${path}[${name}]` : `${path}${path === '' ? '' : '.'}${index < ownFrom ? name : '*'}`), '');

const names = (...list: string[]): ReadonlySet<string> => new Set(list);
const none = names();
const chatRequestNames = names('messages');
const messagesRequestNames = names('system', 'messages');
const responsesRequestNames = names('instructions', 'input');
const completionsRequestNames = names('prompt', 'suffix');
const inputNames = names('input');
const rerankNames = names('query', 'documents');
const imageNames = names('prompt');
const speechNames = names('input', 'instructions');
const messageNames = names('reasoning_content', 'reasoning', 'reasoning_details', 'content', 'content_blocks', 'refusal', 'tool_calls', 'function_call', 'audio');
const detailNames = names('text', 'summary');
const callNames = names('function', 'custom');
const functionNames = names('arguments');
const customNames = names('input');
const transcriptNames = names('transcript');
const blockNames = names('thinking', 'text');
const partNames = names('text', 'refusal', 'thinking', 'title', 'context', 'logprobs');
const toolUseNames = names(...partNames, 'input');
const toolResultNames = names(...partNames, 'content');
const searchResultNames = names(...partNames, 'content', 'source');
const documentNames = names(...partNames, 'source');
const dataNames = names('data');
const contentNames = names('content');
const answerNames = names('choices');
const messagesAnswerNames = names('content');
const responsesAnswerNames = names('output', 'output_text', ...echoedNames);
const choiceNames = names('message', 'logprobs');
const textChoiceNames = names('text', 'logprobs');
const itemNames: Readonly<Record<string, ReadonlySet<string>>> = {
  function_call: names('arguments'), mcp_call: names('arguments', 'output'), mcp_approval_request: names('arguments'), custom_tool_call: names('input'),
  function_call_output: names('output'), custom_tool_call_output: names('output'), local_shell_call_output: names('output'),
  code_interpreter_call: names('code'), reasoning: names('summary', 'content'),
};
/** Whose words the other members of a request are; the rest is the user's. */
const requestRoles: Readonly<Record<string, Role>> = {
  tools: 'system', functions: 'system', response_format: 'system', text: 'system', tool_choice: 'system', output_config: 'system', output_format: 'system', prediction: 'assistant',
};
/** Members of an item that come from a tool. */
const toolMembers = names('output', 'outputs', 'results', 'result', 'tools', 'error');

/** Every text of a request, in order: what somebody wrote first, then whatever else there is that is not known to be harmless. */
export function requestPieces(endpoint: EndpointName, body: Json): TextPiece[] {
  const pieces = new Pieces(true);
  if (!isMembers(body)) return pieces.list;
  switch (endpoint) {
    case 'chatCompletions':
      pieces.chatMessages(body.messages);
      pieces.request(body, chatRequestNames);
      break;
    case 'messages': case 'countTokens':
      pieces.content(body.system, ['system'], 'system', -1);
      pieces.chatMessages(body.messages);
      pieces.request(body, messagesRequestNames);
      break;
    case 'responses':
      pieces.text(body.instructions, ['instructions'], 'system', -1);
      pieces.responseItems(body.input, ['input'], 'user');
      pieces.request(body, responsesRequestNames);
      break;
    case 'completions':
      pieces.texts(body.prompt, ['prompt'], 'user');
      pieces.text(body.suffix, ['suffix'], 'user', 0);
      pieces.request(body, completionsRequestNames);
      break;
    case 'embeddings': case 'moderations':
      pieces.inputs(body.input, ['input']);
      pieces.request(body, inputNames);
      break;
    case 'rerank':
      pieces.content(body.query, ['query'], 'user', -1);
      each(body.documents, (document, index) => pieces.content(document, ['documents', index], 'user', index));
      if (!Array.isArray(body.documents)) pieces.field(body.documents, 'documents', 'documents', ['documents'], 'user', -1);
      pieces.request(body, rerankNames);
      break;
    case 'imageGenerations':
      pieces.text(body.prompt, ['prompt'], 'user', 0);
      pieces.request(body, imageNames);
      break;
    case 'speech':
      pieces.text(body.input, ['input'], 'user', 0);
      pieces.text(body.instructions, ['instructions'], 'system', 0);
      pieces.request(body, speechNames);
      break;
    default:
  }
  return pieces.list;
}

/** Every text of a plain answer, in order; all choices. */
export function answerPieces(endpoint: EndpointName, body: Json): TextPiece[] {
  const pieces = new Pieces(false);
  if (!isMembers(body)) return pieces.list;
  switch (endpoint) {
    case 'chatCompletions':
      pieces.choices(body.choices, (choice, at, index) => {
        pieces.message(choice.message, [...at, 'message'], 'assistant', index);
        if (isThere(choice.logprobs)) pieces.logprobs(choice.logprobs, [...at, 'logprobs'], index, spokenBy(choice.message));
        pieces.rest(choice, at, 'assistant', index, choiceNames);
      });
      pieces.rest(body, [], 'assistant', 0, answerNames);
      break;
    case 'completions':
      pieces.choices(body.choices, (choice, at, index) => {
        pieces.text(choice.text, [...at, 'text'], 'assistant', index);
        if (isThere(choice.logprobs)) pieces.logprobs(choice.logprobs, [...at, 'logprobs'], index, choice.text);
        pieces.rest(choice, at, 'assistant', index, textChoiceNames);
      });
      pieces.rest(body, [], 'assistant', 0, answerNames);
      break;
    case 'messages':
      pieces.content(body.content, ['content'], 'assistant', 0);
      pieces.rest(body, [], 'assistant', 0, messagesAnswerNames);
      break;
    case 'responses':
      pieces.responseItems(body.output, ['output'], 'assistant');
      pieces.text(body.output_text, ['output_text'], 'assistant', 0, 'field');
      pieces.rest(body, [], 'assistant', 0, responsesAnswerNames);
      break;
    default:
  }
  return pieces.list;
}

/** Texts of one object of an answer, without the members that `known` names; for a stream, of which each event is such an object. */
export function otherPieces(object: Json, known: ReadonlySet<string>, group: number): TextPiece[] {
  const pieces = new Pieces(false);
  if (isMembers(object)) pieces.rest(object, [], 'assistant', group, known);
  return pieces.list;
}

/** Where a request holds token ids in place of a text, which nobody can judge; undefined when it does not. */
export function tokensPlace(endpoint: EndpointName, body: Json): string | undefined {
  const name = endpoint === 'completions' ? 'prompt' : endpoint === 'embeddings' ? 'input' : undefined;
  const list = name === undefined || !isMembers(body) ? undefined : body[name];
  if (!Array.isArray(list)) return undefined;
  if (list.some((item: Json) => typeof item === 'number')) return name;
  const index = list.findIndex((item: Json) => Array.isArray(item) && item.some((token: Json) => typeof token === 'number'));
  return index === -1 ? undefined : `${name}[${index}]`;
}

/** A piece that nobody has seen yet. */
type NewPiece = TextPiece & { ownFrom?: number };

class Pieces {
  readonly list: TextPiece[] = [];
  /** As of `TextPiece`. */
  #ownFrom = Infinity;
  /** In all arguments that are JSON inside of a text, which nobody has counted yet. */
  #innerValues = 0;
  /** All of a schema is told to the model. */
  #isInSchema = false;

  /** `namesToo`: names that the API does not have are texts of the writer. */
  constructor(readonly namesToo: boolean) {}

  text(value: Json | undefined, at: Place, role: Role, group: number, kind: Kind = 'text'): void {
    if (typeof value === 'string') {
      if (value !== '') this.#push({ at, kind, role, group, text: isExactNumber(value) ? exactDigits(value) : value });
    } else if (typeof value === 'object' && value !== null) {
      const name = at.at(-1);
      this.field(value, typeof name === 'string' ? name : '', '', at, role, group);
    }
  }

  /** A text, or a list of texts, each a group of its own. */
  texts(value: Json | undefined, at: Place, role: Role): void {
    if (Array.isArray(value)) value.forEach((item: Json, index) => this.text(item, [...at, index], role, index));
    else this.text(value, at, role, 0);
  }

  /** Texts, or lists of content parts, as embeddings and moderations take them. */
  inputs(value: Json | undefined, at: Place): void {
    if (Array.isArray(value)) value.forEach((item: Json, index) => this.content(item, [...at, index], 'user', index));
    else this.content(value, at, 'user', 0);
  }

  chatMessages(value: Json | undefined): void {
    if (!Array.isArray(value)) return this.field(value, 'messages', '', ['messages'], 'user', 0);
    for (let index = 0; index < value.length; index += 1) {
      const message = value[index] as Json;
      if (isMembers(message)) this.message(message, ['messages', index], roleOf(message.role), index);
      else this.field(message, '', 'messages', ['messages', index], 'user', index);
    }
  }

  choices(value: Json | undefined, visit: (choice: Members, at: Place, index: number) => void): void {
    if (!Array.isArray(value)) return this.field(value, 'choices', '', ['choices'], 'assistant', 0);
    value.forEach((choice: Json, index) => {
      if (isMembers(choice)) visit(choice, ['choices', index], index);
      else this.field(choice, '', 'choices', ['choices', index], 'assistant', index);
    });
  }

  message(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (!isMembers(value)) return this.field(value, 'message', '', at, role, group);
    // Most of these are not there, and no place is made for what is not. Compatible providers are not of one mind about the name of the first.
    if (isThere(value.reasoning_content)) this.text(value.reasoning_content, [...at, 'reasoning_content'], role, group, 'thinking');
    if (isThere(value.reasoning)) this.text(value.reasoning, [...at, 'reasoning'], role, group, 'thinking');
    if (isThere(value.reasoning_details)) {
      this.#list(value.reasoning_details, [...at, 'reasoning_details'], role, group, (detail, place) => {
        this.text(detail.text, [...place, 'text'], role, group, 'thinking');
        this.text(detail.summary, [...place, 'summary'], role, group, 'thinking');
        this.rest(detail, place, role, group, detailNames);
      });
    }
    if (isThere(value.content)) this.content(value.content, [...at, 'content'], role, group);
    if (isThere(value.content_blocks)) this.#blocks(value, at, role, group);
    if (isThere(value.refusal)) this.text(value.refusal, [...at, 'refusal'], role, group);
    if (isThere(value.tool_calls)) {
      this.#list(value.tool_calls, [...at, 'tool_calls'], role, group, (call, place) => {
        this.#called(call.function, [...place, 'function'], role, group);
        if (isMembers(call.custom)) {
          this.text(call.custom.input, [...place, 'custom', 'input'], role, group, 'arguments');
          this.rest(call.custom, [...place, 'custom'], role, group, customNames);
        } else {
          this.field(call.custom, 'custom', '', [...place, 'custom'], role, group);
        }
        this.rest(call, place, role, group, callNames);
      });
    }
    if (isThere(value.function_call)) this.#called(value.function_call, [...at, 'function_call'], role, group);
    if (isMembers(value.audio)) {
      this.text(value.audio.transcript, [...at, 'audio', 'transcript'], role, group);
      this.rest(value.audio, [...at, 'audio'], role, group, transcriptNames);
    } else if (isThere(value.audio)) {
      this.field(value.audio, 'audio', '', [...at, 'audio'], role, group);
    }
    this.rest(value, at, role, group, messageNames);
  }

  /** Blocks beside the content, as the chat pivot carries them. Where their text is the content once more, it is read once and changed in both. */
  #blocks(message: Members, at: Place, role: Role, group: number): void {
    const isCopy = blocksText(message.content_blocks) === message.content;
    this.#list(message.content_blocks, [...at, 'content_blocks'], role, group, (block, place) => {
      if (block.type === 'thinking') this.text(block.thinking, [...place, 'thinking'], role, group, 'thinking');
      else this.text(block.thinking, [...place, 'thinking'], role, group, 'field');
      if (block.type !== 'text' || !isCopy) this.text(block.text, [...place, 'text'], role, group);
      this.rest(block, place, role, group, blockNames);
    });
  }

  #called(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (!isMembers(value)) return this.field(value, 'function', '', at, role, group);
    this.jsonText(value.arguments, [...at, 'arguments'], role, group);
    this.rest(value, at, role, group, functionNames);
  }

  #list(value: Json | undefined, at: Place, role: Role, group: number, visit: (entry: Members, at: Place) => void): void {
    if (!Array.isArray(value)) return this.field(value, '', '', at, role, group);
    value.forEach((entry: Json, index) => {
      if (isMembers(entry)) visit(entry, [...at, index]);
      else this.field(entry, '', '', [...at, index], role, group);
    });
  }

  /** A text, a part, or a list of parts in any of the dialects. */
  content(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (at.length > depthMax) this.text(deepText(value), at, role, group);
    else if (typeof value === 'string') this.text(value, at, role, group);
    else if (isMembers(value)) this.part(value, at, role, group);
    else each(value, (part, index) => this.content(part, [...at, index], role, group));
  }

  part(part: Members, at: Place, role: Role, group: number): void {
    if (isThere(part.text)) this.text(part.text, [...at, 'text'], role, group);
    if (isThere(part.refusal)) this.text(part.refusal, [...at, 'refusal'], role, group);
    if (isThere(part.thinking)) this.text(part.thinking, [...at, 'thinking'], role, group, 'thinking');
    if (isThere(part.title)) this.text(part.title, [...at, 'title'], role, group);
    if (isThere(part.context)) this.text(part.context, [...at, 'context'], role, group);
    if (isThere(part.logprobs)) this.logprobs(part.logprobs, [...at, 'logprobs'], group, part.text);
    switch (part.type) {
      case 'tool_use': case 'server_tool_use': case 'mcp_tool_use':
        this.values(part.input, [...at, 'input'], role, group);
        this.rest(part, at, role, group, toolUseNames);
        break;
      case 'tool_result': case 'mcp_tool_result': case 'search_result':
        this.content(part.content, [...at, 'content'], part.type === 'search_result' ? role : 'tool', group);
        // The model is told where a result comes from; of other sources it is told what is there.
        if (part.type === 'search_result') this.text(part.source, [...at, 'source'], role, group, 'field');
        this.rest(part, at, role, group, part.type === 'search_result' ? searchResultNames : toolResultNames);
        break;
      case 'document': {
        const { source } = part;
        if (isMembers(source)) {
          const isText = source.type === 'text';
          if (isText) this.text(source.data, [...at, 'source', 'data'], role, group);
          else this.content(source.content, [...at, 'source', 'content'], role, group);
          this.rest(source, [...at, 'source'], role, group, isText ? dataNames : contentNames, 'source');
        } else {
          this.field(source, 'source', '', [...at, 'source'], role, group);
        }
        this.rest(part, at, role, group, documentNames);
        break;
      }
      default: this.rest(part, at, typeof part.type === 'string' && part.type.endsWith('_tool_result') ? 'tool' : role, group, partNames);
    }
  }

  responseItems(value: Json | undefined, at: Place, byDefault: Role): void {
    if (!Array.isArray(value)) return this.text(value, at, byDefault, 0);
    value.forEach((item: Json, index) => {
      const place = [...at, index];
      // Of an answer everything is one choice.
      const group = byDefault === 'assistant' ? 0 : index;
      if (isMembers(item)) this.#item(item, place, byDefault, group);
      else this.text(item, place, byDefault, group);
    });
  }

  #item(item: Members, place: Place, byDefault: Role, group: number): void {
    const { type } = item;
    switch (type) {
      case 'function_call': case 'mcp_approval_request': this.jsonText(item.arguments, [...place, 'arguments'], 'assistant', group); break;
      case 'mcp_call':
        this.jsonText(item.arguments, [...place, 'arguments'], 'assistant', group);
        this.text(item.output, [...place, 'output'], 'tool', group);
        break;
      case 'custom_tool_call': this.text(item.input, [...place, 'input'], 'assistant', group, 'arguments'); break;
      case 'function_call_output': case 'custom_tool_call_output': case 'local_shell_call_output': this.content(item.output, [...place, 'output'], 'tool', group); break;
      case 'code_interpreter_call': this.text(item.code, [...place, 'code'], 'assistant', group, 'arguments'); break;
      case 'reasoning':
        for (const name of ['summary', 'content'] as const) {
          this.#list(item[name], [...place, name], 'assistant', group, (part, at) => {
            this.text(part.text, [...at, 'text'], 'assistant', group, 'thinking');
            this.rest(part, at, 'assistant', group, detailNames);
          });
        }
        break;
      // A picture.
      case 'image_generation_call':
        if (typeof item.result === 'string' && isHarmless('data', '', item.result)) return this.rest(item, place, 'assistant', group, toolMembers);
        break;
      default: {
        const role = typeof item.role === 'string' ? roleOf(item.role) : byDefault;
        this.content(item.content, [...place, 'content'], role, group);
        if (type === undefined || type === 'message') return this.rest(item, place, role, group, contentNames);
        this.#tooled(item, place, group, contentNames);
        return;
      }
    }
    this.#tooled(item, place, group, (typeof type === 'string' ? itemNames[type] : undefined) ?? none);
  }

  #tooled(item: Members, place: Place, group: number, known: ReadonlySet<string>): void {
    for (const name in item) if (!known.has(name)) this.#member(item, name, place, toolMembers.has(name) ? 'tool' : 'assistant', group, '');
  }

  /** Arguments that travel as JSON text: each value in them and its name, or the text itself when it is not JSON. */
  jsonText(value: Json | undefined, at: Place, role: Role, group: number): void {
    if (typeof value !== 'string') return this.values(value, at, role, group);
    this.#innerValues += separatorsIn(value);
    if (this.#innerValues > innerValuesMax) {
      if (this.namesToo) throw new TooManyValues(placeOf({ at, kind: 'arguments', role, group, text: '' }));
      this.text(value, at, role, group, 'arguments');
      return;
    }
    let parsed: Json;
    try {
      parsed = readJson(value);
    } catch {
      this.text(value, at, role, group, 'arguments');
      return;
    }
    // Of a name that is given twice each reader takes another value: what is judged then is all that is written.
    if (typeof parsed === 'object' && parsed !== null && nameFault(value, true) === undefined) this.values(parsed, at, role, group);
    else this.text(withoutEscapes(value), at, role, group, 'arguments');
  }

  /** What is the writer's own altogether. */
  values(value: Json | undefined, at: Place, role: Role, group: number, kind: Kind = 'arguments'): void {
    const before = this.#ownFrom;
    this.#ownFrom = Math.min(before, at.length);
    this.#values(value, at, role, group, 0, kind);
    this.#ownFrom = before;
  }

  #values(value: Json | undefined, at: Place, role: Role, group: number, depth: number, kind: Kind): void {
    if (typeof value === 'string') this.text(value, at, role, group, kind);
    else if (typeof value === 'number') this.text(String(value), at, role, group, kind);
    else if (typeof value !== 'object' || value === null) return;
    else if (depth === depthMax) this.text(deepText(value), at, role, group, kind);
    else if (Array.isArray(value)) value.forEach((item: Json, index) => this.#values(item, [...at, index], role, group, depth + 1, kind));
    else {
      const members = value as Members;
      for (const name in members) {
        const place = [...at, name];
        this.#name(name, place, role, group, kind);
        this.#values(members[name], place, role, group, depth + 1, kind);
      }
    }
  }

  /** The members of a request that were not read yet. */
  request(body: Members, known: ReadonlySet<string>): void {
    for (const name in body) if (!known.has(name)) this.#member(body, name, [], requestRoles[name] ?? 'user', -1, '');
  }

  /** The members of an object that were not read yet: whatever is not known to be harmless. `holder`: its own name. */
  rest(object: Members, at: Place, role: Role, group: number, known: ReadonlySet<string>, holder = ''): void {
    for (const name in object) if (!known.has(name)) this.#member(object, name, at, role, group, holder);
  }

  #member(object: Members, name: string, at: Place, role: Role, group: number, holder: string): void {
    const value = object[name];
    // Of a source that is a text, whatever it looks like.
    if (name === 'data' && object.type === 'text') return this.text(value, [...at, name], role, group);
    const isKnown = memberNames.has(name);
    if ((isKnown || !this.namesToo) && (typeof value !== 'object' || value === null)) {
      if (typeof value === 'string' && value !== '') this.#unlessHarmless(value, name, holder, object, at, role, group, name);
      return;
    }
    const place = [...at, name];
    const before = this.#ownFrom;
    if (!isKnown) {
      this.#ownFrom = Math.min(before, at.length);
      // Ids of tokens and the like.
      if (this.namesToo && !/^\d{1,7}$/.test(name)) this.#name(name, place, role, group, 'field');
    }
    this.field(value, name, holder, place, role, group);
    this.#ownFrom = before;
  }

  /** A value of which no more is known than the name of its member and of what that is in. */
  field(value: Json | undefined, name: string, holder: string, at: Place, role: Role, group: number): void {
    if (typeof value === 'string') {
      this.#unlessHarmless(value, name, holder, {}, at, role, group);
    } else if (typeof value !== 'object' || value === null) {
      return;
    } else if (at.length > depthMax) {
      this.text(deepText(value), at, role, group, 'field');
    } else if (Array.isArray(value)) {
      value.forEach((item: Json, index) => this.field(item, name, holder, [...at, index], role, group));
    } else if (openNames.has(name)) {
      this.values(value, at, role, group, 'field');
    } else if (schemaHolders.has(name)) {
      const before = this.#ownFrom;
      this.#ownFrom = Math.min(before, at.length);
      for (const [own, inner] of Object.entries(value)) {
        const place = [...at, own];
        this.#name(own, place, role, group, 'field');
        this.field(inner as Json, '', name, place, role, group);
      }
      this.#ownFrom = before;
    } else {
      const members = value as Members;
      const before = this.#isInSchema;
      this.#isInSchema ||= schemaNames.has(name);
      for (const inner in members) this.#member(members, inner, at, role, group, name);
      this.#isInSchema = before;
    }
  }

  /** `last`: where it is the member of this name at `at`. Most texts are harmless, and get no place. */
  #unlessHarmless(value: string, name: string, holder: string, object: Members, at: Place, role: Role, group: number, last?: string): void {
    const file = this.namesToo ? readTextFile(value, name, object) : undefined;
    if (file === undefined && (this.#isInSchema ? isHarmlessInSchema(name, value) : isHarmless(name, holder, value))) return;
    const place = last === undefined ? at : [...at, last];
    if (file !== undefined) this.#push({ at: place, kind: 'text', role, group, text: file.text, fileBefore: file.before });
    else this.text(value, place, role, group, 'field');
  }

  /** The words that a list of probabilities spells, beside those that are in the text already. */
  logprobs(value: Json | undefined, at: Place, group: number, said: Json | undefined): void {
    if (typeof value !== 'object' || value === null) return;
    const text = spelledText(value, said);
    if (text !== '') this.#push({ at, kind: 'field', role: 'assistant', group, text, isList: true });
  }

  #name(name: string, at: Place, role: Role, group: number, kind: Kind): void {
    if (name !== '') this.#push({ at, kind, role, group, text: name, isName: true });
  }

  #push(piece: NewPiece): void {
    if (this.#ownFrom !== Infinity) piece.ownFrom = this.#ownFrom;
    this.list.push(piece);
  }
}

/** The content of a message, where it is one text. */
const spokenBy = (message: Json | undefined): Json | undefined => (isMembers(message) ? message.content ?? message.refusal : undefined);

/** All tokens of a list of probabilities, joined, unless they are what was `said`; and each that could have stood there instead. */
export function spelledText(value: Json, said: Json | undefined): string {
  const lists = Array.isArray(value) ? [value] : isMembers(value) ? [value.content, value.refusal, value.tokens, value.top_logprobs] : [];
  const others: string[] = [];
  let spelled = '';
  for (const list of lists) {
    each(list, (entry) => {
      if (typeof entry === 'string') spelled += entry;
      else if (isMembers(entry) && (entry.token !== undefined || entry.top_logprobs !== undefined)) {
        if (typeof entry.token === 'string') spelled += entry.token;
        each(entry.top_logprobs, (other) => { if (isMembers(other) && typeof other.token === 'string') others.push(other.token); });
      } else if (isMembers(entry)) others.push(...Object.keys(entry));
    });
  }
  if (spelled !== '' && spelled !== said) others.unshift(spelled);
  return others.join('\n');
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
  /** Of the name that was renamed last: names of one object follow each other. */
  let last: Place = [];
  let lastNames: Map<string, string> | undefined;
  const copy = new BodyCopy(body);
  const renamed = new Map<string, { readonly at: Place; readonly names: Map<string, string> }>();
  for (const [index, list] of byPiece) {
    const piece = pieces[index];
    if (piece === undefined) throw new RangeError(`there is no piece ${index}`);
    const text = editText(piece.text, list);
    if (text === piece.text) continue;
    if (piece.isName === true) {
      if (lastNames === undefined || !isBeside(last, piece.at)) {
        const at = piece.at.slice(0, -1);
        const key = JSON.stringify(at);
        const object = renamed.get(key) ?? { at, names: new Map<string, string>() };
        renamed.set(key, object);
        lastNames = object.names;
      }
      last = piece.at;
      lastNames.set(String(piece.at.at(-1)), text);
      continue;
    }
    if (piece.isList === true) {
      copy.set(piece.at, Array.isArray(copy.at(piece.at)) ? [] : null);
      continue;
    }
    copy.set(piece.at, piece.fileBefore === undefined ? text : writeTextFile(piece.fileBefore, text));
    const part = piece.at.slice(0, -1);
    if (piece.at.at(-1) === 'content') joinBlocks(copy, part, piece.text, text);
    if (piece.at[0] === 'choices') copy.replace(['choices', piece.group, 'logprobs'], null);
    if (piece.kind === 'thinking') copy.replace([...part, 'signature'], '');
    if (piece.kind === 'text') copy.replace([...part, 'logprobs'], []);
  }
  // Places are those of the old names: what is inside goes first.
  for (const { at, names: given } of [...renamed.values()].sort((left, right) => right.at.length - left.at.length)) copy.rename(at, given);
  return copy.body();
}

/** Whether both are places in the same object. */
function isBeside(left: Place, right: Place): boolean {
  if (left.length !== right.length) return false;
  for (let index = left.length - 2; index >= 0; index -= 1) if (left[index] !== right[index]) return false;
  return true;
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

  /** Members of an object get other names, and stay where they are among the others. Of two that would have the same name, the second has a number behind it. */
  rename(at: Place, given: ReadonlyMap<string, string>, from = 0): void {
    if (from === at.length) {
      this.#root = this.#renamed(this.#root, given);
      return;
    }
    let container = this.#root = this.#copyOf(this.#root);
    for (let depth = from; depth < at.length; depth += 1) {
      const name = at[depth] as string | number;
      const inner: Json | undefined = memberOf(container, name);
      if (typeof inner === 'string') {
        this.#openedAt(container, name, inner).rename(at, given, depth + 1);
        return;
      }
      const copy = depth === at.length - 1 ? this.#renamed(inner ?? null, given) : this.#copyOf(inner ?? null);
      if (copy !== inner) write(container, name, copy);
      container = copy;
    }
  }

  /** A copy with other names, made in one go: an object of many members takes longer to empty than to make. */
  #renamed(value: Json, given: ReadonlyMap<string, string>): Container {
    if (!isMembers(value)) throw new RangeError('the body has no such place');
    const copy: Container = {};
    const counts = new Map<string, number>();
    for (const name in value) {
      const wanted = given.get(name);
      let to = wanted ?? name;
      if (wanted !== undefined) {
        for (let count = (counts.get(wanted) ?? 0) + 1; ; count += 1) {
          to = count === 1 ? wanted : `${wanted}_${count}`;
          counts.set(wanted, count);
          const isKept = Object.hasOwn(value, to) && !given.has(to);
          if (!isKept && !Object.hasOwn(copy, to)) break;
        }
      }
      write(copy, to, value[name] as Json);
    }
    this.#copied.add(copy as Json);
    const texts = this.#opened.get(value as Container);
    if (texts !== undefined) {
      this.#opened.delete(value as Container);
      this.#opened.set(copy, texts);
    }
    return copy;
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
    for (const [container, texts] of this.#opened) for (const [name, text] of texts) write(container, name, writeJson(text.body()));
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
    if (opened === undefined) texts.set(name, opened = new BodyCopy(readJson(text)));
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
  for (const edit of edits.length > 1 ? [...edits].sort((left, right) => left.from - right.from) : edits) {
    if (edit.from < at || edit.to < edit.from || edit.to > text.length) throw new RangeError('edits overlap, or lie outside of the text');
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
}

/** All texts and names below a place that is too deep to go on from, as one. Without recursion: clients nest as deep as they like. */
function deepText(value: Json | undefined): string {
  const texts: string[] = [];
  const open: Json[] = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string' || typeof next === 'number') texts.push(isExactNumber(next) ? exactDigits(next) : String(next));
    else if (Array.isArray(next)) for (const inner of next as readonly Json[]) open.push(inner);
    else if (typeof next === 'object' && next !== null) for (const [name, inner] of Object.entries(next)) open.push(name, inner as Json);
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

const isThere = (value: Json | undefined): boolean => value !== undefined && value !== null;
