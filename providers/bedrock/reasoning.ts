import { isObject, readThinking, type JsonObject, type ProviderCall, type Turn } from '@gateway/plugin-sdk';
import { hasAdaptiveThinking, hasEffort, hasThinkingBudget, isClaude, isNova2, type Model } from './model.js';

export interface Reasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** `outputConfig.effort`. */
  readonly effort?: string;
}

/** Anthropic's least; below it a budget is refused. */
const budgetMin = 1024;
const budgets: ReadonlyMap<string, number> = new Map([['minimal', 1024], ['low', 2048], ['medium', 8192], ['high', 16_384], ['xhigh', 24_576], ['max', 32_000]]);
const nothing: Reasoning = { fields: {} };

/**
 * What the client says about thinking, in the terms of the model's family. `thinking` is meant literally; `reasoning_effort` is a wish, and
 * is reported instead of sent where thinking would not go together with the rest of the request.
 */
export function reasoningOf(body: JsonObject, call: ProviderCall, model: Model, turns: readonly Turn[], isForced: boolean, maxTokens: number | undefined): Reasoning {
  const { type, budgetTokens, effort } = readThinking(body);
  if (type === undefined && effort === undefined) return nothing;
  if (isClaude(model) || model.vendor === '') {
    const literal = isObject(body.thinking) ? { thinking: body.thinking } : undefined;
    if (effort === undefined) return literal === undefined ? nothing : { fields: literal };
    return claudeEffort(effort, literal, call, model, thinkingFits(body, turns, isForced), maxTokens);
  }
  if (isNova2(model)) {
    if (budgetTokens !== undefined) call.report('thinking');
    if (type === 'disabled' || effort === 'none') return { fields: { reasoningConfig: { type: 'disabled' } } };
    return { fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: threeLevels(effort ?? 'medium', call) } } };
  }
  if (model.vendor === 'openai') {
    if (type !== undefined) call.report('thinking');
    return effort === undefined ? nothing : { fields: { reasoning_effort: effort } };
  }
  if (type !== undefined) call.report('thinking');
  if (effort !== undefined) call.report('reasoning_effort');
  return nothing;
}

function claudeEffort(effort: string, literal: JsonObject | undefined, call: ProviderCall, model: Model, fits: boolean, maxTokens: number | undefined): Reasoning {
  const none: Reasoning = { fields: literal ?? {} };
  if (hasEffort(model)) {
    if (effort === 'none') return { fields: literal ?? { thinking: { type: 'disabled' } } };
    const thinking = literal ?? (fits && hasAdaptiveThinking(model) ? { thinking: { type: 'adaptive' } } : {});
    return { fields: thinking, effort: effort === 'minimal' ? 'low' : effort };
  }
  // A budget that the client gave says it more precisely.
  if (effort === 'none' || literal !== undefined) return none;
  const wanted = budgets.get(effort);
  if (wanted === undefined || !hasThinkingBudget(model) || !fits || (maxTokens !== undefined && maxTokens <= budgetMin)) {
    call.report('reasoning_effort');
    return none;
  }
  // The budget is part of the tokens that the answer may have, and has to leave room for it.
  const budget = maxTokens === undefined ? wanted : Math.max(budgetMin, Math.min(wanted, Math.floor(maxTokens * 0.8)));
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } } };
}

function threeLevels(effort: string, call: ProviderCall): string {
  switch (effort) {
    case 'minimal': case 'low': return 'low';
    case 'medium': return 'medium';
    case 'high': case 'xhigh': case 'max': return 'high';
    default: return call.refuse('reasoning_effort', 'Amazon Nova takes none, low, medium or high');
  }
}

/** Claude refuses thinking together with these, and with a history whose running tool calls were made without it. */
function thinkingFits(body: JsonObject, turns: readonly Turn[], isForced: boolean): boolean {
  if (isForced || (typeof body.temperature === 'number' && body.temperature !== 1) || typeof body.top_k === 'number') return false;
  if (typeof body.top_p === 'number' && body.top_p < 0.95) return false;
  const last = turns.findLast((turn) => turn.role === 'assistant');
  return last === undefined || last.toolCalls.length === 0 || last.blocks.some((block) => block.type !== 'text');
}
