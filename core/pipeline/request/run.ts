// Hot: runs for each call.
// The life of a call, in order: identity, routing, body, checks, attempts, answer, log. The file to read first; README.md tells the same
// story with links. Every exchange ends in finish(), however it ends.

import { isCachedAnswer } from '@gateway/plugin-sdk';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/scopes.js';
import { parseJsonObject } from '../../body/parse.js';
import { multipartBoundary } from '../../body/multipart.js';
import { refuseTwoReadings } from '../../body/one-reading.js';
import { fail, reasonOf, type GatewayError } from '../../errors/gateway-error.js';
import type { BodyFault, EndpointDefinition, PromptAction } from '../../exchange/endpoint.js';
import type { Exchange, Running } from '../../exchange/exchange.js';
import type { Usage } from '../../exchange/usage.js';
import type { AwaitsModel, Plan } from '../../plan/plan.js';
import { timerMsMax } from '../../settings/timer-limit.js';
import { PromptResponder } from '../response/prompt-responder.js';
import { abortResponse, noteClientGone, sendError, sendResponse } from '../response/client-response.js';
import { asGatewayError, RetryLoop, type CallEnd } from '../routing/retry-loop.js';
import { govern } from './govern.js';
import { keepBodies } from './keep-bodies.js';
import { takeModelSlug } from './model-slug.js';
import { becomeCompletion, renderedPrompt, variablesMissing } from './prompt-call.js';
import { isUnsupportedMode } from './provider-call.js';
import type { PipelineServices } from '../services.js';
import { sendSoftDenial, type AnswerOf } from '../response/soft-denial.js';
import { answerContext, answerStored, loadStored, ownIdIn, usesStored } from './stored-responses.js';

interface NamedPrompt {
  readonly action: PromptAction;
  readonly id: string;
}

export class Pipeline implements CallEnd {
  /** Exchanges that have not ended. */
  open = 0;
  /** Told when the last of those is settled that ended but for hooks that nobody waits for; for shutdown. */
  onSettled: (() => void) | null = null;
  /** Settles each of them. */
  readonly #inBackground = new Set<() => void>();

  constructor(readonly services: PipelineServices) {}

  handle(exchange: Exchange): void {
    this.#start(exchange, null);
  }

  /** A call whose body is made of a stored prompt: when it is there, the call goes on as the completion that it asks for. */
  handlePrompt(exchange: Exchange, action: PromptAction, id: string): void {
    this.#start(exchange, { action, id });
  }

