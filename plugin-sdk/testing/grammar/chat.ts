import { isObject } from '../../src/json.js';
import type { JsonObject } from '../../src/chat/types.js';

interface Choice {
  toolCount: number;
  isFinished: boolean;
}

const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'];

/** Checks the chunks of a streamed chat completion (without `[DONE]`) against the documented order; gives what is wrong, nothing when all is well. */
export function checkChatChunks(chunks: readonly unknown[]): string[] {
  const faults: string[] = [];
  const choices = new Map<number, Choice>();
  let id: unknown;
  let usageAt = -1;
  chunks.forEach((chunk, index) => {
    const fault = (text: string): void => { faults.push(`chunk ${index}: ${text}`); };
    if (!isObject(chunk)) return fault('is not an object');
    if (chunk.object !== 'chat.completion.chunk') fault(`object is ${String(chunk.object)}`);
    if (typeof chunk.id !== 'string' || chunk.id === '') fault('has no id');
    if (index === 0) id = chunk.id;
    if (chunk.id !== id) fault('the id changed');
    if (typeof chunk.created !== 'number') fault('has no created');
    if (typeof chunk.model !== 'string') fault('has no model');
    if (usageAt !== -1) fault('comes after usage');
    if (chunk.usage !== undefined && chunk.usage !== null) usageAt = index;
    if (!Array.isArray(chunk.choices)) return fault('has no choices');
    if (chunk.choices.length === 0 && usageAt !== index && !('prompt_filter_results' in chunk)) fault('has neither choices nor usage');
    for (const choice of chunk.choices as readonly unknown[]) {
      if (isObject(choice)) checkChoice(choice, choices, fault);
      else fault('a choice is not an object');
    }
    if (usageAt === index) checkUsage(chunk, fault);
    if (usageAt === index && [...choices.values()].some(({ isFinished }) => !isFinished)) fault('usage comes before the end of a choice');
  });
  if (choices.size === 0) faults.push('the end: there was no choice');
  for (const [index, { isFinished }] of choices) if (!isFinished) faults.push(`the end: choice ${index} has no finish_reason`);
  return faults;
}

type Fault = (text: string) => void;

function checkChoice(choice: JsonObject, choices: Map<number, Choice>, fault: Fault): void {
  if (typeof choice.index !== 'number') return fault('a choice has no index');
  const known = choices.get(choice.index);
  const state = known ?? { toolCount: 0, isFinished: false };
  choices.set(choice.index, state);
  if (state.isFinished) fault(`choice ${choice.index} goes on after its finish_reason`);
  const { delta } = choice;
  if (!isObject(delta)) return fault('a choice has no delta');
  if (known === undefined && delta.role !== 'assistant') fault(`choice ${choice.index} does not begin with its role`);
  if (known !== undefined && delta.role !== undefined) fault(`choice ${choice.index} tells its role again`);
  if (delta.content !== undefined && delta.content !== null && typeof delta.content !== 'string') fault('content is not a text');
  if (delta.tool_calls !== undefined) {
    if (Array.isArray(delta.tool_calls)) for (const toolCall of delta.tool_calls as readonly unknown[]) checkToolCall(toolCall, state, fault);
    else fault('tool_calls is not a list');
  }
  const finish = choice.finish_reason;
  if (finish === null) return;
  if (typeof finish !== 'string' || !finishReasons.includes(finish)) return fault(`finish_reason is ${String(finish)}`);
  state.isFinished = true;
}

function checkToolCall(toolCall: unknown, state: Choice, fault: Fault): void {
  if (!isObject(toolCall) || !isObject(toolCall.function)) return fault('a tool call has no function');
  const { index } = toolCall;
  if (typeof index !== 'number' || index > state.toolCount || index < 0) return fault(`the index of a tool call is ${String(index)}, expected at most ${state.toolCount}`);
  if (typeof toolCall.function.arguments !== 'string') fault('arguments are not a text');
  if (index === state.toolCount) {
    state.toolCount += 1;
    if (typeof toolCall.id !== 'string' || toolCall.id === '') fault('a tool call begins without an id');
    if (toolCall.type !== 'function') fault('a tool call begins without its type');
    if (typeof toolCall.function.name !== 'string' || toolCall.function.name === '') fault('a tool call begins without a name');
    return;
  }
  if (toolCall.id !== undefined || toolCall.type !== undefined || toolCall.function.name !== undefined) fault('a tool call tells id, type or name again');
}

function checkUsage({ usage }: JsonObject, fault: Fault): void {
  if (!isObject(usage)) return fault('usage is not an object');
  for (const member of ['prompt_tokens', 'completion_tokens', 'total_tokens']) if (typeof usage[member] !== 'number') fault(`usage has no ${member}`);
}
