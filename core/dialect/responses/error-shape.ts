// Runs for errors that a client of the Responses API gets inside a stream; plain ones have the shape of chat.

import type { ClientError } from '../dialect.js';

export function responseErrorEvent(error: ClientError, sequence: number, hookResults: unknown): string {
  const { code, message, param } = error;
  const data = { type: 'error', code, message, param, sequence_number: sequence, ...(hookResults === undefined ? {} : { hook_results: hookResults }) };
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`;
}
