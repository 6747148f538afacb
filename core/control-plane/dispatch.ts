// The life of a control call: route, scope, input, handler, commit, reply, in this order. The caller was identified by the thread that took the call.

import { isDeepStrictEqual } from 'node:util';
import { parseJsonObject } from '../body/parse.js';
import { fail, isGatewayError, reasonOf } from '../errors/gateway-error.js';
import { CommitConflict } from '../storage/change.js';
import { auditRecord } from './audit-record.js';
import { checkInput } from './check-input.js';
import { ControlContext, type Caller } from './context.js';
import type { CheckedInput, ControlCall, ControlReply } from './control-call.js';
import type { Reply, Resource } from './define-resource.js';
import { errorReply } from './envelope.js';
import { ControlRouter, type ControlRoute } from './router.js';
import type { ControlServices } from './services.js';

/** A row that others change faster than a handler runs is not changed by it. */
const triesMax = 20;

export class ControlPlane {
  readonly router: ControlRouter;

  constructor(readonly services: ControlServices, readonly resources: readonly Resource[]) {
    this.router = new ControlRouter(resources);
  }

  /** Never rejects. */
  async handle(call: ControlCall): Promise<ControlReply> {
    try {
      const { reply, version } = await this.#run(call);
      return { status: 200, headers: version === null ? [] : ['etag', etagOf(version)], body: JSON.stringify(reply) };
    } catch (thrown) {
      if (!isGatewayError(thrown)) this.services.onFault(call.id, thrown);
      const allowed = isGatewayError(thrown) && thrown.code === 'METHOD_NOT_ALLOWED' ? ['allow', this.router.methodsOf(call.path).join(', ')] : [];
      return { headers: allowed, ...errorReply(thrown) };
    }
  }

  async #run(call: ControlCall): Promise<{ readonly reply: Reply; readonly version: number | null }> {
    const route = this.#route(call);
    requireOneOf(route, call.caller);
    const input = inputOf(call, route);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const context = new ControlContext(call.caller, input.workspaceId, this.services.repository, this.services, this.services.now());
      // Named is looked at, whether the operation reads it or not: a locked key names its own.
      if (input.workspaceId !== undefined) await context.workspace();
      const reply = await route.operation.handle(context, input);
      const { subject } = context;
      if (call.ifMatch !== undefined) checkMatch(call.ifMatch, route, context);
      if (route.operation.action !== null) context.change.audit.push(auditRecord(call, route, context, input));
      try {
        await this.services.repository.commit(context.change);
        return { reply, version: subject === null ? null : subject.version + (context.change.rows.some(({ before }) => before === subject) ? 1 : 0) };
      } catch (thrown) {
        if (!(thrown instanceof CommitConflict)) throw isGatewayError(thrown) ? thrown : fail('STORAGE_REFUSED', { reason: reasonOf(thrown) }, thrown);
        if (thrown.kind === 'duplicate') throw fail('ROW_EXISTS', { kind: route.resource.kind, id: `with this ${thrown.index}`, param: thrown.index });
      }
    }
    throw fail('VERSION_STALE', { kind: route.resource.kind, id: Object.values(route.params)[0] ?? '' });
  }

  #route(call: ControlCall): ControlRoute {
    const route = this.router.find(call.method, call.path);
    if (route !== undefined) return route;
    const allowed = this.router.methodsOf(call.path);
    if (allowed.length > 0) throw fail('METHOD_NOT_ALLOWED', { method: call.method, allowed: allowed.join(', ') });
    throw fail('ROUTE_UNKNOWN', { method: call.method, path: call.path.slice(0, 200) });
  }
}

/** Weak validators say that two texts mean the same; versions are exact. */
export const etagOf = (version: number): string => `"${version}"`;

function checkMatch(ifMatch: string, route: ControlRoute, { subject }: ControlContext): void {
  if (subject === null) throw fail('HEADER_INVALID', { name: 'if-match', reason: 'this operation is about no single row; leave it out', param: 'if-match' });
  const wanted = ifMatch.split(',').map((each) => each.trim());
  if (wanted.includes('*') || wanted.includes(etagOf(subject.version))) return;
  throw fail('VERSION_STALE', { kind: route.resource.kind, id: subject.row.id });
}

function requireOneOf({ operation }: ControlRoute, caller: Caller): void {
  if (operation.scope === null || operation.scope.some((scope) => caller.scopes.includes(scope))) return;
  throw fail('SCOPE_MISSING', { scope: operation.scope.join(' or ') });
}

/** `workspace_id` counts in query and body of every operation; what the path says may be said again in the body. */
function inputOf(call: ControlCall, route: ControlRoute): CheckedInput {
  const { operation, params } = route;
  const query: Record<string, unknown> = queryOf(call.query);
  const body: Record<string, unknown> = call.body.length === 0 ? {} : { ...parseJsonObject(call.body) };
  const workspaceId = shared('workspace_id', query, body);
  const organisationId = shared('organisation_id', query, body);
  if (organisationId !== undefined && organisationId !== call.caller.organisationId) throw fail('WORKSPACE_FOREIGN', { kind: 'organisation', id: organisationId.slice(0, 64), param: 'organisation_id' });
  dropRepeated(params, body, operation.body);
  return { params, query: checkInput(operation.query, query, 'query'), body: checkInput(operation.body, body, 'body'), workspaceId };
}

function queryOf(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(query, name)) throw fail('FIELD_INVALID', { param: name.slice(0, 64), reason: 'is given more than once in the query' });
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
  for (const name of [...pathNames, ...Object.keys(params)]) {
    if (body[name] === undefined || known.includes(name) || values.length === 0) continue;
    if (!values.some((value) => isDeepStrictEqual(value, body[name]))) throw fail('FIELD_INVALID', { param: name, reason: 'is not what the path says' });
    delete body[name];
  }
}
