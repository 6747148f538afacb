// Tools and tool choice of a responses request -> those of a chat request. Runs once for each translated request.
// Only functions exist in both; a tool that the provider would have to run itself is refused by its name, never left out.

import { isObject, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../context.js';
import { cacheMark, type Open } from './parts.js';

/** Empty: the client gave none. */
export function chatTools(body: JsonObject, context: TranslateContext): Json[] {
  const { tools } = body;
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return context.refuse('tools', 'must be a list');
  return tools.flatMap((tool: Json, index) => functionTool(tool, `tools[${index}]`, context));
}

function functionTool(tool: Json, place: string, context: TranslateContext): Json[] {
  if (!isObject(tool)) return context.refuse(place, 'must be an object with a type');
  if (tool.type !== 'function') {
    context.omit(place, `this provider has no tool ${String(tool.type)}; only function tools can be used with it`);
    return [];
  }
  const declared: Open = { name: typeof tool.name === 'string' ? tool.name : context.refuse(`${place}.name`, 'must be a text') };
  if (typeof tool.description === 'string') declared.description = tool.description;
  if (tool.parameters !== undefined && tool.parameters !== null) {
    declared.parameters = isObject(tool.parameters) ? tool.parameters : context.refuse(`${place}.parameters`, 'must be a JSON schema');
  }
  if (typeof tool.strict === 'boolean') declared.strict = tool.strict;
  for (const hint of ['defer_loading', 'allowed_callers', 'output_schema']) {
    const value = tool[hint];
    if (value !== undefined && value !== null && value !== false) context.report(`tools.${hint}`);
  }
  return [{ type: 'function', function: declared, ...cacheMark(tool, context) }];
}

/** Undefined: the client left it open. */
export function chatToolChoice(body: JsonObject, hasTools: boolean, context: TranslateContext): Json | undefined {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null) return undefined;
  if (!hasTools) {
    // Nothing to choose from is what both of these amount to.
    return choice === 'auto' || choice === 'none' ? undefined : withoutTools(context);
  }
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (!isObject(choice)) return context.refuse('tool_choice', 'must be none, auto, required or an object with a type');
  switch (choice.type) {
    case 'function': return namedFunction(choice, 'tool_choice', context);
    case 'allowed_tools': {
      if (choice.mode !== 'auto' && choice.mode !== 'required') return context.refuse('tool_choice.mode', 'must be auto or required');
      if (!Array.isArray(choice.tools)) return context.refuse('tool_choice.tools', 'must be a list');
      const tools = choice.tools.map((tool: Json, index) => namedFunction(tool, `tool_choice.tools[${index}]`, context));
      return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools } };
    }
    default:
      context.omit('tool_choice', `this provider has no tool ${String(choice.type)}; only functions can be chosen`);
      return undefined;
  }
}

function withoutTools(context: TranslateContext): undefined {
  context.omit('tool_choice', 'there are no tools to choose from; add them or leave this out');
  return undefined;
}

function namedFunction(tool: Json, place: string, context: TranslateContext): Json {
  if (!isObject(tool)) return context.refuse(place, 'must be an object with a type and a name');
  if (tool.type !== 'function') return context.refuse(`${place}.type`, `this provider has no tool ${String(tool.type)}; only functions can be chosen`);
  return { type: 'function', function: { name: typeof tool.name === 'string' ? tool.name : context.refuse(`${place}.name`, 'must be a text') } };
}
