import type { JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { readThinking } from '@gateway/plugin-sdk';
import { isGeminiPro, isGeminiThree, isGeminiTwoPro, leastBudget, neverThinks } from './models.js';

/** Budgets that Google's own OpenAI-compatible service gives Gemini 2.5 for each effort. */
const budgets: ReadonlyMap<string, number> = new Map([['minimal', 1024], ['low', 1024], ['medium', 8192], ['high', 24576], ['xhigh', 24576], ['max', 24576]]);

/**
 * `thinking` wins over `reasoning_effort`: it says more. Gemini 3 thinks by level, Gemini 2.5 by a number of tokens. Thoughts are asked for
 * when the client can see them.
 */
export function thinkingConfig(body: JsonObject, call: ProviderCall): JsonObject | undefined {
  const { type, budgetTokens, effort } = readThinking(body);
  const isThree = isGeminiThree(call.model);
  if (neverThinks(call.model)) {
    if (type === 'enabled' || type === 'adaptive') call.report('thinking');
    else if (type === undefined && effort !== undefined && effort !== 'none') call.report('reasoning_effort');
    return undefined;
  }
  if (type === 'disabled') return off(call, 'thinking', isThree);
  if (type === 'enabled' && budgetTokens !== undefined) return { thinkingBudget: budgetTokens, includeThoughts: true };
  if (effort === 'none') return off(call, 'reasoning_effort', isThree);
  if (effort !== undefined) {
    const isShown = type !== undefined || !call.isStrict;
    return { ...level(call, effort, isThree), ...(isShown ? { includeThoughts: true } : {}) };
  }
  // -1 leaves the budget to the model, which is what Gemini 3 does anyway.
  if (type === 'enabled' || type === 'adaptive') return isThree ? { includeThoughts: true } : { thinkingBudget: -1, includeThoughts: true };
  return undefined;
}

/** A model that cannot stop thinking thinks as little as it can, and the client is told. */
function off(call: ProviderCall, param: string, isThree: boolean): JsonObject | undefined {
  const cannot = isThree || isGeminiTwoPro(call.model);
  if (!cannot) return { thinkingBudget: 0 };
  call.report(param);
  if (!isThree) return { thinkingBudget: leastBudget };
  return { thinkingLevel: isGeminiPro(call.model) ? 'LOW' : 'MINIMAL' };
}

function level(call: ProviderCall, effort: string, isThree: boolean): JsonObject {
  const budget = budgets.get(effort);
  if (budget === undefined) return call.refuse('reasoning_effort', 'must be none, minimal, low, medium or high');
  // Nothing above high exists; it is the most the model can do.
  if (effort === 'xhigh' || effort === 'max') call.report('reasoning_effort');
  if (!isThree) return { thinkingBudget: budget };
  switch (effort) {
    case 'minimal': return { thinkingLevel: isGeminiPro(call.model) ? 'LOW' : 'MINIMAL' };
    case 'low': return { thinkingLevel: 'LOW' };
    case 'medium': return { thinkingLevel: 'MEDIUM' };
    default: return { thinkingLevel: 'HIGH' };
  }
}
