import { isObject, readThinking, readTurns, type ContentBlock, type Json, type JsonObject, type Part, type ProviderCall, type Turn } from '@gateway/plugin-sdk';

type Wire = Record<string, Json>;

/** The conversation in the form of Cohere's v2 API. */
export function writeMessages(body: JsonObject, call: ProviderCall): Json[] {
  const own = Array.isArray(body.messages) ? body.messages as readonly Json[] : [];
  const documents = new Map<number, readonly Json[]>();
  // Tool results may hold Cohere's `document` parts, which the common reader does not know.
  const messages = own.map((message, index): Json => {
    if (!isObject(message) || message.role !== 'tool' || !hasDocument(message.content)) return message;
    documents.set(index, message.content as readonly Json[]);
    return { ...message, content: null };
  });
  const isReasoning = reasons(body, call);
  return readTurns({ ...body, messages }, call).map((turn, index) => writeTurn(turn, own[index], documents.get(index), isReasoning, call));
}

/**
 * Reasoning models think in content; the others tell a plan beside their tool calls. What they said goes back where they say it.
 */
function reasons(body: JsonObject, call: ProviderCall): boolean {
  const { type, effort } = readThinking(body);
  if (type !== undefined) return type !== 'disabled';
  return effort === undefined ? call.model.includes('reasoning') : effort !== 'none';
}

const hasDocument = (content: Json | undefined): boolean =>
  Array.isArray(content) && (content as readonly Json[]).some((part) => isObject(part) && part.type === 'document');

function writeTurn(turn: Turn, own: Json | undefined, documents: readonly Json[] | undefined, isReasoning: boolean, call: ProviderCall): Json {
  if (turn.cacheControl !== undefined) call.report('cache_control');
  switch (turn.role) {
    case 'system': return { role: 'system', content: textContent(turn.parts, call) };
    case 'user': {
      if (turn.name !== undefined) call.report('messages.name');
      return { role: 'user', content: userContent(turn.parts, call) };
    }
    case 'assistant': return writeAssistant(turn, isObject(own) ? own : {}, isReasoning, call);
    case 'tool': return { role: 'tool', tool_call_id: turn.toolCallId, content: documents ?? textContent(turn.parts, call) };
  }
}

function writeAssistant(turn: Extract<Turn, { role: 'assistant' }>, own: JsonObject, isReasoning: boolean, call: ProviderCall): Json {
  const wire: Wire = { role: 'assistant' };
  const blocks = turn.blocks.filter((block) => block.type !== 'redacted_thinking');
  if (blocks.length < turn.blocks.length) call.report('messages.content_blocks');
  const text = turn.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('') || (turn.refusal ?? '');
  const hasThinking = blocks.some((block) => block.type === 'thinking');
  if (turn.toolCalls.length > 0) {
    const ownPlan = typeof own.tool_plan === 'string' ? own.tool_plan : '';
    const isContent = isReasoning && ownPlan === '' && hasThinking;
    const plan = isContent ? '' : ownPlan || blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
    if (plan !== '') wire.tool_plan = plan;
    if (isContent) wire.content = blockContent(blocks, text);
    else if (text !== '') wire.content = text;
    wire.tool_calls = turn.toolCalls.map((toolCall) => (
      { id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: toolCall.arguments.trim() === '' ? '{}' : toolCall.arguments } }
    ));
  } else {
    wire.content = hasThinking ? blockContent(blocks, text) : text;
  }
  if (Array.isArray(own.citations)) wire.citations = own.citations;
  return wire;
}

function blockContent(blocks: readonly ContentBlock[], text: string): Json {
  const content = blocks.flatMap((block): Json[] => {
    if (block.type === 'thinking') return [{ type: 'thinking', thinking: block.thinking }];
    return block.type === 'text' && block.text !== '' ? [{ type: 'text', text: block.text }] : [];
  });
  if (text !== '' && !blocks.some((block) => block.type === 'text' && block.text !== '')) content.push({ type: 'text', text });
  return content;
}

/** A single text as it is, several as a list. */
function textContent(parts: readonly Part[], call: ProviderCall): Json {
  const texts = parts.map((part) => {
    if (part.cacheControl !== undefined) call.report('cache_control');
    return part.kind === 'text' ? part.text : call.refuse(part.place, 'Cohere takes text only here');
  });
  const [first = '', ...others] = texts;
  return others.length === 0 ? first : texts.map((text) => ({ type: 'text', text }));
}

function userContent(parts: readonly Part[], call: ProviderCall): Json {
  if (parts.every((part) => part.kind === 'text')) return textContent(parts, call);
  return parts.map((part): Json => {
    if (part.cacheControl !== undefined) call.report('cache_control');
    switch (part.kind) {
      case 'text': return { type: 'text', text: part.text };
      case 'image': {
        const { source } = part;
        if (source.kind === 'id') return call.refuse(part.place, 'Cohere takes images as a URL or as a data URL');
        const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
        return { type: 'image_url', image_url: part.detail === undefined ? { url } : { url, detail: part.detail } };
      }
      case 'file': return call.refuse(part.place, 'Cohere takes text and images only; give the text of files in documents');
      case 'audio': return call.refuse(part.place, 'Cohere takes text and images only');
    }
  });
}
