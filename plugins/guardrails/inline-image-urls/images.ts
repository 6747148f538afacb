import { isObject, type EndpointName, type Json, type JsonObject } from '@gateway/plugin-sdk';

export interface Image {
  readonly mediaType: string;
  readonly base64: string;
}

/** The image that takes the place of a URL; undefined leaves the URL as it is. */
type Replacement = (url: string) => Image | undefined;

/** Lists inside of lists: a tool result within a message. */
const depthMax = 8;

/** The body with its image URLs replaced. Nothing of the old one is written to; where nothing changed it is the same object. */
export function replaceImages(endpoint: EndpointName, body: Json, replace: Replacement): Json {
  if (!isObject(body)) return body;
  switch (endpoint) {
    case 'chatCompletions': return withMember(body, 'messages', (messages) => items(messages, (message) => inContent(message, 'content', chatPart, replace, 0)));
    case 'messages': case 'countTokens':
      return withMember(body, 'messages', (messages) => items(messages, (message) => inContent(message, 'content', messagesBlock, replace, 0)));
    case 'responses':
      return withMember(body, 'input', (input) => items(input, (item) =>
        inContent(inContent(item, 'content', responsesPart, replace, 0), 'output', responsesPart, replace, 0)));
    default: return body;
  }
}

type Part = (part: JsonObject, replace: Replacement, depth: number) => Json;

const inContent = (value: Json, name: string, part: Part, replace: Replacement, depth: number): Json => (!isObject(value) || depth > depthMax ? value
  : withMember(value, name, (content) => items(content, (item) => (isObject(item) ? part(item, replace, depth) : item))));

function chatPart(part: JsonObject, replace: Replacement): Json {
  if (part.type !== 'image_url') return part;
  const { image_url: image } = part;
  if (typeof image === 'string') return withDataUrl(part, 'image_url', replace);
  return isObject(image) ? withMember(part, 'image_url', () => withDataUrl(image, 'url', replace)) : part;
}

const responsesPart: Part = (part, replace) => (part.type === 'input_image' ? withDataUrl(part, 'image_url', replace) : part);

function messagesBlock(block: JsonObject, replace: Replacement, depth: number): Json {
  if (block.type === 'tool_result') return inContent(block, 'content', messagesBlock, replace, depth + 1);
  const { source } = block;
  if (block.type !== 'image' || !isObject(source) || source.type !== 'url' || typeof source.url !== 'string' || !isRemote(source.url)) return block;
  const image = replace(source.url);
  return image === undefined ? block : { ...block, source: { type: 'base64', media_type: image.mediaType, data: image.base64 } };
}

function withDataUrl(value: JsonObject, name: string, replace: Replacement): JsonObject {
  const url = value[name];
  if (typeof url !== 'string' || !isRemote(url)) return value;
  const image = replace(url);
  return image === undefined ? value : { ...value, [name]: `data:${image.mediaType};base64,${image.base64}` };
}

const isRemote = (url: string): boolean => /^https?:\/\//i.test(url);

function withMember(value: JsonObject, name: string, change: (inner: Json) => Json): JsonObject {
  const inner = value[name];
  if (inner === undefined) return value;
  const changed = change(inner);
  return changed === inner ? value : { ...value, [name]: changed };
}

function items(value: Json, change: (item: Json) => Json): Json {
  if (!Array.isArray(value)) return value;
  const list = value as readonly Json[];
  let isChanged = false;
  const changed = list.map((item) => {
    const next = change(item);
    isChanged ||= next !== item;
    return next;
  });
  return isChanged ? changed : value;
}
