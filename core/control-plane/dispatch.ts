// The life of a control call: route, scope, input, handler, commit, reply, in this order. The caller was identified by the thread that took the call.

import { isDeepStrictEqual } from 'node:util';
import { clientOf } from '../auth/client-of.js';
import { parseJsonObject, parseJsonObjects } from '../body/parse.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { Change, CommitConflict } from '../storage/change.js';
import { workspaces } from '../storage/tables/workspaces.js';
import { actingCaller } from './acting-caller.js';
import { auditRecord, type AuditedOutcome } from './audit-record.js';
import { checkInput } from './check-input.js';
import { ControlContext, nobody, scopeFault, type Caller } from './context.js';
import type { CheckedInput, ControlCall, ControlReply } from './control-call.js';
import { ControlGate } from './control-gate.js';
import { takesIdempotencyKey, type Reply, type Resource } from './define-resource.js';
import { errorReply } from './envelope.js';
import { KeptReplies, type KeptCall } from './kept-replies.js';
import { RefusalAllowance } from './refusal-allowance.js';
import { ControlRouter, type ControlRoute } from './router.js';
import type { ControlServices } from './services.js';
import { Turns } from './turns.js';

const repeatedHeader = 'x-gateway-idempotent-replay';
/** A row that others change faster than a handler runs is not changed by it. */
const triesMax = 20;

/** The call as far as it is known, for its audit entry. */
interface Progress {
  route: ControlRoute | undefined;
  body: unknown;
  workspaceId: string | undefined;
}

interface Outcome {
  readonly body: string;
  readonly version: number | null;
  readonly status: number;
  readonly headers: readonly string[];
  /** It is the reply of the same call before. */
  readonly isRepeated: boolean;
}

interface Written {
  readonly outcome: Outcome;
  /** Of the commit; null: nothing changed. */
  readonly sequence: number | null;
  /** What the handler left to be done then. */
  readonly afterCommit: ControlContext['afterCommit'];
}

export class ControlPlane {
  readonly router: ControlRouter;
  readonly #kept: KeptReplies;
  readonly #refusals = new RefusalAllowance();
  readonly #turns = new Turns();

  constructor(readonly services: ControlServices, readonly resources: readonly Resource[], readonly gate = new ControlGate()) {
    this.router = new ControlRouter(resources);
    this.#kept = new KeptReplies(services);
  }

  /** Never rejects. */
  async handle(call: ControlCall): Promise<ControlReply> {
    const progress: Progress = { route: undefined, body: undefined, workspaceId: undefined };
    const gateKey = call.caller.keyId === '' ? clientOf(call.address) : call.caller.keyId;
    try {
      this.gate.enter(gateKey);
    } catch (thrown) {
      return { headers: ['retry-after', '1'], ...errorReply(thrown) };
    }
    try {
      const { status, body, version, isRepeated, headers: own } = await this.#run(call, progress);
      const headers = version === null ? [...own] : ['etag', etagOf(version), ...own];
      if (isRepeated) headers.push(repeatedHeader, 'true');
      return { status, headers, body };
    } catch (thrown) {
      if (!isGatewayError(thrown)) this.services.onFault(call.id, thrown);
      const reply = errorReply(thrown);
      await this.#recordUnchanged(call, progress, reply.status, {});
      const allowed = reply.status === 405 ? ['allow', this.router.methodsOf(call.path).join(', ')] : [];
      return { headers: allowed, ...reply };
    } finally {
      this.gate.leave(gateKey);
    }
  }

  async #run(given: ControlCall, progress: Progress): Promise<Outcome> {
    const route = this.#route(given);
    progress.route = route;
    const call: ControlCall = { ...given, caller: await this.#actingCaller(given, route) };
    if (!route.operation.isPublic) requireOneOf(route, call.caller);
    const input = inputOf(call, route, progress);
    // Nobody's replies are for nobody else.
    const kept = takesIdempotencyKey(route.operation) && call.caller.keyType !== 'none' ? this.#kept.callOf(call) : undefined;
    if (kept === undefined) return this.#perform(call, route, input, undefined);
    const outcome = await this.#kept.alone(kept, () => this.#perform(call, route, input, kept));
    if (outcome.isRepeated) await this.#recordUnchanged(call, progress, 200, { repeated: true });
    this.#kept.sweep(this.services.now()).catch((thrown: unknown) => this.services.onFault(call.id, thrown));
    return outcome;
  }

