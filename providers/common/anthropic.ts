// Anthropic's Messages API as the chat dialect sees it; for every provider that serves Claude models in their native format.
export { chatToMessages } from './anthropic/request.js';
export { messagesToChat } from './anthropic/answer.js';
export { messagesStage } from './anthropic/stream.js';
export { anthropicError } from './anthropic/error.js';
export { anthropicAccepts } from './anthropic/accepts.js';
