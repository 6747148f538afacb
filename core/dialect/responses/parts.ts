// Content parts of the responses dialect -> content parts of chat messages. Runs for each part of a translated request.
// May not drop a part: what has no place in a chat message is refused with its place in the request.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';

export type Open = Record<string, Json>;

const textIn = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Content of a user's message or of a tool's output. A single plain text stays a text, which every provider takes. */
export function chatContent(content: Json | undefined, place: string, context: TranslateContext): Json {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return context.refuse(place, 'must be a text or a list of parts');
  return compact(content.map((part: Json, index) => chatPart(part, `${place}[${index}]`, context)));
}

export function compact(parts: readonly Json[]): Json {
  const [first] = parts;
  if (parts.length !== 1 || !isObject(first) || first.type !== 'text' || first.cache_control !== undefined) return parts;
  return first.text ?? '';
}

export function chatPart(part: Json, place: string, context: TranslateContext): JsonObject {
  if (!isObject(part)) return context.refuse(place, 'must be an object with a type');
  const wire = partOf(part, place, context);
  if (part.prompt_cache_breakpoint !== undefined && part.prompt_cache_breakpoint !== null) context.report('prompt_cache_breakpoint');
  return { ...wire, ...cacheMark(part, context) };
}

/** The mark for prompt caches, which is not part of the dialect but passed on where it is understood. */
export function cacheMark(holder: JsonObject, context: TranslateContext): JsonObject {
  const mark = holder.cache_control;
  if (mark === undefined || mark === null) return {};
  if (context.accepts.has('cache_control')) return { cache_control: mark };
  context.report('cache_control');
  return {};
}

function partOf(part: JsonObject, place: string, context: TranslateContext): JsonObject {
  switch (part.type) {
    case 'input_text': case 'output_text': case 'text':
      return { type: 'text', text: textIn(part.text) ?? context.refuse(`${place}.text`, 'must be a text') };
    case 'refusal': return { type: 'text', text: textIn(part.refusal) ?? context.refuse(`${place}.refusal`, 'must be a text') };
    case 'input_image': return imagePart(part, place, context);
    case 'input_file': return filePart(part, place, context);
    case 'input_audio': {
      const audio = part.input_audio;
      if (!isObject(audio) || typeof audio.data !== 'string' || typeof audio.format !== 'string') return context.refuse(`${place}.input_audio`, 'must be an object with base64 data and a format');
      return { type: 'input_audio', input_audio: { data: audio.data, format: audio.format } };
    }
    default: return context.refuse(`${place}.type`, 'must be input_text, input_image, input_file or input_audio');
  }
}

function imagePart(part: JsonObject, place: string, context: TranslateContext): JsonObject {
  const url = textIn(part.image_url);
  if (url !== undefined) {
    const detail = textIn(part.detail);
    return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } };
  }
  // A chat message has no image by id; a file by id may be an image as well.
  const id = textIn(part.file_id) ?? context.refuse(place, 'an input_image must have an image_url or a file_id');
  return { type: 'file', file: { file_id: id } };
}

function filePart(part: JsonObject, place: string, context: TranslateContext): JsonObject {
  const file: Open = {};
  const data = textIn(part.file_data);
  const url = textIn(part.file_url);
  const id = textIn(part.file_id);
  if (data !== undefined) file.file_data = data;
  else if (url !== undefined) file.file_url = url;
  else file.file_id = id ?? context.refuse(place, 'an input_file must have file_data, a file_url or a file_id');
  const name = textIn(part.filename);
  if (name !== undefined) file.filename = name;
  if (part.detail !== undefined && part.detail !== null && part.detail !== 'auto') context.report('input_file.detail');
  return { type: 'file', file };
}