  #start(exchange: Exchange, prompt: NamedPrompt | null): void {
    this.open += 1;
    try {
      if (this.open > this.services.settings.requestsMax) throw fail('OVERLOADED', { maximum: this.services.settings.requestsMax });
      // From here on no key of ours is left in the head: none can travel upstream.
      const principal = this.services.authenticator.authenticate(exchange.head);
      if (principal === null) this.#verify(exchange, prompt);
      else if (prompt === null) this.#admit(exchange, principal);
      else this.#admitPrompt(exchange, principal, prompt);
    } catch (thrown) {
      this.refuse(exchange, asGatewayError(thrown), 0);
    }
  }

  /** A token that this thread sees for the first time. */
  #verify(exchange: Exchange, prompt: NamedPrompt | null): void {
    const { authenticator } = this.services;
    authenticator.verify(exchange.head, exchange.responder.clientAddress?.() ?? '').then(
      () => {
        if (exchange.isFinished || exchange.isRefused) return;
        const principal = authenticator.authenticate(exchange.head);
        if (principal === null) throw fail('TOKENS_UNVERIFIABLE', { reason: 'too many new ones have come' });
        if (prompt === null) this.#admit(exchange, principal);
        else this.#admitPrompt(exchange, principal, prompt);
      },
    ).catch((thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0))
      .catch((thrown: unknown) => this.breakOff(exchange, thrown));
  }

  #admit(exchange: Exchange, principal: Principal): void {
    this.#identify(exchange, principal);
    if (exchange.route.dialect.keepsAnswers && this.#ownResponse(exchange)) return;
    const plan = this.services.plans.find(exchange);
    if (plan instanceof Promise) {
      plan.then((compiled) => this.#route(exchange, compiled), (thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0))
        .catch((thrown: unknown) => this.breakOff(exchange, thrown));
    } else {
      this.#route(exchange, plan);
    }
  }

  #admitPrompt(exchange: Exchange, principal: Principal, { action, id }: NamedPrompt): void {
    const { provider, virtualKey } = exchange.head;
    const isRouted = provider !== undefined || virtualKey !== undefined;
    this.#identify(exchange, principal);
    if (!exchange.head.hasBody) throw variablesMissing();
    exchange.clientBody.collect((bytes) => this.#onPromptBody(exchange, action, id, isRouted, bytes), (fault) => this.refuse(exchange, fault, 0));
  }

  #onPromptBody(exchange: Exchange, action: PromptAction, id: string, isRouted: boolean, bytes: Uint8Array): void {
    if (exchange.isFinished || exchange.isRefused) return;
    exchange.bytes = bytes;
    exchange.requestBytes = bytes.length;
    try {
      const { view } = this.services.rows;
      const rendered = renderedPrompt(exchange, id, view);
      if (action.isRender) {
        sendResponse(exchange, 200, 0, null, 'application/json', `{"success":true,"data":${rendered.text}}`);
        // No model was called: nothing for the log of calls.
        this.#finishUnrecorded(exchange);
        return;
      }
      exchange.responder = new PromptResponder(exchange.responder, this.services.settings.collectedBytesMax);
      becomeCompletion(exchange, action, rendered, isRouted, view);
      this.#routeAgain(exchange);
    } catch (thrown) {
      this.refuse(exchange, asGatewayError(thrown), 0);
    }
  }

  /** The client left: stop everything on its behalf. */
  onClientGone(exchange: Exchange): void {
    if (exchange.isFinished) return;
    // Others read the same answer: it goes on until the last of them has left.
    if (exchange.leaveShared !== null) exchange.leaveShared();
    else this.abandon(exchange);
  }

  abandon(exchange: Exchange): void {
    if (exchange.isFinished) return;
    exchange.ending = 'client';
    noteClientGone(exchange);
    exchange.running?.cancel();
    this.finish(exchange);
  }

  #identify(exchange: Exchange, principal: Principal): void {
    const { head } = exchange;
    exchange.principal = principal;
    if (principal.workspace === null) throw fail('KEY_WITHOUT_WORKSPACE');
    requireScope(principal, exchange.route);
    if (this.services.headerMetadata !== null) this.services.headerMetadata.addTo(exchange);
    if (principal.defaults !== null || principal.workspace.rules !== null) govern(exchange, principal.defaults, principal.workspace.rules);
    if ((principal.workspace.bodies !== null || head.gatewayHeaders.length > 0) && this.services.keptRoom !== null) keepBodies(exchange, principal.workspace.bodies, this.services.keptRoom);
    // Read now, so that what is wrong with it is told before anything else is done.
    if (head.metadata !== undefined) void exchange.metadata;
    const { workspace } = principal;
    if (principal.limits !== null || workspace.limits !== null || workspace.policies !== null) exchange.hold = this.services.gate.open(exchange, principal);
    if (head.requestTimeout !== undefined && (!/^[1-9]\d{0,9}$/.test(head.requestTimeout) || Number(head.requestTimeout) > timerMsMax)) {
      throw fail('HEADER_INVALID', { name: 'x-gateway-request-timeout', reason: `must be a whole number of milliseconds from 1 to ${timerMsMax}`, param: 'x-gateway-request-timeout' });
    }
    if (head.unsupportedParams !== undefined && !isUnsupportedMode(head.unsupportedParams)) {
      throw fail('HEADER_INVALID', { name: 'x-gateway-unsupported-params', reason: 'must be refuse or omit', param: 'x-gateway-unsupported-params' });
    }
    if (head.forwardHeaders !== undefined && /(^|,)\s*x-gateway-/i.test(head.forwardHeaders)) {
      throw fail('HEADER_INVALID', { name: 'x-gateway-forward-headers', reason: 'gateway headers are never forwarded; name others', param: 'x-gateway-forward-headers' });
    }
  }

  /** A response that was kept here needs no provider and no routing. False: it is a provider's. */
  #ownResponse(exchange: Exchange): boolean {
    const id = ownIdIn(exchange.suffix);
    if (id === undefined) return false;
    answerStored(id, exchange, this.services.responses).then(
      (body) => this.#sendOwn(exchange, JSON.stringify(body)),
      (thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0),
    ).catch((thrown: unknown) => this.breakOff(exchange, thrown));
    return true;
  }

  /** What needs no provider: a response that was kept, the list of models. */
  #sendOwn(exchange: Exchange, body: string | Uint8Array): void {
    if (exchange.isFinished) return;
    exchange.clientBody.discard();
    sendResponse(exchange, 200, 0, null, 'application/json', body);
    this.finish(exchange);
  }

  #route(exchange: Exchange, plan: Plan): void {
    if (exchange.isFinished || exchange.isRefused) return;
    try {
      const { head, route } = exchange;
      if (plan.awaitsModel !== null) {
        this.#awaitModel(exchange, plan.awaitsModel);
        return;
      }
      exchange.storedConfig = plan.config;
      const attempts = new RetryLoop(exchange, plan, this.services, this);
      exchange.running = attempts;
      if (route.isSingleTarget && plan.targetCount > 1) throw fail('TARGETS_TOO_MANY', { endpoint: route.name, param: 'targets' });
      if (route.body === 'multipart') this.#checkMultipart(exchange);
      if (!head.hasBody) {
        this.#check(exchange, plan);
        attempts.begin(null);
      } else if (plan.needsBytes || plan.canRepeat || route.body === 'json' || (plan.sources !== null && route.body === 'multipart') || (exchange.hold !== null && exchange.hold.readsBody)) {
        exchange.clientBody.collect((bytes) => this.#onBody(exchange, attempts, bytes), (fault) => this.refuse(exchange, fault, 0));
      } else {
        attempts.begin(exchange.clientBody.stream());
      }
    } catch (thrown) {
      this.refuse(exchange, asGatewayError(thrown), 0);
    }
  }

  #onBody(exchange: Exchange, attempts: RetryLoop, bytes: Uint8Array): void {
    if (exchange.isFinished || exchange.isRefused) return;
    exchange.bytes = bytes;
    exchange.requestBytes = bytes.length;
    try {
      if (!this.#check(exchange, attempts.plan)) {
        // The model says that another provider is meant.
        exchange.running = null;
        attempts.close();
        this.#routeAgain(exchange);
        return;
      }
      if (exchange.route.dialect.keepsAnswers && usesStored(exchange.json())) {
        loadStored(exchange, this.services.responses).then(
          () => this.#begin(exchange, attempts),
          (thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0),
        ).catch((thrown: unknown) => this.breakOff(exchange, thrown));
      } else {
        this.#begin(exchange, attempts);
      }
    } catch (thrown) {
      this.refuse(exchange, asGatewayError(thrown), 0);
    }
  }

  #begin(exchange: Exchange, attempts: RetryLoop): void {
    if (exchange.isFinished || exchange.isRefused) return;
    try {
      attempts.begin(null);
    } catch (thrown) {
      this.refuse(exchange, asGatewayError(thrown), 0);
    }
  }

  /** No header and no default says which provider is meant: the body has to. */
  #awaitModel(exchange: Exchange, awaited: AwaitsModel): void {
    const missing = (): Error => (awaited.param === null ? fail('ROUTING_MISSING') : fail('ROUTING_MISSING', { param: awaited.param }));
    if (exchange.route.name === 'models' && awaited.param === null) {
      this.services.listModels(exchange).then(
        (body) => this.#sendOwn(exchange, body),
        (thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0),
      ).catch((thrown: unknown) => this.breakOff(exchange, thrown));
      return;
    }
    if (!exchange.head.hasBody) throw missing();
    exchange.clientBody.collect((bytes) => {
      if (exchange.isFinished || exchange.isRefused) return;
      exchange.bytes = bytes;
      exchange.requestBytes = bytes.length;
      try {
        if (!takeModelSlug(exchange, this.services.rows.view)) throw missing();
        this.#routeAgain(exchange);
      } catch (thrown) {
        this.refuse(exchange, asGatewayError(thrown), 0);
      }
    }, (fault) => this.refuse(exchange, fault, 0));
  }

  /** The body is there, and the head says now where it goes. */
  #routeAgain(exchange: Exchange): void {
    const go = (plan: Plan): void => {
      if (exchange.isFinished || exchange.isRefused) return;
      try {
        if (plan.awaitsModel !== null) throw fail('ROUTING_MISSING');
        exchange.storedConfig = plan.config;
        const attempts = new RetryLoop(exchange, plan, this.services, this);
        exchange.running = attempts;
        if (exchange.route.isSingleTarget && plan.targetCount > 1) throw fail('TARGETS_TOO_MANY', { endpoint: exchange.route.name, param: 'targets' });
        if (exchange.route.body === 'multipart') this.#checkMultipart(exchange);
        this.#onBody(exchange, attempts, exchange.bytes);
      } catch (thrown) {
        this.refuse(exchange, asGatewayError(thrown), 0);
      }
    };
    const plan = this.services.plans.find(exchange);
    if (plan instanceof Promise) plan.then(go, (thrown: unknown) => this.refuse(exchange, asGatewayError(thrown), 0)).catch((thrown: unknown) => this.breakOff(exchange, thrown));
    else go(plan);
  }

  /** The fields and limits of a unified route. The body is parsed here and nowhere else. False: its model names another provider, which the head tells of now. */
  #check(exchange: Exchange, plan: Plan): boolean {
    const { route, head } = exchange;
    if (route.body !== 'json') return route.body !== 'multipart' || plan.sources === null || !takeModelSlug(exchange, this.services.rows.view);
    if (exchange.bytes.length === 0) throw fail('BODY_NOT_JSON', { reason: 'it is empty', param: 'body' });
    if (!exchange.isJson) throw fail('CONTENT_TYPE_INVALID', { expected: 'application/json', param: 'content-type' });
    const body = parseJsonObject(exchange.bytes);
    exchange.parsed = body;
    if (typeof body.model === 'string' && body.model.charCodeAt(0) === 0x40 /* @ */ && takeModelSlug(exchange, this.services.rows.view)) return false;
    if (plan.judgesRequest) exchange.hasLongNumbers = refuseTwoReadings(exchange.bytes);
    const fault = route.validate === null ? undefined : faultOf(route.validate, body, plan.root);
    if (fault !== undefined) throw fail('BODY_INVALID', { param: fault.param, reason: fault.reason });
    // By header or on every target: a target that hides thinking would drop what the client asked for.
    if (body.thinking !== undefined && route.name === 'chatCompletions' && head.strict !== 'false' && !isEveryTargetLoose(plan.root)) {
      throw fail('BODY_INVALID', { param: 'thinking', reason: 'requires strict_reference_compliance false, in the config or as x-gateway-strict-reference-compliance: false' });
    }
    return true;
  }

  #checkMultipart(exchange: Exchange): void {
    if (multipartBoundary(exchange.head.contentType) === undefined) {
      throw fail('CONTENT_TYPE_INVALID', { expected: 'multipart/form-data with a boundary', param: 'content-type' });
    }
  }

  // ---- the ends ----

  /** After an unexpected error: the call is answered with an error where it can be, else cut, so that it does not look whole. */
  breakOff(exchange: Exchange, thrown: unknown): void {
    if (exchange.isFinished) {
      this.#logThrown(exchange, thrown);
      return;
    }
    const error = asGatewayError(thrown);
    try {
      if (!exchange.isRefused && !exchange.responder.isStarted) {
        this.refuse(exchange, error, 0);
        return;
      }
      this.#logThrown(exchange, thrown);
      exchange.ending = 'gateway';
      exchange.errorCode = error.code;
      exchange.running?.cancel();
    } catch (again) {
      this.#logThrown(exchange, again);
    }
    abortResponse(exchange);
    this.finish(exchange);
  }

  #logThrown(exchange: Exchange, thrown: unknown): void {
    this.services.metrics.add('calls.thrown', 1);
    this.services.logger.error('a call was broken off by an unexpected error', { request: exchange.id, cause: thrown instanceof Error ? thrown.stack : String(thrown) });
  }

  refuse(exchange: Exchange, error: GatewayError, retryCount: number): void {
    if (exchange.isFinished || exchange.isRefused) return;
    exchange.isRefused = true;
    exchange.errorCode = error.code;
    exchange.ending = error.source === 'client' ? 'complete' : error.source === 'upstream' ? 'upstream' : 'gateway';
    exchange.running?.cancel();
    this.services.metrics.add(`refused.${error.code}`, 1);
    // Overload comes in floods and says all in its counter; a fault of ours or of a plugin is worth a line each.
    if (error.status === 500) {
      this.services.logger.error(error.message, { code: error.code, request: exchange.id, cause: error.cause instanceof Error ? error.cause.stack : undefined });
    }
    exchange.clientBody.discard();
    try {
      if (exchange.isFinished) return;
      if (error.code !== 'HOOKS_FAILED' || !sendSoftDenial(exchange, retryCount, this.#answerOf(exchange))) sendError(exchange, error, retryCount, null);
      this.finish(exchange);
    } catch (thrown) {
      this.breakOff(exchange, thrown);
    }
  }

  /** A completion of the gateway's own, as an answer in the dialect of the client; null: there is no way. Nobody reads it again. */
  #answerOf(exchange: Exchange): AnswerOf {
    return (completion, dialect) => {
      if (dialect.endpoint === 'chatCompletions') return completion;
      return dialect.translation?.answer(completion, { ...answerContext(exchange, typeof completion.model === 'string' ? completion.model : '', this.services.responses), isStored: false }) ?? null;
    };
  }

  finish(exchange: Exchange): void {
    if (exchange.isFinished) return;
    exchange.isFinished = true;
    exchange.abortPlugins();
    const { running } = exchange;
    exchange.running = null;
    const usage = this.#usageOf(exchange, running);
    this.open -= 1;
    const { hooks, hold } = exchange;
    const pricing = hold === null ? null : hold.loadPrice(usage);
    if (hold !== null && pricing === null) hold.settle(usage, isCachedAnswer(exchange.cacheStatus));
    if (pricing !== null) this.#settleLater(exchange, running, usage, hooks === null ? [pricing] : [...hooks.pending, pricing]);
    else if (hooks === null || hooks.pending.length === 0) this.#settle(exchange, running, usage);
    else this.#settleLater(exchange, running, usage, hooks.pending);
  }

  #finishUnrecorded(exchange: Exchange): void {
    if (exchange.isFinished) return;
    exchange.isFinished = true;
    exchange.abortPlugins();
    this.open -= 1;
    exchange.clientBody.letGo();
    if (exchange.kept !== null) exchange.kept.release();
  }

  /** Every exchange that ended has its record. */
  get isSettled(): boolean {
    return this.#inBackground.size === 0;
  }

  /** Hooks in the background are waited for no longer: their calls are recorded with what has been said. */
  settleAll(): void {
    for (const settle of this.#inBackground) settle();
  }

  #usageOf(exchange: Exchange, running: Running | null): Usage | null {
    if (running === null || (this.services.record === null && exchange.hold === null)) return null;
    try {
      return running.usage();
    } catch (thrown) {
      this.#logThrown(exchange, thrown);
      return null;
    }
  }

  #settle(exchange: Exchange, running: Running | null, usage: Usage | null): void {
    if (exchange.hold !== null) exchange.hold.settle(usage, isCachedAnswer(exchange.cacheStatus));
    exchange.clientBody.letGo();
    const { record } = this.services;
    if (record !== null) record(exchange, usage, null);
    if (exchange.kept !== null) exchange.kept.release();
    if (running !== null) running.close();
  }

  /** Hooks in the background: their results belong into the record, and the plan has to stay until they are done. */
  #settleLater(exchange: Exchange, running: Running | null, usage: Usage | null, pending: readonly Promise<void>[]): void {
    const settle = (): void => {
      if (!this.#inBackground.delete(settle)) return;
      try {
        this.#settle(exchange, running, usage);
      } catch (thrown) {
        this.services.logger.error('an exchange could not be settled', { request: exchange.id, reason: reasonOf(thrown) });
      }
      if (this.isSettled && this.onSettled !== null) this.onSettled();
    };
    this.#inBackground.add(settle);
    Promise.allSettled(pending).then(settle, settle);
  }
}

/** A member that the client left out and every target fills in is not an error. */
function faultOf(validate: NonNullable<EndpointDefinition['validate']>, body: Readonly<Record<string, unknown>>, root: Plan['root']): BodyFault | undefined {
  let fault = validate(body);
  for (let given = body; fault !== undefined && given[fault.param] === undefined;) {
    const value = filledIn(root, fault.param);
    if (value === undefined) return fault;
    given = { ...given, [fault.param]: value };
    fault = validate(given);
  }
  return fault;
}

/** The value that default_params or override_params of every target set for a member; undefined when one of them sets nothing. */
function filledIn(node: Plan['root'], name: string): unknown {
  if (node.kind === 'target') return node.fills.get(name);
  let value: unknown;
  for (const child of node.children) {
    value = filledIn(child, name);
    if (value === undefined) return undefined;
  }
  return value;
}

const isEveryTargetLoose = (node: Plan['root']): boolean =>
  node.kind === 'target' ? !node.isStrict : node.children.every((child) => isEveryTargetLoose(child));