  /** Public operations stay available to a caller whose session has ended. */
  async #actingCaller(call: ControlCall, route: ControlRoute): Promise<Caller> {
    try {
      return await actingCaller(call, route, this.services.repository, this.services.now());
    } catch (thrown) {
      if (route.operation.isPublic && isGatewayError(thrown) && thrown.code === 'SESSION_INVALID') return nobody;
      throw thrown;
    }
  }

  /** Handler and commit, again when a row changed in between. */
  async #perform(call: ControlCall, route: ControlRoute, input: CheckedInput, kept: KeptCall | undefined): Promise<Outcome> {
    const endTurn = route.operation.action === null ? null : await this.#turns.take(route.operation.isAlone(input));
    let written: Written;
    try {
      written = await this.#write(call, route, input, kept);
    } finally {
      endTurn?.();
    }
    if (written.sequence !== null) await this.services.untilObeyed(written.sequence);
    for (const each of written.afterCommit) await each();
    return written.outcome;
  }

  async #write(call: ControlCall, route: ControlRoute, input: CheckedInput, kept: KeptCall | undefined): Promise<Written> {
    const { repository } = this.services;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const nowMs = this.services.now();
      const before = kept === undefined ? undefined : await this.#kept.find(kept, nowMs);
      const context = new ControlContext(call.caller, input.workspaceId, repository, this.services, nowMs, call);
      if (before !== undefined) {
        await requireStill(route, context, input);
        return { outcome: { ...before, status: 200, headers: [], isRepeated: true }, sequence: null, afterCommit: [] };
      }
      // Named is looked at, whether the operation reads it or not: a locked key names its own.
      const workspace = input.workspaceId === undefined ? undefined : await context.workspace();
      const reply = await handled(call, route, context, input);
      if (call.ifMatch !== undefined) checkMatch(call.ifMatch, route, context);
      const version = versionAfter(context);
      const { text, ...answer } = context.answer;
      const body = text ?? JSON.stringify(reply);
      const { change, afterCommit } = context;
      if (kept !== undefined) await this.#kept.keep(kept, { body, version }, change, nowMs);
      if (isRecorded(call) && !context.isUnrecorded) {
        const details = context.auditDetails;
        change.audit.push(auditRecord(context.actor === null ? call : { ...call, caller: context.actor }, { status: 200, nowMs, kind: route.resource.kind, action: route.operation.action, body: context.auditBody ?? input.body, workspaceId: workspace?.id, details }));
      }
      const outcome = { ...answer, body, version, isRepeated: false };
      if (change.isEmpty) return { outcome, sequence: null, afterCommit };
      try {
        return { outcome, sequence: await repository.commit(change), afterCommit };
      } catch (thrown) {
        if (!(thrown instanceof CommitConflict)) throw isGatewayError(thrown) ? thrown : fail('STORAGE_REFUSED', { reason: reasonOf(thrown) }, thrown);
        if (thrown.kind === 'duplicate') throw fail('ROW_EXISTS', { kind: route.resource.kind, id: `with this ${thrown.index}`, param: thrown.index });
      }
    }
    throw fail('VERSION_STALE', { kind: route.resource.kind, id: Object.values(route.params)[0] ?? '' });
  }

  /** The audit entry of a call that changed nothing: refused, or a repetition. Never rejects. */
  async #recordUnchanged(call: ControlCall, { route, body, workspaceId: named }: Progress, status: number, more: AuditedOutcome['details']): Promise<void> {
    // A storage that takes no writes takes none of these either.
    if (!isRecorded(call) || status === 503) return;
    const nowMs = this.services.now();
    const unrecorded = this.#refusals.take(call.caller.keyId, nowMs);
    if (unrecorded === undefined) return;
    const change = new Change();
    const details = unrecorded === 0 ? more : { ...more, unrecorded_before: unrecorded };
    try {
      const workspaceId = await this.#workspaceOf(call, named, nowMs);
      change.audit.push(auditRecord(call, { status, nowMs, kind: route?.resource.kind, action: route?.operation.action ?? null, body, workspaceId, details }));
      await this.services.repository.commit(change);
    } catch (thrown) {
      this.services.onFault(call.id, thrown);
    }
  }

  /** The id of the workspace that a call named; undefined: there is none. */
  async #workspaceOf({ caller }: ControlCall, named: string | undefined, nowMs: number): Promise<string | undefined> {
    if (named === undefined) return undefined;
    const { repository } = this.services;
    const row = (await new ControlContext(caller, undefined, repository, this.services, nowMs).byIdOrSlug(workspaces, named, [caller.organisationId]))?.row;
    return row?.organisationId === caller.organisationId ? row.id : undefined;
  }

  #route(call: ControlCall): ControlRoute {
    const route = this.router.find(call.method, call.path);
    if (route !== undefined) return route;
    const allowed = this.router.methodsOf(call.path);
    if (allowed.length > 0) throw fail('METHOD_NOT_ALLOWED', { method: call.method, allowed: allowed.join(', ') });
    throw fail('ROUTE_UNKNOWN', { method: call.method, path: call.path.slice(0, 200) });
  }
}

