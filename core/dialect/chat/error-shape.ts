// Runs for errors that a client gets.
// OpenAI's shape of an error: the body of an answer, and an event among chunks.

import { isObject, type JsonObject } from '@gateway/plugin-sdk';
import type { ClientError } from '../dialect.js';

export const openaiErrorBody = (error: ClientError): string =>
  JSON.stringify({ error: { message: error.message, type: error.type, param: error.param, code: error.code } });

export const chunkErrorEvent = (error: ClientError, _sequence: number, hookResults: unknown): string =>
  `data: ${withHookResults(openaiErrorBody(error), hookResults)}\n\n`;

/** Beside the error. */
export const withHookResults = (body: string, hookResults: unknown): string =>
  (hookResults === undefined ? body : `${body.slice(0, -1)},"hook_results":${JSON.stringify(hookResults)}}`);

export function isOpenaiErrorBody({ type, error }: JsonObject): boolean {
  if (!isObject(error) || typeof error.message !== 'string' || !('type' in error)) return false;
  // Anthropic's has a type outside as well.
  return !(type === 'error' && typeof error.type === 'string');
}
