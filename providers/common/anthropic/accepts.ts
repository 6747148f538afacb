import type { ChatExtension } from '@gateway/plugin-sdk';

/** Members that `chatToMessages` takes beyond OpenAI's API. Anthropic has no signatures on tool calls. */
export const anthropicAccepts: readonly ChatExtension[] = ['thinking', 'cache_control', 'top_k', 'is_error'];
