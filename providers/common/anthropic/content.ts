import { Buffer } from 'node:buffer';
import type { Json, JsonObject, Part, ProviderCall } from '@gateway/plugin-sdk';

export type Block = { [key: string]: Json };

const isBlank = (text: string): boolean => text.trim() === '';

/** Content parts as blocks. Texts without a visible character are left out: the API rejects them. */
export function blocksOf(parts: readonly Part[], call: ProviderCall): Block[] {
  const blocks: Block[] = [];
  for (const part of parts) {
    if (part.kind === 'text' && isBlank(part.text)) continue;
    const block = blockOf(part, call);
    if (part.cacheControl !== undefined) block.cache_control = part.cacheControl;
    blocks.push(block);
  }
  return blocks;
}

export const textBlock = (text: string): Block => ({ type: 'text', text });

/** Marks the last of the blocks, for a mark that stands on the whole message. */
export function markLast(blocks: readonly Block[], cacheControl: Json | undefined): void {
  const last = blocks.at(-1);
  // Thinking cannot be marked.
  if (last === undefined || cacheControl === undefined || last.type === 'thinking' || last.type === 'redacted_thinking') return;
  last.cache_control ??= cacheControl;
}

function blockOf(part: Part, call: ProviderCall): Block {
  switch (part.kind) {
    case 'text': return textBlock(part.text);
    case 'audio': return call.refuse(part.place, 'the models take no audio; send a transcript as text');
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto') call.report('messages.content.image_url.detail');
      return mediaBlock(part, undefined, call);
    case 'file': return mediaBlock(part, part.filename, call);
  }
}

function mediaBlock(part: Extract<Part, { kind: 'image' | 'file' }>, filename: string | undefined, call: ProviderCall): Block {
  const { source } = part;
  const title: JsonObject = filename === undefined ? {} : { title: filename };
  switch (source.kind) {
    case 'id': return { type: isImageName(filename) ? 'image' : 'document', source: { type: 'file', file_id: source.id }, ...(isImageName(filename) ? {} : title) };
    case 'url': {
      const { mediaType } = source;
      if (part.kind === 'image' && mediaType !== 'application/pdf') return { type: 'image', source: { type: 'url', url: source.url } };
      if (mediaType?.startsWith('image/') === true) return { type: 'image', source: { type: 'url', url: source.url } };
      if (mediaType !== undefined && mediaType !== 'application/pdf') return call.refuse(part.place, `a file of type ${mediaType} cannot be given by its address; send its data`);
      return { type: 'document', source: { type: 'url', url: source.url }, ...title };
    }
    case 'data': {
      const { mediaType, data } = source;
      if (mediaType.startsWith('image/')) return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
      if (mediaType === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title };
      if (isText(mediaType)) return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') }, ...title };
      return call.refuse(part.place, `files of type ${mediaType} are not supported; send an image, a PDF or text`);
    }
  }
}

const isImageName = (filename: string | undefined): boolean => filename !== undefined && /\.(?:png|jpe?g|gif|webp)$/i.test(filename);

/** Text in any notation goes up as plain text, the only media type that text documents have. */
const isText = (mediaType: string): boolean => mediaType.startsWith('text/') || /^application\/(?:json|xml|yaml|x-yaml|javascript|x-ndjson|jsonl)$/.test(mediaType);
