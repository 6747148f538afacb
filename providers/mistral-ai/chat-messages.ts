import { isObject, readTurns, type Json, type JsonObject, type Part, type ProviderCall, type Turn } from '@gateway/plugin-sdk';
import { mistralId } from './tool-ids.js';

type Wire = Record<string, Json>;

/** Content parts of Mistral's own, by message and place. */
type OwnParts = ReadonlyMap<string, Json>;

const ownTypes: ReadonlySet<string> = new Set(['document_url', 'reference', 'thinking', 'tool_file', 'tool_reference']);

function isOwn(part: Json): boolean {
  if (!isObject(part) || typeof part.type !== 'string') return false;
  return ownTypes.has(part.type) || (part.type === 'input_audio' && typeof part.input_audio === 'string') || (part.type === 'file' && typeof part.file_id === 'string');
}

/** The conversation in Mistral's form. Parts of its own go up as they came; the common reader sees an empty text in their place. */
export function writeMessages(body: JsonObject, call: ProviderCall): Json[] {
  const own = Array.isArray(body.messages) ? body.messages as readonly Json[] : [];
  const parts = new Map<string, Json>();
  const messages = own.map((message, at): Json => {
    if (!isObject(message) || !Array.isArray(message.content)) return message;
    const content = message.content as readonly Json[];
    if (!content.some(isOwn)) return message;
    return {
      ...message,
      content: content.map((part, place): Json => {
        if (!isOwn(part)) return part;
        parts.set(`${at}:${place}`, part);
        return { type: 'text', text: '' };
      }),
    };
  });
  return readTurns({ ...body, messages }, call).map((turn, at) => writeTurn(turn, own[at], at, parts, call));
}

function writeTurn(turn: Turn, own: Json | undefined, at: number, ownParts: OwnParts, call: ProviderCall): Json {
  if (turn.cacheControl !== undefined) call.report('cache_control');
  const message = isObject(own) ? own : {};
  const isText = typeof message.content === 'string';
  switch (turn.role) {
    case 'system': return { role: 'system', content: content(turn.parts, isText, at, ownParts, call) };
    case 'user': {
      if (turn.name !== undefined) call.report('messages.name');
      return { role: 'user', content: content(turn.parts, isText, at, ownParts, call) };
    }
    case 'assistant': return writeAssistant(turn, message, isText, at, ownParts, call);
    case 'tool': {
      const wire: Wire = { role: 'tool', content: content(turn.parts, isText, at, ownParts, call), tool_call_id: mistralId(turn.toolCallId) };
      if (turn.name !== '') wire.name = turn.name;
      return wire;
    }
  }
}

function writeAssistant(turn: Extract<Turn, { role: 'assistant' }>, own: JsonObject, isText: boolean, at: number, ownParts: OwnParts, call: ProviderCall): Json {
  const wire: Wire = { role: 'assistant' };
  const written = content(turn.parts, isText, at, ownParts, call);
  const hasThinking = turn.blocks.some((block) => block.type === 'thinking');
  if (turn.blocks.some((block) => block.type === 'redacted_thinking')) call.report('messages.content_blocks');
  if (hasThinking) {
    const chunks = turn.blocks.flatMap((block): Json[] => {
      switch (block.type) {
        case 'thinking': {
          const signature = block.signature === undefined || block.signature === '' ? {} : { signature: block.signature };
          return [{ type: 'thinking', thinking: [{ type: 'text', text: block.thinking }], ...signature }];
        }
        case 'text': return block.text === '' ? [] : [{ type: 'text', text: block.text }];
        case 'redacted_thinking': return [];
      }
    });
    const hasText = turn.blocks.some((block) => block.type === 'text' && block.text !== '');
    if (!hasText) chunks.push(...(typeof written !== 'string' ? written as readonly Json[] : written === '' ? [] : [{ type: 'text', text: written }]));
    wire.content = chunks;
  } else {
    wire.content = written === '' ? turn.refusal ?? '' : written;
  }
  if (turn.toolCalls.length > 0) {
    wire.tool_calls = turn.toolCalls.map((toolCall) => (
      { id: mistralId(toolCall.id), type: 'function', function: { name: toolCall.name, arguments: toolCall.arguments.trim() === '' ? '{}' : toolCall.arguments } }
    ));
  }
  if (own.prefix === true) wire.prefix = true;
  return wire;
}

/** A text stays a text, no content is an empty one. */
function content(parts: readonly Part[], isText: boolean, at: number, ownParts: OwnParts, call: ProviderCall): Json {
  const [first] = parts;
  if (first === undefined) return '';
  if (isText && first.kind === 'text') return first.text;
  return parts.map((part, place) => ownParts.get(`${at}:${place}`) ?? chunk(part, call));
}

function chunk(part: Part, call: ProviderCall): Json {
  if (part.cacheControl !== undefined) call.report('cache_control');
  switch (part.kind) {
    case 'text': return { type: 'text', text: part.text };
    case 'image': {
      const { source } = part;
      if (source.kind === 'id') return { type: 'file', file_id: source.id };
      const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
      return { type: 'image_url', image_url: part.detail === undefined ? url : { url, detail: part.detail } };
    }
    case 'file': {
      const { source } = part;
      if (source.kind === 'id') return { type: 'file', file_id: source.id };
      const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
      return { type: 'document_url', document_url: url, ...(part.filename === undefined ? {} : { document_name: part.filename }) };
    }
    case 'audio': return { type: 'input_audio', input_audio: part.data };
  }
}
