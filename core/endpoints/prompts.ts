// POST /v1/prompts/{id}/completions and /render: calls whose body is made of a stored prompt. Until it is, nothing of the body is checked but `variables`;
// then the call is a chat or text completion like any other.

import { dialects } from '../dialect/dialects.js';
import type { EndpointDefinition, PromptAction } from '../exchange/endpoint.js';
import { chatCompletions } from './chat-completions.js';
import { completions } from './completions.js';

const endpoint = (scope: string): EndpointDefinition => Object.freeze({ name: 'chatCompletions', dialect: dialects.chat, scope, body: 'json', validate: null, isSingleTarget: false });
const action = (name: string, isRender: boolean): PromptAction =>
  Object.freeze({ name, endpoint: endpoint(isRender ? 'prompts.render' : 'completions.write'), isRender, chat: chatCompletions, text: completions });

/** `generate` is the older name of completions. */
export const promptActions: readonly PromptAction[] = [action('completions', false), action('render', true), action('generate', false)];
