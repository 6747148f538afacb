// Hot: runs for each event of a stream that is read.
// What tells of an error in an answer or a stream. Providers that copy OpenAI's API differ in how they say that there is no error: without the member, or with an empty one in every chunk.

import type { AnswerEvent } from '@gateway/plugin-sdk';
import { isOneOf } from './event-members.js';

/** The answer, or the chunk, tells of an error. */
export function tellsError(body: Readonly<Record<string, unknown>>): boolean {
  const { error } = body;
  if (error === undefined || error === null) return false;
  return !isEmpty(error) || !Array.isArray(body.choices);
}

const isEmpty = (error: unknown): boolean =>
  error === '' || error === false || (typeof error === 'object' && error !== null && Object.keys(error).length === 0);

/** The same of JSON that begins with the member, without reading the rest. */
const beginsWithError = (text: string): boolean => text.startsWith('{"error"') && !(emptyError.test(text) && text.includes('"choices"'));
const emptyError = /^\{"error"\s*:\s*(?:null|false|""|\{\s*\})/;

/** An error event, told without parsing the others: by one of the dialect's names for it, or by its data. Some tell errors in the form of another dialect. */
export function isErrorEvent({ event, data }: AnswerEvent, names: readonly string[]): boolean {
  if (event !== undefined && isOneOf(names, event)) return true;
  return typeof data === 'string' ? beginsWithError(data) || data.startsWith('{"type":"error"') : tellsError(data);
}
