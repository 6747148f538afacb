// Content blocks of the Messages API -> content parts of chat: text, images, documents, search results.
// Runs for each block of a translated request. Fetches nothing: addresses stay addresses.

import { isList, isObject, textOf, textOrUndefined, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';

export type Open = Record<string, Json>;

/** A cache mark as a member to spread; nothing when the provider has no use for it, which is reported. */
export function cacheMark(owner: JsonObject, context: TranslateContext): { readonly cache_control?: Json } {
  const mark = owner.cache_control;
  if (mark === undefined || mark === null) return {};
  if (context.accepts.has('cache_control')) return { cache_control: mark };
  context.report('cache_control');
  return {};
}

/** Blocks that may stand in a user message or a tool result. Undefined: a type that has no place there. */
export function partsOf(block: JsonObject, place: string, context: TranslateContext): JsonObject[] | undefined {
  switch (block.type) {
    case 'text': return [{ type: 'text', text: textOrUndefined(block.text) ?? context.refuse(`${place}.text`, 'must be a text'), ...cacheMark(block, context) }];
    case 'image': return [imagePart(block, place, context)];
    case 'document': return documentParts(block, place, context);
    case 'search_result': return [searchResultPart(block, place, context)];
    // The answer to a tool search of the client's own: the names of tools that are declared already.
    case 'tool_reference': return [{ type: 'text', text: `Tool: ${textOf(block.tool_name)}`, ...cacheMark(block, context) }];
    default: return undefined;
  }
}

function imagePart(block: JsonObject, place: string, context: TranslateContext): JsonObject {
  const { source } = block;
  if (block.transformations !== undefined && block.transformations !== null) context.report('transformations');
  if (!isObject(source)) return context.refuse(`${place}.source`, 'must be an object with a type');
  const at = `${place}.source`;
  switch (source.type) {
    case 'base64': return { type: 'image_url', image_url: { url: dataUrl(source, at, context) }, ...cacheMark(block, context) };
    case 'url': return { type: 'image_url', image_url: { url: textOrUndefined(source.url) ?? context.refuse(`${at}.url`, 'must be a text') }, ...cacheMark(block, context) };
    // Chat names uploaded files only as files; what kind the file is, its provider knows.
    case 'file': return { type: 'file', file: { file_id: textOrUndefined(source.file_id) ?? context.refuse(`${at}.file_id`, 'must be a text') }, ...cacheMark(block, context) };
    default: return context.refuse(`${at}.type`, 'must be base64, url or file');
  }
}

function dataUrl(source: JsonObject, place: string, context: TranslateContext): string {
  const mediaType = textOrUndefined(source.media_type) ?? context.refuse(`${place}.media_type`, 'must be a text');
  const data = textOrUndefined(source.data) ?? context.refuse(`${place}.data`, 'must be base64 text');
  return `data:${mediaType};base64,${data}`;
}

function documentParts(block: JsonObject, place: string, context: TranslateContext): JsonObject[] {
  const { source } = block;
  const at = `${place}.source`;
  if (isObject(block.citations) && block.citations.enabled === true) context.report('citations');
  if (!isObject(source)) return context.refuse(at, 'must be an object with a type');
  const title = textOrUndefined(block.title);
  const heading = headingOf(title, textOrUndefined(block.context));
  const mark = cacheMark(block, context);
  switch (source.type) {
    case 'text': {
      const text = textOrUndefined(source.data) ?? context.refuse(`${at}.data`, 'must be a text');
      return [{ type: 'text', text: heading === '' ? text : `${heading}\n\n${text}`, ...mark }];
    }
    case 'content': {
      const parts = heading === '' ? [] : [{ type: 'text', text: heading }];
      const inner = contentParts(source.content, `${at}.content`, context);
      const last = inner.at(-1);
      // The mark covers the document up to its end.
      if (last !== undefined) inner[inner.length - 1] = { ...last, ...mark };
      return [...parts, ...inner];
    }
    case 'base64': return withHeading(heading, { type: 'file', file: { filename: filenameOf(title), file_data: dataUrl(source, at, context) }, ...mark });
    // Only documents in PDF may be given by address; the name tells the type where the address does not.
    case 'url': {
      const url = textOrUndefined(source.url) ?? context.refuse(`${at}.url`, 'must be a text');
      return withHeading(heading, { type: 'file', file: { filename: filenameOf(title), file_url: url }, ...mark });
    }
    case 'file': return withHeading(heading, { type: 'file', file: { file_id: textOrUndefined(source.file_id) ?? context.refuse(`${at}.file_id`, 'must be a text') }, ...mark });
    default: return context.refuse(`${at}.type`, 'must be base64, text, url, content or file');
  }
}

/** A text or a list of blocks, as parts. */
export function contentParts(content: Json | undefined, place: string, context: TranslateContext): JsonObject[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!isList(content)) return context.refuse(place, 'must be a text or a list of blocks');
  return content.flatMap((block, index) => {
    const at = `${place}[${index}]`;
    if (!isObject(block)) return context.refuse(at, 'must be an object with a type');
    return partsOf(block, at, context) ?? context.refuse(at, `a block of type ${String(block.type)} cannot be sent to this provider`);
  });
}

const headingOf = (title: string | undefined, context: string | undefined): string => [
  ...(title === undefined || title === '' ? [] : [`Document: ${title}`]),
  ...(context === undefined || context === '' ? [] : [`Context: ${context}`]),
].join('\n');

const withHeading = (heading: string, part: JsonObject): JsonObject[] => (heading === '' ? [part] : [{ type: 'text', text: heading }, part]);

const filenameOf = (title: string | undefined): string => {
  if (title === undefined || title === '') return 'document.pdf';
  return /\.pdf$/i.test(title) ? title : `${title}.pdf`;
};

function searchResultPart(block: JsonObject, place: string, context: TranslateContext): JsonObject {
  if (isObject(block.citations) && block.citations.enabled === true) context.report('citations');
  const texts = contentParts(block.content, `${place}.content`, context).map((part) => textOf(part.text));
  const lines = [`Search result: ${textOf(block.title)}`, `Source: ${textOf(block.source)}`, '', ...texts];
  return { type: 'text', text: lines.join('\n'), ...cacheMark(block, context) };
}