/** A kept reply may hold a secret, so a caller who lost the permission does not get it. Only the handler can tell: it runs again, and its changes are dropped. */
async function requireStill({ operation }: ControlRoute, context: ControlContext, input: CheckedInput): Promise<void> {
  try {
    if (input.workspaceId !== undefined) await context.workspace();
    await operation.handle(context, input);
  } catch (thrown) {
    // Other refusals are effects of the first call: its slug is taken, for example.
    if (isGatewayError(thrown) && thrown.status === 403) throw thrown;
  }
}

/** Weak validators say that two texts mean the same; versions are exact. */
const etagOf = (version: number): string => `"${version}"`;

/** Reading leaves no trace. */
const isRecorded = ({ method }: ControlCall): boolean => method === 'POST' || method === 'PUT' || method === 'DELETE';

/** Runs the handler. If it refuses the call and the `if-match` of the call is out of date, VERSION_STALE is thrown first. */
async function handled({ ifMatch }: ControlCall, route: ControlRoute, context: ControlContext, input: CheckedInput): Promise<Reply> {
  try {
    return await route.operation.handle(context, input);
  } catch (thrown) {
    if (ifMatch !== undefined && context.subject !== null && isGatewayError(thrown) && (thrown.status === 400 || thrown.status === 409)) checkMatch(ifMatch, route, context);
    throw thrown;
  }
}

const matchShape = /^(?:\*|(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*)$/;

function checkMatch(ifMatch: string, route: ControlRoute, { subject }: ControlContext): void {
  if (!matchShape.test(ifMatch.trim())) throw fail('HEADER_INVALID', { name: 'if-match', reason: 'must be an etag as it came, in quotes, or *', param: 'if-match' });
  if (subject === null) throw fail('HEADER_INVALID', { name: 'if-match', reason: 'this operation is about no single row; leave it out', param: 'if-match' });
  const wanted = ifMatch.split(',').map((each) => each.trim());
  if (wanted.includes('*') || wanted.includes(etagOf(subject.version))) return;
  throw fail('VERSION_STALE', { kind: route.resource.kind, id: subject.row.id });
}

/** Of the subject when the change is written; null: there is none, or it is gone. */
function versionAfter({ subject, change }: ControlContext): number | null {
  if (subject === null) return null;
  const own = change.rows.find(({ table, id }) => table.name === subject.table.name && id === subject.row.id);
  if (own === undefined) return subject.version;
  return own.after === null ? null : (own.before?.version ?? 0) + 1;
}

function requireOneOf({ operation }: ControlRoute, caller: Caller): void {
  if (caller.keyType === 'none') throw fail('KEY_MISSING');
  if (operation.scope === null || operation.scope.some((scope) => caller.scopes.includes(scope))) return;
  throw scopeFault(caller, ...operation.scope);
}

/** `workspace_id` may be in the query or the body of every operation; names in the path may be repeated in the body. */
function inputOf(call: ControlCall, route: ControlRoute, progress: Progress): CheckedInput {
  const { operation, params } = route;
  checkContent(call);
  const query: Record<string, unknown> = queryOf(call.query);
  const parsed = call.body.length === 0 ? {} : operation.listMax === 0 ? parseJsonObject(call.body) : parseJsonObjects(call.body);
  const list = listIn(parsed, operation.listMax);
  const bodies: readonly Record<string, unknown>[] = list === undefined ? [{ ...parsed }] : list.map((each) => ({ ...each }));
  progress.body = list ?? { ...parsed };
  const workspaceId = sharedByAll('workspace_id', query, bodies);
  progress.workspaceId = workspaceId;
  const organisationId = sharedByAll('organisation_id', query, bodies);
  if (organisationId !== undefined && organisationId !== call.caller.organisationId) throw fail('WORKSPACE_FOREIGN', { kind: 'organisation', id: organisationId.slice(0, 64), param: 'organisation_id' });
  for (const body of bodies) dropRepeated(params, body, operation.body);
  const checkedQuery = checkInput(operation.query, query, 'query');
  const checkedBodies = bodies.map((body, index) => checkInput(operation.body, body, 'body', list === undefined ? '' : String(index)));
  return { params, query: checkedQuery, body: checkedBodies[0] ?? {}, bodies: checkedBodies, workspaceId };
}

/** Undefined: it is one object. Throws BODY_INVALID, FIELD_INVALID. */
function listIn(parsed: Record<string, unknown> | readonly Record<string, unknown>[], listMax: number): readonly Record<string, unknown>[] | undefined {
  let list: readonly unknown[];
  if (Array.isArray(parsed)) {
    list = parsed;
  } else {
    const names = Object.keys(parsed);
    if (listMax === 0 || names.length === 0 || !names.every((name, index) => name === String(index))) return undefined;
    list = Object.values(parsed);
  }
  if (list.length === 0 || list.length > listMax) throw fail('FIELD_INVALID', { param: 'body', reason: `must be a list of 1 to ${listMax} items` });
  return list.map((each, index) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) throw fail('BODY_INVALID', { param: String(index), reason: 'must be a JSON object' });
    return Object(each);
  });
}

