import { isObject, type EndpointName, type Json } from '@gateway/plugin-sdk';

/** A list has its length; one text or object counts as one; nothing is 0. */
const itemsOf = (value: Json | undefined): number => (Array.isArray(value) ? value.length : value === undefined || value === null || value === '' ? 0 : 1);

/** Messages of a conversation, or what an endpoint without a conversation has in their place. */
export function messagesOf(endpoint: EndpointName, body: Json): number {
  if (!isObject(body)) return 0;
  switch (endpoint) {
    case 'responses': case 'embeddings': case 'moderations': case 'speech': return itemsOf(body.input);
    case 'completions': case 'imageGenerations': return itemsOf(body.prompt);
    case 'rerank': return itemsOf(body.documents);
    default: return itemsOf(body.messages);
  }
}

export const toolsOf = (body: Json): number => (isObject(body) ? itemsOf(body.tools) + itemsOf(body.functions) : 0);

/** Image parts of messages, of input items, and of the tool results in them. */
export function imagesOf(body: Json): number {
  if (!isObject(body)) return 0;
  return imagesIn(body.messages, 0) + imagesIn(body.input, 0);
}

/** Tool results nest contents in contents; nothing sensible goes deeper. */
const depthMax = 8;

function imagesIn(value: Json | undefined, depth: number): number {
  if (depth > depthMax) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item: Json) => sum + imagesIn(item, depth + 1), 0);
  if (!isObject(value)) return 0;
  if (value.type === 'image_url' || value.type === 'input_image' || value.type === 'image') return 1;
  return imagesIn(value.content, depth + 1) + imagesIn(value.output, depth + 1) + imagesIn(value.source, depth + 1);
}
