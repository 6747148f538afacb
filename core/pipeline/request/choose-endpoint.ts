// Hot: runs for each target tried.
// Which of the provider's endpoints takes the call, and whether the client's dialect has to be translated by way of chat. Decided for each
// target by itself, so that a fallback may go from a provider that speaks the dialect to one that does not.

import { isObject, type ChatExtension, type EndpointName, type EndpointSpec, type Json, type JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../../dialect/context.js';
import { estimateTokens } from '../../dialect/messages/count-tokens.js';
import { messagesToChat } from '../../dialect/messages/request.js';
import { responsesToChat } from '../../dialect/responses/request.js';
import { responseIdOf, withReferences } from '../../dialect/responses/stored.js';
import { atOnce } from '../../errors/at-once.js';
import { fail } from '../../errors/gateway-error.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { EndpointEntry, TargetPlan } from '../../plan/plan.js';
import { parameterFault } from './parameter-fault.js';
import type { ParamNames, ProviderCall } from './provider-call.js';

/** The dialect that an answer in chat form is turned into. */
export type Translation = 'messages' | 'responses';

export interface EndpointChoice {
  readonly spec: EndpointSpec;
  /** Null: the client's own. */
  readonly body: JsonObject | null;
  /** The body that goes up is not the client's bytes. */
  readonly isRewritten: boolean;
  readonly translation: Translation | null;
  readonly ownAnswer: string | null;
}

/** What is known of the request while it is prepared; parsed when asked. */
export interface EndpointBody {
  readonly exchange: Exchange;
  readonly target: TargetPlan;
  readonly client: JsonObject;
  /** `client`, of which another body can be made. */
  readonly exact: JsonObject;
  readonly call: ProviderCall;
}

/** What the client wrote, by what became of it. */
const messagesNames: ParamNames = new Map([
  ['reasoning_effort', 'output_config.effort'], ['response_format', 'output_config.format'], ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ['user', 'metadata.user_id'], ['stop', 'stop_sequences'], ['max_completion_tokens', 'max_tokens'], ['tools.function', 'tools'], ['messages.content_blocks', 'messages.content'],
]);
const responsesNames: ParamNames = new Map([
  ['reasoning_effort', 'reasoning.effort'], ['response_format', 'text.format'], ['verbosity', 'text.verbosity'], ['max_completion_tokens', 'max_output_tokens'],
  ['logprobs', 'include'], ['tools.function', 'tools'], ['messages.content.image_url', 'input.content'], ['messages.content_blocks', 'input.content'], ['messages.name', 'input.name'],
]);

const nothingAccepted: ReadonlySet<ChatExtension> = new Set();
const accepted = new WeakMap<EndpointSpec, ReadonlySet<ChatExtension>>();
const noSpec: EndpointSpec = Object.freeze({ path: '' });

/** Throws ENDPOINT_UNSUPPORTED, or what the translation refuses. */
export function chooseEndpoint(draft: EndpointBody): EndpointChoice {
  const { route } = draft.exchange;
  const spec = specOf(draft, route.name);
  if (spec !== null) {
    if (spec.from === 'chat') return viaChat(draft, spec, null);
    if (route.name === 'responses' && (draft.exchange.history !== null || draft.exchange.references !== null)) return withHistory(draft, spec);
    return { spec, body: null, isRewritten: spec.request !== undefined, translation: null, ownAnswer: null };
  }
  if (route.name === 'messages' || (route.name === 'responses' && route.body === 'json')) {
    const chat = specOf(draft, 'chatCompletions');
    if (chat !== null) return viaChat(draft, chat, route.name);
  }
  if (route.name === 'countTokens' && draft.target.provider.endpoints.has('chatCompletions')) {
    draft.call.report('exact count');
    return { spec: noSpec, body: {}, isRewritten: true, translation: null, ownAnswer: JSON.stringify({ input_tokens: estimateTokens(draft.client) }) };
  }
  throw unsupported(draft);
}

function specOf(draft: EndpointBody, endpoint: EndpointName): EndpointSpec | null {
  const entry: EndpointEntry | undefined = draft.target.provider.endpoints.get(endpoint);
  if (entry === undefined) return null;
  if (typeof entry !== 'function') return entry;
  const chosen = chosenBy(entry, draft);
  if (chosen === undefined) return null;
  return typeof chosen === 'string' ? { path: chosen } : chosen;
}

function chosenBy(entry: Exclude<EndpointEntry, EndpointSpec>, draft: EndpointBody): EndpointSpec | string | undefined {
  const { target, call } = draft;
  try {
    const chosen = atOnce(entry(call));
    if (chosen !== undefined && typeof chosen !== 'string' && typeof chosen?.path !== 'string') throw new TypeError('gave no endpoint');
    return chosen;
  } catch (thrown) {
    throw parameterFault(thrown, target) ?? fail('PLUGIN_FAILED', { plugin: `provider/${target.provider.id}`, reason: 'its endpoint function failed' }, thrown);
  }
}

function viaChat(draft: EndpointBody, spec: EndpointSpec, translation: Translation | null): EndpointChoice {
  const { call, exchange } = draft;
  const context: TranslateContext = {
    accepts: acceptedBy(spec),
    refuse: (param, reason) => call.refuse(param, reason),
    omit: (param, reason) => call.omit(param, reason),
    report: (param) => call.report(param),
  };
  const body = exchange.route.dialect === 'responses'
    ? responsesToChat(responsesBody(draft), exchange.history ?? [], foreignHistoryRefused(draft, context))
    : messagesToChat(draft.exact, context);
  // Until here the names were the client's; the provider speaks of its chat body.
  call.names = exchange.route.dialect === 'responses' ? responsesNames : messagesNames;
  if (translation !== null) {
    call.endpoint = 'chatCompletions';
    call.isStrict = false;
  }
  call.take(body);
  return { spec, body, isRewritten: true, translation, ownAnswer: null };
}

function responsesBody(draft: EndpointBody): JsonObject {
  const input = inputOf(draft);
  return input === undefined || input === draft.exact.input ? draft.exact : { ...draft.exact, input };
}

/** A response that this gateway keeps none of cannot be gone on from at a provider without the API. */
function foreignHistoryRefused(draft: EndpointBody, context: TranslateContext): TranslateContext {
  const { previous_response_id: previous } = draft.client;
  if (typeof previous === 'string' && draft.exchange.history === null) {
    return context.refuse('previous_response_id', `no stored response ${previous.slice(0, 100)}; it was made elsewhere, was not stored, or is too old`);
  }
  return context;
}

/** The provider keeps responses of its own, but this conversation began at another one: it gets the whole of it. */
function withHistory(draft: EndpointBody, spec: EndpointSpec): EndpointChoice {
  const { history } = draft.exchange;
  const { previous_response_id: previous, ...rest } = draft.exact;
  const input = inputOf(draft);
  const items: readonly Json[] = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : Array.isArray(input) ? input : [];
  const body: JsonObject = {
    ...rest,
    ...(history === null && previous !== undefined ? { previous_response_id: previous } : {}),
    input: [...(history ?? []), ...items].filter((item) => !isOwnReasoning(item)).map(withoutOwnId),
  };
  return { spec, body, isRewritten: true, translation: null, ownAnswer: null };
}

/** The client's input, with what is kept here in the place of what only names it. */
function inputOf(draft: EndpointBody): Json | undefined {
  const { references } = draft.exchange;
  return references === null ? draft.exact.input : withReferences(draft.exact.input, references);
}

/** Our ids are known here alone. */
function withoutOwnId(item: Json): Json {
  if (!isObject(item) || item.type === 'item_reference' || !isOwnItem(item)) return item;
  const { id: _, status: __, ...rest } = item;
  return rest;
}

const isOwnItem = (item: JsonObject): boolean => typeof item.id === 'string' && responseIdOf(item.id) !== undefined;
/** Made here out of another provider's thinking: nobody else can read it. */
const isOwnReasoning = (item: Json): boolean => isObject(item) && item.type === 'reasoning' && isOwnItem(item);

function acceptedBy(spec: EndpointSpec): ReadonlySet<ChatExtension> {
  if (spec.accepts === undefined) return nothingAccepted;
  let set = accepted.get(spec);
  if (set === undefined) accepted.set(spec, set = new Set(spec.accepts));
  return set;
}

function unsupported(draft: EndpointBody): Error {
  const { exchange, target } = draft;
  return fail('ENDPOINT_UNSUPPORTED', { provider: target.provider.id, endpoint: exchange.route.name, path: exchange.head.path.slice(3), param: 'provider' });
}