/** Of a list each item may say it, all of them the same. */
function sharedByAll(name: 'workspace_id' | 'organisation_id', query: Record<string, unknown>, bodies: readonly Record<string, unknown>[]): string | undefined {
  const given = { ...query };
  delete query[name];
  let value: string | undefined = undefined;
  for (const [index, body] of bodies.entries()) {
    const each = shared(name, { ...given }, body);
    if (index > 0 && each !== value) throw fail('FIELD_INVALID', { param: name, reason: 'is not the same in all items' });
    value = each;
  }
  return value;
}

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** A body without a type is taken for what bodies are here. */
function checkContent({ body, headers }: ControlCall): void {
  if (body.length === 0) return;
  for (let index = 0; index < headers.length; index += 2) {
    const value = headers[index + 1] ?? '';
    if (headers[index] === 'content-type' && !jsonType.test(value)) throw fail('CONTENT_TYPE_INVALID', { expected: 'application/json', param: 'content-type' });
    if (headers[index] === 'content-encoding' && value.toLowerCase() !== 'identity') throw fail('HEADER_INVALID', { name: 'content-encoding', reason: 'send the body as it is', param: 'content-encoding' });
  }
}

function queryOf(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(query, name)) throw fail('FIELD_INVALID', { param: name.slice(0, 64), reason: 'is given more than once in the query' });
    // To whoever copies members by assignment it would be a prototype; bodies with it are refused where they are parsed.
    if (name === '__proto__') throw fail('FIELD_INVALID', { param: name, reason: 'is not known here' });
    query[name] = value;
  }
  return query;
}

function shared(name: 'workspace_id' | 'organisation_id', query: Record<string, unknown>, body: Record<string, unknown>): string | undefined {
  const [inQuery, inBody] = [query[name], body[name]];
  delete query[name];
  delete body[name];
  if (inBody !== undefined && inBody !== null && typeof inBody !== 'string') throw fail('FIELD_INVALID', { param: name, reason: 'must be a string: an id or a slug' });
  if (typeof inQuery === 'string' && typeof inBody === 'string' && inQuery !== inBody) throw fail('FIELD_INVALID', { param: name, reason: 'is not the same in query and body' });
  const value = inBody ?? inQuery;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const pathNames: readonly string[] = ['id', 'slug', 'type', 'sub-type'];

/** Clients repeat in the body what names the row in the path. */
function dropRepeated(params: Readonly<Record<string, string>>, body: Record<string, unknown>, schema: unknown): void {
  const known = Object.keys(Object(Object(schema).properties));
  const values = Object.values(params);
  for (const name of [...pathNames, ...Object.keys(params).flatMap((each) => [each, each.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])]) {
    if (body[name] === undefined || known.includes(name) || values.length === 0) continue;
    if (!values.some((value) => isDeepStrictEqual(value, body[name]))) throw fail('FIELD_INVALID', { param: name, reason: 'is not what the path says' });
    delete body[name];
  }
}
