import type { FunctionTool, Json, JsonObject, ProviderCall } from '@gateway/plugin-sdk';
import { isObject, readToolChoice, readTools } from '@gateway/plugin-sdk';
import type { GeminiDialect } from './contents.js';
import { isGeminiThree } from './models.js';

/** Google's own tools by every name that clients give them. */
const builtIn: ReadonlyMap<string, string> = new Map([
  ['google_search', 'googleSearch'], ['googleSearch', 'googleSearch'],
  ['google_search_retrieval', 'googleSearchRetrieval'], ['googleSearchRetrieval', 'googleSearchRetrieval'],
  ['enterprise_web_search', 'enterpriseWebSearch'], ['enterpriseWebSearch', 'enterpriseWebSearch'],
  ['google_maps', 'googleMaps'], ['googleMaps', 'googleMaps'],
  ['code_execution', 'codeExecution'], ['codeExecution', 'codeExecution'],
  ['url_context', 'urlContext'], ['urlContext', 'urlContext'],
  ['file_search', 'fileSearch'], ['fileSearch', 'fileSearch'],
  ['computer_use', 'computerUse'], ['computerUse', 'computerUse'],
  ['retrieval', 'retrieval'],
]);

export interface ToolFields {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

export function toolFields(body: JsonObject, call: ProviderCall, dialect: GeminiDialect): ToolFields {
  const google: JsonObject[] = [];
  const functions = readTools(body, call, (tool, place) => {
    const own = googleTool(tool, place, call);
    if (own === undefined) call.omit(place, 'must be a function or one of Google\'s own tools, such as google_search');
    else google.push(own);
  });
  const declarations: JsonObject[] = [];
  for (const tool of functions) {
    const name = builtIn.get(tool.name);
    if (name !== undefined && isSettings(tool.parameters)) google.push({ [name]: settingsOf(tool.parameters) });
    else declarations.push(declaration(tool));
  }
  if (functions.some((tool) => tool.cacheControl !== undefined)) call.report('cache_control');
  if (functions.some((tool) => tool.strict === true)) call.report('tools.function.strict');
  webSearch(body, call, google);
  if (body.parallel_tool_calls === false && declarations.length > 0) call.report('parallel_tool_calls');
  const tools = declarations.length === 0 ? google : [{ functionDeclarations: declarations }, ...google];
  const isMixed = declarations.length > 0 && google.length > 0 && dialect.files === 'gemini' && isGeminiThree(call.model);
  const config = configOf(body, call, declarations.length > 0);
  const toolConfig = isMixed ? mixed(config) : config;
  return { ...(tools.length === 0 ? {} : { tools }), ...(toolConfig === undefined ? {} : { toolConfig }) };
}

/** Google takes JSON Schema as it is; a function without parameters is declared without a schema. */
function declaration(tool: FunctionTool): JsonObject {
  const { properties } = tool.parameters;
  const isEmpty = tool.parameters.type === 'object' && isObject(properties) && Object.keys(properties).length === 0 && tool.parameters.$ref === undefined;
  return {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(isEmpty ? {} : { parametersJsonSchema: tool.parameters }),
  };
}

/** Parameters that name properties of their own declare a function of the client's that happens to have the name of a built-in tool. */
const isSettings = (parameters: JsonObject): boolean => !isObject(parameters.properties) || Object.keys(parameters.properties).length === 0;

function settingsOf(parameters: JsonObject): JsonObject {
  return parameters.type === 'object' ? {} : parameters;
}

/** `{ type: 'google_search', ... }`, Google's own `{ googleSearch: {} }`, and the web search of other dialects; undefined: none of Google's. */
function googleTool(tool: JsonObject, place: string, call: ProviderCall): JsonObject | undefined {
  const { type, name: _name, ...rest } = tool;
  if (type === undefined) {
    const names = Object.keys(tool);
    if (names.length > 0 && names.every((name) => builtIn.has(name) || name === 'functionDeclarations' || name === 'function_declarations')) return tool;
    return undefined;
  }
  if (typeof type !== 'string') return call.refuse(`${place}.type`, 'must be a text');
  const name = builtIn.get(type);
  if (name !== undefined) {
    const own = rest[type] ?? rest[name];
    return { [name]: isObject(own) ? own : rest };
  }
  if (/^web_search(?:_|$)/.test(type)) return { googleSearch: searchSettings(rest, place, call) };
  if (/^(?:code_interpreter$|code_execution_)/.test(type)) return { codeExecution: {} };
  return undefined;
}

function searchSettings(settings: JsonObject, place: string, call: ProviderCall): JsonObject {
  for (const [name, value] of Object.entries(settings)) {
    if (value === null) continue;
    if (name === 'filters' || name === 'allowed_domains') call.omit(`${place}.${name}`, 'Google Search cannot be limited to some domains');
    if (name === 'blocked_domains') return { ...searchSettings({ ...settings, blocked_domains: null }, place, call), excludeDomains: value };
    if (name !== 'filters' && name !== 'allowed_domains') call.report(`tools.${name}`);
  }
  return {};
}

function webSearch(body: JsonObject, call: ProviderCall, google: JsonObject[]): void {
  const options = body.web_search_options;
  if (!isObject(options)) return;
  for (const [name, value] of Object.entries(options)) if (value !== null) call.report(`web_search_options.${name}`);
  if (!google.some((tool) => tool.googleSearch !== undefined)) google.push({ googleSearch: {} });
}

function configOf(body: JsonObject, call: ProviderCall, hasFunctions: boolean): JsonObject | undefined {
  const given = body.toolConfig ?? body.tool_config;
  const choice = hasFunctions ? readToolChoice(body, call) : undefined;
  const functionCalling = choice === undefined ? undefined : functionCallingConfig(choice);
  if (!isObject(given)) return functionCalling === undefined ? undefined : { functionCallingConfig: functionCalling };
  const own = given.functionCallingConfig ?? given.function_calling_config;
  if (isObject(own) && (own.streamFunctionCallArguments === true || own.stream_function_call_arguments === true)) {
    return call.refuse('tool_config', 'arguments that come in pieces by path cannot be translated; leave streamFunctionCallArguments out');
  }
  return functionCalling === undefined || own !== undefined ? given : { ...given, functionCallingConfig: functionCalling };
}

/** What the Gemini API wants to hear before it lets its own tools and the client's work side by side; without it the answer is 400. */
function mixed(config: JsonObject | undefined): JsonObject {
  const functionCalling = config?.functionCallingConfig;
  const isFree = functionCalling === undefined || (isObject(functionCalling) && functionCalling.mode === 'AUTO');
  return { includeServerSideToolInvocations: true, ...config, ...(isFree ? { functionCallingConfig: { mode: 'VALIDATED' } } : {}) };
}

function functionCallingConfig(choice: NonNullable<ReturnType<typeof readToolChoice>>): JsonObject {
  switch (choice.kind) {
    case 'auto': return { mode: 'AUTO' };
    case 'none': return { mode: 'NONE' };
    case 'required': return { mode: 'ANY' };
    case 'function': return { mode: 'ANY', allowedFunctionNames: [choice.name] };
    // Only this mode takes names and still leaves the model free to answer in words.
    case 'allowed': return { mode: choice.isRequired ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names as readonly Json[] };
  }
}
