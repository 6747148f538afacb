import { isObject, readToolChoice, readTools, type FunctionTool, type Json, type JsonObject, type ProviderCall, type ResponseFormat, type ToolChoice } from '@gateway/plugin-sdk';
import { cachePointOf } from './content.js';
import { claudeVersion, hasStructuredOutput, hasWebGrounding, isClaude, isClaudeOrUnknown, isNova, type Model } from './model.js';

export interface ToolSetup {
  readonly toolConfig?: JsonObject;
  /** Anthropic's own `tool_choice`, for what Converse's cannot say; goes to the additional fields. */
  readonly nativeChoice?: JsonObject;
  /** The model must call a tool, which rules thinking out. */
  readonly isForced: boolean;
}

/** The tool that stands for a JSON Schema where the model has no structured output; its arguments are the answer. */
export const answerTool = 'json_answer';

/**
 * Claude before 4.5 and Nova have no structured output: there the answer is asked for as the arguments of a tool. Decided from the request
 * alone, so that request, answer and stream agree.
 */
export function needsAnswerTool(format: ResponseFormat | undefined, model: Model): format is ResponseFormat & { readonly kind: 'schema' } {
  return format?.kind === 'schema' && !hasStructuredOutput(model) && (isClaude(model) || isNova(model));
}

export function toolSetup(body: JsonObject, call: ProviderCall, model: Model, usedTools: readonly string[], format: ResponseFormat | undefined): ToolSetup {
  const native: Json[] = [];
  const declared = readTools(body, call, (tool, place) => {
    // Converse's own tools (`{ systemTool: { name: 'nova_grounding' } }`) need no translation.
    if (tool.systemTool !== undefined || tool.toolSpec !== undefined || tool.cachePoint !== undefined) native.push(withoutType(tool));
    else call.omit(place, 'Bedrock takes function tools, and Converse\'s systemTool as it is');
  });
  if (isObject(body.web_search_options)) {
    if (!hasWebGrounding(model)) call.report('web_search_options');
    else if (!native.some((tool) => isObject(tool) && isObject(tool.systemTool))) native.push({ systemTool: { name: 'nova_grounding' } });
  }
  const choice = readToolChoice(body, call);
  if (needsAnswerTool(format, model)) return answerToolSetup(declared.length + native.length, usedTools, call, format);
  const tools = [...native, ...allowed(declared, choice, call).flatMap((tool) => toolBlocks(tool, call, model))];
  if (choice?.kind === 'none' || tools.length === 0) {
    if (choice !== undefined && choice.kind !== 'none' && choice.kind !== 'auto') call.omit('tool_choice', 'there are no tools to choose from');
    return silentSetup(declared, tools, usedTools, call, choice);
  }
  const toolChoice = converseChoice(choice);
  const isForced = toolChoice !== undefined;
  if (body.parallel_tool_calls === false) {
    if (isClaude(model) && claudeVersion(model) >= 4) {
      // Stated twice, the choice is refused; so all of it goes into Anthropic's own form.
      return { toolConfig: { tools }, nativeChoice: { ...anthropicChoice(choice), disable_parallel_tool_use: true }, isForced };
    }
    call.report('parallel_tool_calls');
  }
  return { toolConfig: { tools, ...(toolChoice === undefined ? {} : { toolChoice }) }, isForced };
}

/**
 * No tool is to be called. Converse has no such choice, and without any tools it refuses a history that holds tool calls: then the tools
 * stay (or are rebuilt from the history), and the model is free to call them.
 */
function silentSetup(declared: readonly FunctionTool[], tools: readonly Json[], usedTools: readonly string[], call: ProviderCall, choice: ToolChoice | undefined): ToolSetup {
  if (usedTools.length === 0) return { isForced: false };
  if (choice?.kind === 'none') call.report('tool_choice');
  const names = new Set(declared.map((tool) => tool.name));
  const rebuilt = tools.length > 0 ? [] : usedTools.filter((name) => !names.has(name)).map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } }));
  return { toolConfig: { tools: [...tools, ...rebuilt] }, isForced: false };
}

function answerToolSetup(toolCount: number, usedTools: readonly string[], call: ProviderCall, format: ResponseFormat & { readonly kind: 'schema' }): ToolSetup {
  if (toolCount > 0) call.refuse('response_format', `${call.model} has no structured output and cannot be held to a schema while it has tools; leave one of them out`);
  const description = format.description ?? 'The answer to the user. Call this once, with the whole answer as arguments.';
  const tools: Json[] = usedTools.map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } }));
  tools.push({ toolSpec: { name: answerTool, description, inputSchema: { json: format.schema } } });
  return { toolConfig: { tools, toolChoice: { tool: { name: answerTool } } }, isForced: true };
}

function allowed(tools: readonly FunctionTool[], choice: ToolChoice | undefined, call: ProviderCall): readonly FunctionTool[] {
  if (choice?.kind === 'function' && tools.length > 0 && !tools.some((tool) => tool.name === choice.name)) call.refuse('tool_choice', `there is no tool ${choice.name}`);
  if (choice?.kind !== 'allowed') return tools;
  const names = new Set(choice.names);
  return tools.filter((tool) => names.has(tool.name));
}

function toolBlocks(tool: FunctionTool, call: ProviderCall, model: Model): Json[] {
  const isStrict = tool.strict === true && hasStructuredOutput(model);
  if (tool.strict === true && !isStrict) call.report('tools.function.strict');
  const toolSpec = {
    name: tool.name,
    // An empty description is refused.
    ...(tool.description === undefined || tool.description.trim() === '' ? {} : { description: tool.description }),
    // Every schema of arguments must say that they are an object.
    inputSchema: { json: { type: 'object', ...tool.parameters } },
    ...(isStrict ? { strict: true } : {}),
  };
  if (tool.cacheControl === undefined) return [{ toolSpec }];
  // Nova caches messages and system instructions, but no tools.
  if (isClaudeOrUnknown(model)) return [{ toolSpec }, cachePointOf(tool.cacheControl)];
  call.report('cache_control');
  return [{ toolSpec }];
}

function converseChoice(choice: ToolChoice | undefined): JsonObject | undefined {
  switch (choice?.kind) {
    case 'required': return { any: {} };
    case 'function': return { tool: { name: choice.name } };
    case 'allowed': return choice.isRequired ? { any: {} } : undefined;
    // `auto` is what goes without saying; some models refuse to be told.
    default: return undefined;
  }
}

function anthropicChoice(choice: ToolChoice | undefined): JsonObject {
  if (choice?.kind === 'function') return { type: 'tool', name: choice.name };
  return { type: choice?.kind === 'required' || (choice?.kind === 'allowed' && choice.isRequired) ? 'any' : 'auto' };
}

/** Tools of a chat request have a type; Converse's are told apart by their one member. */
function withoutType(tool: JsonObject): JsonObject {
  const { type: _, ...rest } = tool;
  return rest;
}
