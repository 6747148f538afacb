import { isObject, readToolChoice, readTools, type FunctionTool, type Json, type JsonObject, type ProviderCall, type ToolChoice } from '@gateway/plugin-sdk';

export interface Tools {
  readonly tools?: readonly Json[];
  readonly tool_choice?: Json;
}

/** Tools and the choice among them. */
export function readToolset(body: JsonObject, call: ProviderCall): Tools {
  const choice = readToolChoice(body, call);
  const tools = wireTools(body, call, choice);
  if (tools.length === 0) {
    if (choice?.kind === 'required' || choice?.kind === 'function') call.omit('tool_choice', 'needs tools to choose from');
    return {};
  }
  const toolChoice = wireChoice(choice, body.parallel_tool_calls === false);
  return toolChoice === undefined ? { tools } : { tools, tool_choice: toolChoice };
}

/** In the order the client gave them: prompt caches depend on it. */
function wireTools(body: JsonObject, call: ProviderCall, choice: ToolChoice | undefined): Json[] {
  const own = new Map<string, Json>();
  const functions = new Map(readTools(body, call, (tool, place) => {
    if (isOwnTool(tool)) own.set(place, tool);
    else call.omit(place, 'must be a function or a tool type of the Messages API, such as web_search_20250305');
  }).map((tool) => [tool.place, tool]));
  const allowed = choice?.kind === 'allowed' ? new Set(choice.names) : undefined;
  const list = Array.isArray(body.tools) ? body.tools : Array.isArray(body.functions) ? body.functions : [];
  const name = Array.isArray(body.tools) ? 'tools' : 'functions';
  const wire = list.flatMap((_, index): Json[] => {
    const place = `${name}[${index}]`;
    const given = own.get(place);
    if (given !== undefined) return allowed === undefined ? [given] : [];
    const tool = functions.get(place);
    return tool === undefined || (allowed !== undefined && !allowed.has(tool.name)) ? [] : [wireTool(tool)];
  });
  const search = webSearch(body, call);
  if (search !== undefined && ![...own.values()].some((tool) => isObject(tool) && tool.name === 'web_search')) wire.push(search);
  return wire;
}

/** OpenAI's `web_search_options` as Anthropic's tool. */
function webSearch(body: JsonObject, call: ProviderCall): Json | undefined {
  const options = body.web_search_options;
  if (!isObject(options)) return undefined;
  const { user_location: location, search_context_size: size, ...others } = options;
  // How much is read of each page is the provider's own business.
  if (size !== undefined && size !== null && size !== 'medium') call.report('web_search_options.search_context_size');
  for (const name of Object.keys(others)) call.report(`web_search_options.${name}`);
  const approximate = isObject(location) ? location.approximate ?? location : undefined;
  return { type: 'web_search_20250305', name: 'web_search', ...(isObject(approximate) ? { user_location: { ...approximate, type: 'approximate' } } : {}) };
}

/** Tools that Anthropic defines carry a date in their type; tools in the Messages API's own shape have an `input_schema`. */
const isOwnTool = (tool: JsonObject): boolean =>
  tool.input_schema !== undefined || (typeof tool.type === 'string' && (/_\d{8}$/.test(tool.type) || tool.type === 'mcp_toolset'));

function wireTool(tool: FunctionTool): Json {
  return {
    name: tool.name,
    ...(tool.description === undefined || tool.description === '' ? {} : { description: tool.description }),
    // The schema stays as it is; only the type at its root, which the API requires, is added where it lacks.
    input_schema: tool.parameters.type === undefined ? { type: 'object', ...tool.parameters } : tool.parameters,
    ...(tool.strict === true ? { strict: true } : {}),
    ...(tool.cacheControl === undefined ? {} : { cache_control: tool.cacheControl }),
  };
}

function wireChoice(choice: ToolChoice | undefined, isOneCall: boolean): Json | undefined {
  const parallel = isOneCall ? { disable_parallel_tool_use: true } : {};
  switch (choice?.kind) {
    // Said aloud only where the switch for parallel calls needs a place.
    case undefined: return isOneCall ? { type: 'auto', ...parallel } : undefined;
    case 'auto': return { type: 'auto', ...parallel };
    case 'none': return { type: 'none' };
    case 'required': return { type: 'any', ...parallel };
    case 'function': return { type: 'tool', name: choice.name, ...parallel };
    case 'allowed': return { type: choice.isRequired ? 'any' : 'auto', ...parallel };
  }
}
