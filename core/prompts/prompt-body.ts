// Makes the body of a chat or text completion from a prompt version and a call. Later sources win over earlier ones, member by member: the parameters saved with the
// version, `hyperparameters` of the call, the other members of the call.

import { writeJson, type Json } from '@gateway/plugin-sdk';
import { partialLevelsMax, type FindPartial, type Variables } from './render.js';
import { renderPrompt, type PromptTemplate } from './prompt-template.js';
import type { PartialName } from './template.js';

/** A version as calls need it. */
export interface PromptContent {
  readonly template: PromptTemplate;
  readonly model: string | null;
  /** Saved parameters that go into the body, tools and functions among them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Default values of variables: saved parameters that are not parameters of a completion. Null: none. */
  readonly others: Readonly<Record<string, unknown>> | null;
}

/** The columns of a row; most are JSON texts. */
export interface StoredContent {
  readonly template: string;
  readonly parameters: string;
  readonly functions: string;
  readonly tools: string;
  readonly toolChoice: string | null;
  readonly model: string | null;
}

/** Parameters of chat and text completions. A saved parameter of another name is a variable if the template uses it. */
const requestMembers: ReadonlySet<string> = new Set([
  'audio', 'best_of', 'echo', 'frequency_penalty', 'function_call', 'functions', 'logit_bias', 'logprobs', 'max_completion_tokens', 'max_tokens', 'metadata', 'modalities', 'model', 'n', 'parallel_tool_calls',
  'prediction', 'presence_penalty', 'reasoning_effort', 'response_format', 'seed', 'service_tier', 'stop', 'store', 'stream_options', 'suffix', 'temperature', 'thinking', 'tool_choice', 'tools', 'top_k',
  'top_logprobs', 'top_p', 'user', 'verbosity', 'web_search_options',
]);
/** Set by other columns of the version, or by the call alone. */
const ownMembers: ReadonlySet<string> = new Set(['__proto__', 'messages', 'prompt', 'stream', 'variables', 'hyperparameters']);

/** Parses the JSON columns of a version. */
export function promptContent(row: StoredContent): PromptContent {
  const saved: Readonly<Record<string, unknown>> = JSON.parse(row.parameters);
  const parameters: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(saved)) {
    if (ownMembers.has(name)) continue;
    if (requestMembers.has(name)) parameters[name] = value;
    else others[name] = value;
  }
  for (const [name, text] of [['tools', row.tools], ['functions', row.functions]] as const) if (text !== '[]') parameters[name] = JSON.parse(text);
  if (row.toolChoice !== null) parameters.tool_choice = JSON.parse(row.toolChoice);
  const { model = null } = parameters;
  return { template: JSON.parse(row.template), model: row.model ?? (typeof model === 'string' ? model : null), parameters, others: Object.keys(others).length === 0 ? null : others };
}

/** JSON text of the body. `given`: the members of the call; `variables` is an object. Throws RenderFault. */
export function promptBody(content: PromptContent, given: Readonly<Record<string, unknown>>, variables: Readonly<Record<string, unknown>>, find: FindPartial, charsMax: number): string {
  const body: Record<string, unknown> = {};
  if (content.model !== null) body.model = content.model;
  const defaults = content.others === null ? null : divide(content.template, content.others, find, body);
  for (const name in content.parameters) if (name !== 'model') body[name] = content.parameters[name];
  const { hyperparameters } = given;
  if (typeof hyperparameters === 'object' && hyperparameters !== null) override(body, hyperparameters as Readonly<Record<string, unknown>>);
  override(body, given);
  const member = content.template.kind === 'text' ? 'prompt' : 'messages';
  // The call has messages of its own, so the template is not rendered.
  if (given[member] !== undefined) {
    body[member] = given[member];
    return writeJson(body as Json);
  }
  const text = renderPrompt(content.template, { given: variables, defaults } satisfies Variables, find, charsMax);
  // Of parsed bodies and stored JSON, so JSON.
  const rest = writeJson(body as Json);
  return `{"${member}":${text}${rest === '{}' ? '' : ','}${rest.slice(1)}`;
}

function override(body: Record<string, unknown>, given: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(given)) {
    if (name !== 'variables' && name !== 'hyperparameters' && name !== '__proto__' && name !== 'messages' && name !== 'prompt') body[name] = given[name];
  }
}

/** Puts parameters that are not variables into the body; returns the others. */
function divide(template: PromptTemplate, others: Readonly<Record<string, unknown>>, find: FindPartial, body: Record<string, unknown>): Readonly<Record<string, unknown>> | null {
  const names = new Set(template.names);
  addNames(template.partials, find, names, partialLevelsMax, new Set());
  let defaults: Record<string, unknown> | null = null;
  for (const name of Object.keys(others)) {
    if (names.has(name)) (defaults ??= {})[name] = others[name];
    else body[name] = others[name];
  }
  return defaults;
}

/** Names of the variables that the partials use. Each partial is visited once. */
function addNames(partials: readonly PartialName[], find: FindPartial, names: Set<string>, levels: number, seen: Set<unknown>): void {
  if (levels === 0) return;
  for (const { slug, version } of partials) {
    const template = find(slug, version);
    if (template === undefined || seen.has(template)) continue;
    seen.add(template);
    for (const name of template.names) names.add(name);
    addNames(template.partials, find, names, levels - 1, seen);
  }
}
