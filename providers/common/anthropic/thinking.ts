import { isObject, readThinking, type Json, type JsonObject, type ProviderCall } from '@gateway/plugin-sdk';
import { traitsOf } from './models.js';

export interface ThinkingControls {
  readonly thinking?: Json;
  readonly effort?: string;
}

/** What of the request decides whether there can be thinking. */
export interface ThinkingPlace {
  readonly isToolForced: boolean;
  /** The client set `temperature`, `top_p` or `top_k` to what the API refuses together with thinking. */
  readonly isSampled: boolean;
  /** Tool results follow an answer whose thinking the client did not send back: the API takes no thinking with a budget there. */
  readonly isThinkingLost: boolean;
}

/** Tokens for models that know budgets only. */
const budgets: ReadonlyMap<string, number> = new Map([['minimal', 1024], ['low', 2048], ['medium', 8192], ['high', 16_384], ['xhigh', 32_000], ['max', 32_000]]);
const budgetMin = 1024;

/**
 * `thinking` goes up as the client wrote it. `reasoning_effort` becomes an effort with adaptive thinking, or a budget for models before 4.6.
 * An answer that is forced to call a tool cannot think: the effort alone is given then. Thinking with a budget cannot begin in the middle
 * of a tool's use either, nor beside a temperature of the client's, where it is left out and reported.
 */
export function readThinkingControls(body: JsonObject, call: ProviderCall, maxTokens: number, place: ThinkingPlace): ThinkingControls {
  const { effort, budgetTokens } = readThinking(body);
  const given = isObject(body.thinking) ? body.thinking : undefined;
  // With interleaved thinking the budget spans all steps of the tools' use, and may be larger than one answer.
  const isInterleaved = call.header('anthropic-beta')?.includes('interleaved-thinking') === true;
  if (budgetTokens !== undefined && budgetTokens >= maxTokens && !isInterleaved) call.refuse('thinking.budget_tokens', `must be below max_tokens, which is ${maxTokens}`);
  const kept = given === undefined ? {} : { thinking: given };
  if (given?.type === 'enabled' && place.isThinkingLost) {
    call.report('thinking');
    return {};
  }
  if (effort === undefined) return kept;
  const kind = traitsOf(call.model).thinking;
  if (effort === 'none') return given !== undefined || kind === 'none' ? kept : { thinking: { type: 'disabled' } };
  if (!budgets.has(effort)) return call.refuse('reasoning_effort', 'must be none, minimal, low, medium, high, xhigh or max');
  switch (kind) {
    case 'none': call.report('reasoning_effort'); return kept;
    case 'adaptive': {
      const wire = effort === 'minimal' ? 'low' : effort;
      if (given === undefined && place.isSampled) call.report('reasoning_effort');
      return given !== undefined || place.isToolForced || place.isSampled ? { ...kept, effort: wire } : { thinking: { type: 'adaptive' }, effort: wire };
    }
    case 'budget': {
      if (given !== undefined) return kept;
      if (place.isToolForced || place.isThinkingLost || place.isSampled) { call.report('reasoning_effort'); return {}; }
      // The budget is this file's choice, so it may shrink: half of the answer at least stays for what is to be read.
      const budget = Math.min(budgets.get(effort) ?? budgetMin, Math.floor(maxTokens / 2));
      if (budget < budgetMin) return call.refuse('reasoning_effort', `thinking needs max_tokens of at least ${2 * budgetMin} on this model`);
      return { thinking: { type: 'enabled', budget_tokens: budget } };
    }
  }
}
