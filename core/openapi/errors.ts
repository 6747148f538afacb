// Error responses of the description: statuses, and an example of each error, from the table of codes.

import type { ErrorCode } from '../errors/codes.js';
import { errorCodes } from '../errors/codes.js';
import { fail } from '../errors/gateway-error.js';
import { errorReply, errorSchema } from '../control-plane/envelope.js';
import { refusalBody } from '../dialect/common/client-error.js';
import type { Dialect } from '../dialect/dialect.js';
import { dialects } from '../dialect/dialects.js';
import type { JsonSchema } from '../exchange/endpoint.js';
import type { Components } from './components.js';

const details: Readonly<Record<string, string>> = { param: 'name', reason: 'must not be empty', kind: 'config', id: 'support', scope: 'configs.create', users: 'the API key Support', advice: 'change it first' };
/** Error responses of control operations: for each status, the error that is most typical of it. */
const controlErrors: readonly (readonly [name: string, description: string, code: ErrorCode])[] = [
  ['BadRequest', 'The path, a header, the query or the body is not right; `error.param` names what is at fault.', 'FIELD_INVALID'],
  ['Unauthorized', 'No key, or one that is not valid.', 'KEY_MISSING'],
  ['Forbidden', 'The key lacks the scope, or may not reach the workspace.', 'SCOPE_MISSING'],
  ['NotFound', 'There is no such row (`AB08`), or none that the body names (`AB02`).', 'ROW_UNKNOWN'],
  ['Conflict', 'It is there already, is still in use, or cannot be done now.', 'ROW_IN_USE'],
  ['Stale', '`if-match` names another version than the present one.', 'VERSION_STALE'],
  ['TooLarge', 'The body is larger than 1 MiB.', 'BODY_TOO_LARGE'],
  ['TooMany', 'Too many calls of this key at once, or in a second.', 'CONTROL_BUSY'],
  ['Internal', 'Something that nobody expected; the log of the gateway has it.', 'INTERNAL'],
  ['Unavailable', 'The control plane gave no answer, or the storage takes no writes.', 'CONTROL_UNAVAILABLE'],
];

type Responses = Record<string, unknown>;

const refer = (name: string): JsonSchema => ({ $ref: `#/components/responses/${name}` });

/** Status -> reference, for all error responses of control operations. */
export const controlRefusals: Readonly<Record<string, JsonSchema>> = Object.fromEntries(controlErrors.map(([name, , code]) => [String(errorCodes[code].status), refer(name)]));

export function controlResponses(components: Components): Responses {
  const schema = components.refer(errorSchema);
  return Object.fromEntries(controlErrors.map(([name, description, code]) => {
    const example: unknown = JSON.parse(errorReply(code === 'INTERNAL' ? undefined : fail(code, { ...details, maximum: 1_048_576, unit: 'at once', seconds: 1 })).body);
    return [name, { description, content: { 'application/json': { schema, example } } }];
  }));
}

/** Of what the gateway says itself, beside what clients of the dialect read. */
const ofGateway = { status: { const: 'failure', description: 'the gateway says so, and no provider' }, message: { type: 'string', description: 'the same as below `error`' } } as const;
const openaiError: JsonSchema = {
  title: 'ChatError', type: 'object', required: ['error'],
  properties: {
    error: {
      type: 'object', required: ['message', 'type'],
      properties: { message: { type: 'string' }, type: { type: 'string' }, param: { type: ['string', 'null'] }, code: { description: 'of the gateway: the name of its error in lower case; of a provider: its own', type: ['string', 'integer', 'null'] } },
    },
    hook_results: { type: 'object', description: 'which checks failed' },
    ...ofGateway,
  },
};
const anthropicError: JsonSchema = {
  title: 'MessagesError', type: 'object', required: ['type', 'error'],
  properties: {
    type: { const: 'error' },
    error: { type: 'object', required: ['type', 'message'], properties: { type: { type: 'string' }, message: { type: 'string' } } },
    hook_results: { type: 'object' },
    ...ofGateway,
  },
};
/** Other routes have errors in the shape of chat completions. */
export const errorSchemaOf = (dialect: Dialect): JsonSchema => (dialect === dialects.messages ? anthropicError : openaiError);

const responseName = (dialect: Dialect, isClient: boolean): string => `${dialect === dialects.messages ? 'Messages' : 'Chat'}${isClient ? 'Refusal' : 'Failure'}`;

export const inferenceRefusals = (dialect: Dialect): Readonly<Record<string, JsonSchema>> => ({ '4XX': refer(responseName(dialect, true)), '5XX': refer(responseName(dialect, false)) });

/** Codes that only control operations, or no HTTP calls, answer with. */
const isInference = (code: string): boolean => !/^(?:FIELD|WORKSPACE_MISSING|WORKSPACE_FOREIGN|ACTION|REFERENCE|ROW|IDEMPOTENCY|VERSION|CONTROL|STORAGE|SETTINGS|INVITE|SESSION|SIGN_IN)/.test(code);

/** One example for each code, in the shape of the dialect. Placeholders of the message stay as they are in the table. */
export function inferenceResponses(components: Components): Responses {
  const responses: Responses = {};
  for (const dialect of [dialects.chat, dialects.messages]) {
    const schema = components.refer(errorSchemaOf(dialect));
    for (const isClient of [true, false]) {
      const examples = Object.entries(errorCodes).filter(([code, { status }]) => status < 500 === isClient && isInference(code)).map(([code, { status, type, message }]) => {
        const value: unknown = JSON.parse(refusalBody({ status, message, type, param: null, code: code.toLowerCase() }, dialect));
        return [code.toLowerCase(), { summary: `status ${status}`, value }];
      });
      const description = isClient ? 'The gateway or the provider refuses the call. A provider\'s error keeps its status, message and code.' : 'The gateway or the provider failed.';
      responses[responseName(dialect, isClient)] = { description, content: { 'application/json': { schema, examples: Object.fromEntries(examples) } } };
    }
  }
  return responses;
}
