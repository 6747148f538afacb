import { argumentsOf, readTurns, type Json, type JsonObject, type Part, type ProviderCall } from '@gateway/plugin-sdk';

type Open = Record<string, Json>;

/** The conversation as `/api/chat` takes it. */
export const ollamaMessages = (body: JsonObject, call: ProviderCall): JsonObject[] => readTurns(body, call).flatMap((turn): JsonObject[] => {
  switch (turn.role) {
    case 'system': return contents(turn.parts, call).map((content) => ({ role: 'system', ...content }));
    case 'user':
      if (turn.name !== undefined) call.report('messages.name');
      return contents(turn.parts, call).map((content) => ({ role: 'user', ...content }));
    case 'assistant': {
      const message: Open = { role: 'assistant', content: textOf(turn.parts) || (turn.refusal ?? '') };
      const thinking = turn.blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join('');
      if (thinking !== '') message.thinking = thinking;
      // Only the provider that wrote it can read it.
      if (turn.blocks.some((block) => block.type === 'redacted_thinking')) call.report('messages.content_blocks');
      if (turn.toolCalls.length > 0) {
        message.tool_calls = turn.toolCalls.map((toolCall, index) => ({
          id: toolCall.id, type: 'function', function: { index, name: toolCall.name, arguments: argumentsOf(toolCall, call, turn.place) },
        }));
      }
      return [message];
    }
    case 'tool': {
      const [first = { content: '' }, ...more] = contents(turn.parts, call);
      const answer: Open = { role: 'tool', ...first, tool_call_id: turn.toolCallId };
      if (turn.name !== '') answer.tool_name = turn.name;
      // A result that needs several messages goes on as the user's words; models take one result for each call.
      return [answer, ...more.map((content) => ({ role: 'user', ...content }))];
    }
  }
});

const textOf = (parts: readonly Part[]): string => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n');

/**
 * A message has one text and a list of images, which come before or after it. Where text and images alternate more than once, the turn is
 * cut into several messages, so that "the first image: ..., the second: ..." stays in order.
 */
function contents(parts: readonly Part[], call: ProviderCall): JsonObject[] {
  const groups: { readonly texts: string[]; readonly images: string[]; switches: number; last: 'text' | 'image' }[] = [];
  for (const part of parts) {
    const image = part.kind === 'text' ? undefined : mediaOf(part, call);
    const kind = image === undefined ? 'text' : 'image';
    let group = groups.at(-1);
    if (group === undefined || (group.last !== kind && group.switches === 1)) groups.push(group = { texts: [], images: [], switches: 0, last: kind });
    if (group.last !== kind) {
      group.switches += 1;
      group.last = kind;
    }
    if (part.kind === 'text') group.texts.push(part.text);
    else if (image !== undefined) group.images.push(image);
  }
  if (groups.length === 0) return [{ content: '' }];
  return groups.map(({ texts, images }) => ({ content: texts.join('\n\n'), ...(images.length === 0 ? {} : { images }) }));
}

/** Base64; Ollama sees from the bytes what it is, and takes sound in the same place. */
function mediaOf(part: Exclude<Part, { readonly kind: 'text' }>, call: ProviderCall): string {
  switch (part.kind) {
    case 'audio': return part.data;
    case 'file': return call.refuse(part.place, 'ollama takes no files; send their text');
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') call.report('messages.content.image_url.detail');
      return part.source.kind === 'data' ? part.source.data : call.refuse(part.place, 'ollama takes images as base64 only; send a data URL');
  }
}
