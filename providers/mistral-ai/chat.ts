import {
  isObject, readMaxTokens, readThinking, readToolChoice, readTools,
  type FunctionTool, type Json, type JsonObject, type ProviderCall,
} from '@gateway/plugin-sdk';
import { writeMessages } from './chat-messages.js';

type Wire = Record<string, Json>;

/** Members of OpenAI's API that are written below, or that Mistral refuses to take. All others go up as they came. */
const translated: ReadonlySet<string> = new Set([
  'messages', 'max_completion_tokens', 'max_tokens', 'seed', 'tools', 'functions', 'tool_choice', 'function_call', 'thinking', 'reasoning_effort', 'prediction',
  'logprobs', 'top_logprobs', 'logit_bias', 'stream_options', 'user', 'service_tier', 'store', 'safety_identifier', 'verbosity', 'prompt_cache_retention',
  'modalities', 'audio', 'web_search_options',
]);

const isGiven = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** A chat completion as Mistral takes it: nearly the same, but unknown members are an error there. */
export function chatRequest(body: JsonObject, call: ProviderCall): Json {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(body)) {
    if (!translated.has(name) && value !== null) wire[name] = value;
  }
  wire.messages = writeMessages(body, call);
  const maxTokens = readMaxTokens(body);
  if (maxTokens !== undefined) wire.max_tokens = maxTokens;
  if (isGiven(body.seed)) wire.random_seed = body.seed;
  writeTools(body, wire, call);
  writeReasoning(body, wire, call);
  if (isGiven(body.prediction)) wire.prediction = prediction(body.prediction);
  dropHints(body, call);
  refuseRest(body, call);
  return wire;
}

/** Mistral's own tools (`web_search`, `code_interpreter` ...) go up as they came. */
function writeTools(body: JsonObject, wire: Wire, call: ProviderCall): void {
  const others: JsonObject[] = [];
  const functions = readTools(body, call, (tool, place) => {
    if (tool.type === 'custom') call.omit(place, 'Mistral knows no custom tools; describe it as a function');
    else others.push(tool);
  });
  if (functions.some((tool) => tool.cacheControl !== undefined)) call.report('cache_control');
  const choice = readToolChoice(body, call);
  let chosen: readonly FunctionTool[] = functions;
  if (choice !== undefined && functions.length + others.length > 0) {
    switch (choice.kind) {
      case 'auto': case 'none': wire.tool_choice = choice.kind; break;
      case 'required': wire.tool_choice = 'any'; break;
      case 'function': wire.tool_choice = { type: 'function', function: { name: choice.name } }; break;
      case 'allowed': {
        chosen = functions.filter((tool) => choice.names.includes(tool.name));
        if (chosen.length === 0) call.refuse('tool_choice', 'must allow at least one of the tools');
        others.length = 0;
        wire.tool_choice = choice.isRequired ? 'any' : 'auto';
      }
    }
  }
  const tools: Json[] = [...chosen.map(writeTool), ...others];
  if (tools.length > 0) wire.tools = tools;
  // Without tools it says nothing.
  else delete wire.parallel_tool_calls;
}

const writeTool = (tool: FunctionTool): Json => ({
  type: 'function',
  function: {
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(tool.strict === undefined ? {} : { strict: tool.strict }),
    parameters: tool.parameters,
  },
});

/** Mistral has degrees of effort, no budget. Magistral models always reason and take no word on it. */
function writeReasoning(body: JsonObject, wire: Wire, call: ProviderCall): void {
  const { type, budgetTokens, effort } = readThinking(body);
  if (budgetTokens !== undefined) call.report('thinking.budget_tokens');
  if (call.model.startsWith('magistral')) {
    if (type === 'disabled') call.report('thinking');
    if (effort !== undefined) call.report('reasoning_effort');
    return;
  }
  if (type === 'disabled') wire.reasoning_effort = 'none';
  else if (effort !== undefined) wire.reasoning_effort = effort;
  else if (type === 'enabled' || type === 'adaptive') wire.reasoning_effort = 'high';
}

/** Mistral takes the predicted text as one. */
function prediction(given: Json): Json {
  if (!isObject(given) || !Array.isArray(given.content)) return given;
  const texts = (given.content as readonly Json[]).map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : ''));
  return { ...given, content: texts.join('') };
}

function dropHints(body: JsonObject, call: ProviderCall): void {
  for (const name of ['user', 'safety_identifier', 'prompt_cache_retention']) {
    if (isGiven(body[name])) call.report(name);
  }
  if (body.store === true) call.report('store');
  if (isGiven(body.service_tier) && body.service_tier !== 'auto' && body.service_tier !== 'default') call.report('service_tier');
  if (isGiven(body.verbosity) && body.verbosity !== 'medium') call.report('verbosity');
}

function refuseRest(body: JsonObject, call: ProviderCall): void {
  if (body.logprobs === true) call.omit('logprobs', 'Mistral tells no log probabilities');
  if (isGiven(body.top_logprobs) && body.top_logprobs !== 0) call.omit('top_logprobs', 'Mistral tells no log probabilities');
  if (isObject(body.logit_bias) && Object.keys(body.logit_bias).length > 0) call.omit('logit_bias', 'Mistral has no bias for tokens');
  const modalities = Array.isArray(body.modalities) ? body.modalities as readonly Json[] : [];
  if (modalities.some((modality) => modality !== 'text')) call.omit('modalities', 'Mistral answers with text only');
  if (isGiven(body.audio)) call.omit('audio', 'Mistral answers with text only');
  if (isGiven(body.web_search_options)) call.report('web_search_options');
}
