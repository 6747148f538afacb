import type { Json, JsonObject } from '@gateway/plugin-sdk';
import { isObject } from '@gateway/plugin-sdk';

/** The answer of `countTokens` as Anthropic's API tells it. */
export const countTokensAnswer = (answer: Json): JsonObject => ({ input_tokens: isObject(answer) && typeof answer.totalTokens === 'number' ? answer.totalTokens : 0 });
