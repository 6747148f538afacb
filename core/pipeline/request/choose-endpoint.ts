// Hot: runs for each target tried.
// Which of the provider's endpoints takes the call, and whether the client's dialect has to be translated by way of chat. Decided for each
// target by itself, so that a fallback may go from a provider that speaks the dialect to one that does not.

import type { ChatExtension, EndpointName, EndpointSpec, JsonObject } from '@gateway/plugin-sdk';
import type { TranslateContext } from '../../dialect/context.js';
import type { Translation } from '../../dialect/dialect.js';
import { dialects } from '../../dialect/dialects.js';
import { atOnce } from '../../errors/at-once.js';
import { fail } from '../../errors/gateway-error.js';
import { answerDialect } from '../../exchange/endpoint.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { EndpointEntry, TargetPlan } from '../../plan/plan.js';
import { parameterFault } from './parameter-fault.js';
import type { ProviderCall } from './provider-call.js';

export interface EndpointChoice {
  readonly spec: EndpointSpec;
  /** Null: the client's own. */
  readonly body: JsonObject | null;
  /** The body that goes up is not the client's bytes. */
  readonly isRewritten: boolean;
  /** Turns the answer, which is a chat completion, into the client's dialect. */
  readonly translation: Translation | null;
  readonly ownAnswer: string | null;
}

/** The request while it is prepared; parsed when asked. */
export interface EndpointBody {
  readonly exchange: Exchange;
  readonly target: TargetPlan;
  readonly client: JsonObject;
  /** `client`, of which another body can be made. */
  readonly exact: JsonObject;
  readonly call: ProviderCall;
}

const nothingAccepted: ReadonlySet<ChatExtension> = new Set();
const accepted = new WeakMap<EndpointSpec, ReadonlySet<ChatExtension>>();
const noSpec: EndpointSpec = Object.freeze({ path: '' });
const pivot = dialects.chat.endpoint;

/** Throws ENDPOINT_UNSUPPORTED, or what the translation refuses. */
export function chooseEndpoint(draft: EndpointBody): EndpointChoice {
  const { exchange } = draft;
  const { route } = exchange;
  const { dialect } = route;
  const spec = specOf(draft, route.name);
  if (spec !== null) {
    if (spec.from === 'chat' && dialect.translation !== null) return viaChat(draft, spec, dialect.translation, false);
    const body = exchange.history === null && exchange.references === null ? null : dialect.withStored(draft.exact, exchange);
    return { spec, body, isRewritten: body !== null || spec.request !== undefined, translation: null, ownAnswer: null };
  }
  if (dialect.translation !== null && route.body === 'json' && answerDialect(route) !== null) {
    const chat = specOf(draft, pivot);
    if (chat !== null) return viaChat(draft, chat, dialect.translation, true);
  }
  if (route.name === 'countTokens' && dialect.countTokens !== null && draft.target.provider.endpoints.has(pivot)) {
    draft.call.report('exact count');
    return { spec: noSpec, body: {}, isRewritten: true, translation: null, ownAnswer: JSON.stringify(dialect.countTokens(draft.client)) };
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

/** `isWhole`: the provider has nothing but chat, and its answer is translated as well; else its functions make the endpoint's own answer. */
function viaChat(draft: EndpointBody, spec: EndpointSpec, translation: Translation, isWhole: boolean): EndpointChoice {
  const { call } = draft;
  const context: TranslateContext = {
    accepts: acceptedBy(spec),
    refuse: (param, reason) => call.refuse(param, reason),
    omit: (param, reason) => call.omit(param, reason),
    report: (param) => call.report(param),
  };
  const body = translation.request(draft.exact, context, draft.exchange);
  // Until here the names were the client's; the provider speaks of its chat body.
  call.names = translation.names;
  if (isWhole) {
    call.endpoint = pivot;
    call.isStrict = false;
  }
  call.take(body);
  return { spec, body, isRewritten: true, translation: isWhole ? translation : null, ownAnswer: null };
}

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
