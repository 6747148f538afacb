// Tools and the choice among them: a Messages request -> a chat request.
// Runs once for each attempt at a provider that has no Messages API. Refuses tools that only Anthropic's own models and servers know.

import { isList, isObject, textOrUndefined, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { cacheMark, type Open } from './parts.js';

const known: ReadonlySet<string> = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

export function chatTools(body: JsonObject, context: TranslateContext): JsonObject[] {
  const { tools } = body;
  if (tools === undefined || tools === null) return [];
  if (!isList(tools)) return context.refuse('tools', 'must be a list of tools');
  return tools.flatMap((tool, index): JsonObject[] => {
    const place = `tools[${index}]`;
    if (!isObject(tool)) return context.refuse(place, 'must be an object');
    const type = textOrUndefined(tool.type) ?? 'custom';
    if (type !== 'custom') {
      const remedy = "declare a tool with an input_schema instead, or call a provider that has Anthropic's messages API";
      context.omit(place, `the tool ${type} is Anthropic's own and unknown to this provider: ${remedy}`);
      return [];
    }
    return [functionTool(tool, place, context)];
  });
}

function functionTool(tool: JsonObject, place: string, context: TranslateContext): JsonObject {
  const declared: Open = { name: textOrUndefined(tool.name) ?? context.refuse(`${place}.name`, 'must be a text') };
  const description = textOrUndefined(tool.description);
  if (description !== undefined) declared.description = description;
  declared.parameters = isObject(tool.input_schema) ? tool.input_schema : context.refuse(`${place}.input_schema`, 'must be a JSON Schema of type object');
  if (typeof tool.strict === 'boolean') declared.strict = tool.strict;
  for (const [name, value] of Object.entries(tool)) {
    if (!known.has(name) && !isDefault(name, value)) context.report(`tools.${name}`);
  }
  return { type: 'function', function: declared, ...cacheMark(tool, context) };
}

const isDefault = (name: string, value: unknown): boolean => value === null || value === false
  || (name === 'allowed_callers' && isList(value) && value.includes('direct'))
  || (isList(value) && value.length === 0);

/** `tool_choice` and `parallel_tool_calls`. Without tools both would be refused by many, and mean nothing. */
export function applyToolChoice(body: JsonObject, chat: Open, hasTools: boolean, context: TranslateContext): void {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null) return;
  if (!isObject(choice)) return context.refuse('tool_choice', 'must be an object with a type');
  switch (choice.type) {
    case 'auto': if (hasTools) chat.tool_choice = 'auto'; break;
    case 'none': if (hasTools) chat.tool_choice = 'none'; break;
    case 'any': chat.tool_choice = 'required'; break;
    case 'tool': {
      const name = textOrUndefined(choice.name) ?? context.refuse('tool_choice.name', 'must name a tool');
      chat.tool_choice = { type: 'function', function: { name } };
      break;
    }
    default: context.refuse('tool_choice.type', 'must be auto, any, tool or none');
  }
  if (choice.disable_parallel_tool_use === true && hasTools && choice.type !== 'none') chat.parallel_tool_calls = false;
}
