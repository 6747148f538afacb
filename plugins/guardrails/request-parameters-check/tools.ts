import { isObject, type EndpointName, type Json, type JsonObject } from '@gateway/plugin-sdk';

export interface Tool {
  /** As the request has it. */
  readonly type: string;
  /** What rules may call its type. */
  readonly types: readonly string[];
  readonly name: string;
}

/** Tools inside of tools (namespaces, tool sets). */
const depthMax = 4;

/** The tools that a request of any dialect defines, legacy functions among them. */
export function toolsOf(endpoint: EndpointName, body: JsonObject): readonly Tool[] {
  const tools: Tool[] = [];
  collect(endpoint, body.tools, tools, 0);
  if (Array.isArray(body.functions)) {
    for (const entry of body.functions as readonly Json[]) if (isObject(entry)) tools.push({ type: 'function', types: ['function'], name: filledText(entry.name) ?? 'function' });
  }
  return tools;
}

function collect(endpoint: EndpointName, list: Json | undefined, tools: Tool[], depth: number): void {
  if (!Array.isArray(list) || depth > depthMax) return;
  for (const entry of list as readonly Json[]) {
    if (!isObject(entry)) continue;
    const type = filledText(entry.type);
    // Messages: a tool of the client has no type, or the type custom, and is what the other dialects call a function.
    const isOwn = endpoint === 'messages' || endpoint === 'countTokens' ? type === undefined || type === 'custom' : type === undefined;
    const shownType = type ?? 'function';
    const name = nameOf(entry.function) ?? nameOf(entry.custom) ?? filledText(entry.name) ?? shownType;
    tools.push({ type: shownType, types: isOwn ? ['function', 'custom'] : [shownType], name });
    collect(endpoint, entry.tools, tools, depth + 1);
  }
}

const nameOf = (value: Json | undefined): string | undefined => (isObject(value) ? filledText(value.name) : undefined);
const filledText = (value: Json | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
