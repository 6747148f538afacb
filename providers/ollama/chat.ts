import {
  chatCompletion, isObject, ProviderError, readResponseFormat, readThinking, readToolChoice, readTools, textOf, type ContentBlock, type FunctionTool,
  type Json, type JsonObject, type ProviderCall,
} from '@gateway/plugin-sdk';
import { chatLogprobs, finishOf, toolCallsOf, usageOf } from './answer.js';
import { ollamaMessages } from './messages.js';
import { judgeFields, optionsOf, ownFields, topLogprobs } from './options.js';

type Open = Record<string, Json>;

/** A chat completion request as `/api/chat` takes it. */
export function chatToOllama(body: JsonObject, call: ProviderCall): JsonObject {
  judgeFields(body, call);
  if (Array.isArray(body.modalities) && body.modalities.some((modality) => modality !== 'text')) call.omit('modalities', 'ollama answers with text only');
  if (isObject(body.audio)) call.omit('audio', 'ollama answers with text only');
  if (isObject(body.web_search_options)) call.report('web_search_options');
  if (body.parallel_tool_calls === false) call.report('parallel_tool_calls');
  // Ollama streams unless told otherwise.
  const wire: Open = { ...ownFields(body), model: call.model, messages: ollamaMessages(body, call), stream: call.isStream };
  const options = optionsOf(body);
  if (options !== undefined) wire.options = options;
  const tools = chosenTools(body, call);
  if (tools.length > 0) wire.tools = tools.map((tool) => wireTool(tool, call));
  const format = formatOf(body, call);
  if (format !== undefined) wire.format = format;
  const think = thinkOf(body, call);
  if (think !== undefined && wire.think === undefined) wire.think = think;
  const top = topLogprobs(body.top_logprobs, 'top_logprobs', call);
  if (body.logprobs === true) wire.logprobs = true;
  else if (top !== undefined && top > 0) call.omit('top_logprobs', 'needs logprobs: true');
  if (body.logprobs === true && top !== undefined) wire.top_logprobs = top;
  return wire;
}

/** Ollama has no tool choice. What tools the model may use is said by giving it fewer; that it must use one cannot be said, and is reported. */
function chosenTools(body: JsonObject, call: ProviderCall): readonly FunctionTool[] {
  const tools = readTools(body, call, (_, place) => call.omit(place, 'ollama takes function tools only'));
  const choice = readToolChoice(body, call);
  switch (choice?.kind) {
    case undefined: case 'auto': return tools;
    case 'none': return [];
    case 'allowed':
      if (choice.isRequired) call.report('tool_choice');
      return tools.filter((tool) => choice.names.includes(tool.name));
    case 'required': call.report('tool_choice'); return tools;
    case 'function': call.report('tool_choice'); return tools.filter((tool) => tool.name === choice.name);
  }
}

function wireTool(tool: FunctionTool, call: ProviderCall): JsonObject {
  if (tool.strict === true) call.report('tools.function.strict');
  return {
    type: 'function',
    function: { name: tool.name, ...(tool.description === undefined ? {} : { description: tool.description }), parameters: tool.parameters },
  };
}

function formatOf(body: JsonObject, call: ProviderCall): Json | undefined {
  const format = readResponseFormat(body, call);
  switch (format?.kind) {
    case 'json': return 'json';
    case 'schema': return format.schema;
    default: return undefined;
  }
}

/** Efforts that Ollama has no level for, by the level its own OpenAI interface takes for them. */
const levels: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['none', false], ['minimal', 'low'], ['low', 'low'], ['medium', 'medium'], ['high', 'high'], ['xhigh', 'max'], ['max', 'max'],
]);

function thinkOf(body: JsonObject, call: ProviderCall): Json | undefined {
  const { type, budgetTokens, effort } = readThinking(body);
  // A model thinks as long as it likes; a level is the nearest thing to a budget.
  if (budgetTokens !== undefined) call.report('thinking.budget_tokens');
  if (type === 'disabled') return false;
  if (effort !== undefined) {
    const level = levels.get(effort);
    return level === undefined ? call.refuse('reasoning_effort', 'must be none, minimal, low, medium, high, xhigh or max') : level;
  }
  return type === 'enabled' ? true : undefined;
}

/** A whole answer of `/api/chat` as a chat completion. */
export function ollamaToChat(answer: Json, call: ProviderCall): JsonObject {
  if (!isObject(answer)) throw new ProviderError('ollama answered with something that is not a JSON object');
  if (typeof answer.error === 'string') throw new ProviderError(answer.error);
  const message = isObject(answer.message) ? answer.message : {};
  if (answer.done !== true) throw new ProviderError('ollama broke off before the answer was complete');
  const text = textOf(message.content);
  const thinking = textOf(message.thinking);
  const toolCalls = toolCallsOf(message, call);
  const reason = textOf(answer.done_reason);
  const blocks: ContentBlock[] = thinking === '' ? [] : [{ type: 'thinking', thinking }, ...(text === '' ? [] : [{ type: 'text', text } as const])];
  const logprobs = chatLogprobs(answer.logprobs);
  return chatCompletion(call, {
    model: textOf(answer.model) || call.model,
    choices: [{
      text, blocks, toolCalls,
      finish: finishOf(reason, toolCalls.length > 0),
      ...(reason === '' ? {} : { nativeFinish: reason }),
      ...(logprobs === undefined ? {} : { logprobs }),
    }],
    usage: usageOf(answer),
  });
}
