// Hot: runs for each event of a streamed response that a check reads.
// The kinds of text in a response: what their events and their copies are called, and where they are in an answer.

import { isList, isObject, type Json, type JsonObject, type TextPiece } from '@gateway/plugin-sdk';
import type { Open } from '../common/deltas.js';

export interface Kind {
  readonly name: string;
  /** Of the event with a piece of it. */
  readonly delta: string;
  /** The member that counts the texts of one item; '' when there is one. */
  readonly index: 'content_index' | 'summary_index' | '';
  readonly kind: TextPiece['kind'];
  readonly isJson: boolean;
  /** The member of the done event that has all of it; the same in the part or item. */
  readonly copy: 'text' | 'refusal' | 'arguments' | 'input' | 'code' | 'transcript' | 'command';
}

const kindNamed = (name: string, index: Kind['index'], kind: TextPiece['kind'], copy: Kind['copy'], isJson = false): Kind =>
  ({ name, delta: `response.${name}.delta`, index, kind, isJson, copy });
const outputText = kindNamed('output_text', 'content_index', 'text', 'text');
const refusal = kindNamed('refusal', 'content_index', 'text', 'refusal');
const summaryText = kindNamed('reasoning_summary_text', 'summary_index', 'thinking', 'text');
const reasoningText = kindNamed('reasoning_text', 'content_index', 'thinking', 'text');
const functionArguments = kindNamed('function_call_arguments', '', 'arguments', 'arguments', true);
export const mcpArguments = kindNamed('mcp_call_arguments', '', 'arguments', 'arguments', true);
const customInput = kindNamed('custom_tool_call_input', '', 'arguments', 'input');
const code = kindNamed('code_interpreter_call_code', '', 'arguments', 'code');
const transcript = kindNamed('audio.transcript', '', 'text', 'transcript');
const command = kindNamed('shell_call_command', '', 'arguments', 'command');

const kinds = [outputText, refusal, summaryText, reasoningText, functionArguments, mcpArguments, customInput, code, transcript, command];
export const deltaKinds: ReadonlyMap<Json | undefined, Kind> = new Map(kinds.map((kind) => [kind.delta, kind]));
export const doneKinds: ReadonlyMap<Json | undefined, Kind> = new Map(kinds.map((kind) => [`response.${kind.name}.done`, kind]));
export const partKinds: ReadonlyMap<Json | undefined, Kind> = new Map([
  ['output_text', outputText], ['text', outputText], ['refusal', refusal], ['reasoning_text', reasoningText], ['summary_text', summaryText],
]);
/** Items with one text of their own. */
export const itemKinds: ReadonlyMap<Json | undefined, Kind> = new Map([
  ['function_call', functionArguments], ['mcp_call', mcpArguments], ['custom_tool_call', customInput], ['code_interpreter_call', code],
]);

export function keyOf(kind: Kind, place: JsonObject): string {
  return `output.${String(place.output_index ?? place.item_id ?? 0)}.${kind.name}.${kind.index === '' ? 0 : String(place[kind.index] ?? 0)}`;
}

/** The event of a piece, of a text that had none. */
export function likenessOf(kind: Kind, place: JsonObject): JsonObject {
  const like: Open = { type: kind.delta };
  if (place.item_id !== undefined) like.item_id = place.item_id;
  if (typeof place.output_index === 'number') like.output_index = place.output_index;
  if (kind.index !== '') like[kind.index] = place[kind.index] ?? 0;
  if (kind === outputText) like.logprobs = [];
  return like;
}

/** What the parts of messages say, joined. */
export function textOfOutput(output: readonly Json[]): string {
  let text = '';
  for (const item of output) {
    if (!isObject(item) || item.type !== 'message' || !isList(item.content)) continue;
    for (const part of item.content) if (isObject(part) && part.type === 'output_text' && typeof part.text === 'string') text += part.text;
  }
  return text;
}

export const isFilled = (value: Json | undefined): boolean => isList(value) && value.length > 0;
