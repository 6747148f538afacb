// Every operation of the control plane over HTTP: its right call and those that must be refused. What each takes and answers stands in control/<resource>.cases.ts.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { takesIfMatch, type Operation } from '../../core/control-plane/define-resource.js';
import { resources } from '../../core/control-plane/resources/index.js';
import { isPublicControl } from '../../core/router/routes.js';
import { checkReply, openPlaces } from '../support/reply-schema.js';
import type { OperationCase, ResourceCases, StageReply, Target, Variant } from './control/cases.js';
import { startStage } from './control/stage.js';

const folder = new URL('./control/', import.meta.url);
const suffix = '.cases.js';
const files = readdirSync(folder).filter((file) => file.endsWith(suffix));
const cases: readonly ResourceCases[] = await Promise.all(files.map(async (file) => (await import(new URL(file, folder).href)).default));

/** What there has to be, by the reference of the control plane. */
const required: readonly string[] = `
  POST /api-keys/{type}/{sub-type}
  GET /api-keys
  GET PUT DELETE /api-keys/{id}
  POST /api-keys/{id}/rotate
  POST GET /admin/workspaces
  GET PUT DELETE /admin/workspaces/{workspaceId}
  POST GET /workspaces
  GET PUT DELETE /workspaces/{workspaceId}
  GET PUT /admin/organisation/defaults
  GET PUT /workspace-exclusions/input-guardrails
  GET PUT /workspace-exclusions/output-guardrails
  GET PUT /admin/organisation
  GET PUT /organisation/settings
  GET POST /integrations
  GET PUT DELETE /integrations/{slug}
  GET PUT DELETE /integrations/{slug}/models
  GET PUT DELETE /integrations/{slug}/integration-models
  GET PUT /integrations/{slug}/workspaces
  GET POST /providers
  GET PUT DELETE /providers/{slug}
  GET POST /virtual-keys
  GET PUT DELETE /virtual-keys/{slug}
  GET POST /configs
  GET PUT DELETE /configs/{slug}
  GET /configs/{slug}/versions
  GET POST /guardrails
  GET PUT DELETE /guardrails/{guardrailId}
  POST /guardrails/{guardrailId}/invoke
  GET /model-configs/pricing/{provider}/{model}
  GET /model-configs/general/{provider}/{model}
  GET POST /secret-references
  GET PUT DELETE /secret-references/{secretReferenceId}
  GET /audit-logs
  POST GET /admin/workspaces/{workspaceId}/users
  GET PUT DELETE /admin/workspaces/{workspaceId}/users/{userId}
  POST GET /workspaces/{workspaceId}/users
  GET PUT DELETE /workspaces/{workspaceId}/users/{userId}
  GET /admin/users
  GET PUT DELETE /admin/users/{userId}
  GET /users
  GET PUT DELETE /users/{userId}
  POST GET /admin/users/invites
  GET DELETE /admin/users/invites/{inviteId}
  POST /admin/users/invites/{inviteId}/resend
  POST /admin/users/invites/{inviteId}/accept
  POST GET /collections
  GET PUT DELETE /collections/{collectionId}
  POST GET /labels
  GET PUT DELETE /labels/{labelId}
  POST GET /prompts
  GET PUT DELETE /prompts/{promptId}
  GET /prompts/{promptId}/versions
  GET PUT /prompts/{promptId}/versions/{versionId}
  PUT /prompts/{promptId}/makeDefault
  POST GET /prompts/partials
  GET PUT DELETE /prompts/partials/{promptPartialId}
  GET /prompts/partials/{promptPartialId}/versions
  PUT /prompts/partials/{promptPartialId}/makeDefault
  POST GET /prompt-partials
  GET PUT DELETE /prompt-partials/{promptPartialId}
  GET /prompt-partials/{promptPartialId}/versions
  PUT /prompt-partials/{promptPartialId}/makeDefault
  GET POST /scim/workspaces
  DELETE /scim/workspaces/{scimWorkspaceGroupId}
  POST GET /policies/usage-limits
  GET PUT DELETE /policies/usage-limits/{policyUsageLimitsId}
  GET /policies/usage-limits/{policyUsageLimitsId}/entities
  PUT /policies/usage-limits/{policyUsageLimitsId}/entities/{entityId}/reset
  POST GET /policies/rate-limits
  GET PUT DELETE /policies/rate-limits/{rateLimitsPolicyId}
  GET /scim/Groups
  DELETE /scim/Groups/{id}
`.trim().split('\n').flatMap((line) => {
  const [path = '', ...methods] = line.trim().split(' ').reverse();
  return methods.reverse().map((method) => `${method} ${path}`);
});

interface Entry {
  readonly name: string;
  readonly operation: Operation;
  readonly entry: OperationCase;
}

const defined = resources.flatMap(({ name, operations }) => Object.entries(operations).map(([each, operation]) => ({ name: `${name}.${each}`, operation })));
const written: ReadonlyMap<string, OperationCase> = new Map(cases.flatMap(({ resource, operations }) => Object.entries(operations).map(([each, entry]) => [`${resource}.${each}`, entry] as const)));
const entries: readonly Entry[] = defined.flatMap(({ name, operation }) => {
  const entry = written.get(name);
  return entry === undefined ? [] : [{ name, operation, entry }];
});
const scopesOf = ({ operation, entry }: Entry): readonly string[] => operation.scope ?? entry.scopes ?? [];

const stage = await startStage(entries.flatMap((each) => (scopesOf(each).length === 0 ? [] : [{ who: each.entry.as ?? 'admin', scopes: scopesOf(each) }])));

const namesIn = (path: string): readonly string[] => [...path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => name);

function urlOf(path: string, { params = {}, query }: Target): string {
  const filled = path.replace(/\{([\w-]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? assert.fail(`the target has no ${name}`)));
  return `/v1${filled}${query === undefined ? '' : `?${query}`}`;
}

/** What the test found of each operation, printed when it is over. */
const table: Record<string, string[]> = {};

function isRefused(name: string, what: string, { status, body }: StageReply, wanted: number, code: string, param?: string | null): void {
  assert.deepEqual(
    [status, body.success, body.status, body.data?.errorCode, body.error?.code, typeof body.message, ...(param === undefined ? [] : [body.error?.param])],
    [wanted, false, 'failure', code, code, 'string', ...(param === undefined ? [] : [param])], `${name} ${what}: ${JSON.stringify(body)}`,
  );
  (table[name] ??= []).push(`${what} ${status}`);
}

/** Every answer, whatever it is about, has the shape that the operation says. */
const isShaped = (name: string, operation: Operation, reply: StageReply): StageReply => {
  checkReply(operation, reply.status, reply.body, name);
  return reply;
};

const withQuery = (target: Target, member: string): Target => ({ ...target, query: target.query === undefined || target.query === '' ? member : `${target.query}&${member}` });
const isNone = (variant: Variant | undefined): variant is { readonly none: string } => typeof variant === 'object';

describe('the operations of the control plane', () => {
  it('all have their cases, and no case is without its operation', () => {
    assert.deepEqual(defined.map(({ name }) => name).filter((name) => !written.has(name)), [], 'operations without a case');
    assert.deepEqual([...written.keys()].filter((name) => !defined.some((each) => each.name === name)), [], 'cases without an operation');
    for (const { name, operation, entry } of entries) {
      if (operation.body !== null || operation.query !== null) assert.ok(entry.bad.length > 0, `${name} takes input and has no bad one`);
      assert.ok(operation.isPublic || scopesOf({ name, operation, entry }).length > 0, `${name} leaves scopes to its handler; its case has to name them`);
    }
  });

  it('are public where the route table says so, and nowhere else', () => {
    for (const { name, operation } of defined) {
      for (const path of [operation.path, ...operation.aliases]) {
        assert.equal(isPublicControl(operation.method, `/v1${path.replace(/\{[\w-]+\}/g, 'x')}`), operation.isPublic, `${name}: ${operation.method} ${path}`);
      }
    }
  });

  it('name every member of their answers', () => {
    assert.deepEqual(defined.flatMap(({ name, operation }) => [...openPlaces(operation.reply)].map((place) => `${name}${place}`)), []);
  });

  it('are all that the reference has', () => {
    const plain = (text: string): string => text.replace(/\{[\w-]+\}/g, '{}');
    const served = new Set(defined.flatMap(({ operation: { method, path, aliases } }) => [path, ...aliases].map((each) => plain(`${method} ${each}`))));
    assert.equal(new Set(required).size, required.length);
    assert.deepEqual(required.filter((each) => !served.has(plain(each))), []);
  });

  for (const { name, operation, entry } of entries) {
    const { method, path } = operation;
    it(`${name}: ${method} ${path}`, async () => {
      const who = entry.as ?? 'admin';
      const key = stage.keys[who];
      const target = await entry.target(stage);
      const send = async (to: Target, options: Parameters<typeof stage.call>[3] = {}): Promise<StageReply> =>
        isShaped(name, operation, await stage.call(method, urlOf(path, to), to.body, { key, ...options, headers: { ...to.headers, ...options.headers } }));

      if (!operation.isPublic) {
        isRefused(name, 'no key', await send(target, { key: null }), 401, 'AB05');
        isRefused(name, 'scope', await send(target, { key: stage.keyWithout(who, scopesOf({ name, operation, entry })) }), 403, 'AB03');
      }

      if (!isNone(entry.foreign)) {
        const foreign = entry.foreign === undefined ? target : await entry.foreign(stage, target);
        isRefused(name, 'workspace', await send(foreign, { key: stage.keys.other }), 403, 'AB03');
      }

      const names = namesIn(path);
      const last = names.at(-1);
      if (typeof entry.unknown === 'function') isRefused(name, 'unknown', await send(await entry.unknown(stage, target)), 404, 'AB08');
      else if (last !== undefined && !isNone(entry.unknown)) {
        for (const id of ['01890000-0000-7000-8000-000000000000', 'no-such-slug']) {
          isRefused(name, 'unknown', await send({ ...target, params: { ...target.params, [last]: id } }), 404, 'AB08');
        }
      }

      const field = 'no_such_field';
      if (entry.takesUnknownQuery !== true) isRefused(name, 'field', await send(withQuery(target, `${field}=1`)), 400, 'AB01', field);
      if (method !== 'GET') isRefused(name, 'field', await send({ ...target, body: { ...target.body, [field]: 1 } }), 400, 'AB01', field);
      for (const { body, query, param } of entry.bad) {
        const changed = { ...target, ...(query === undefined ? {} : { query }) };
        const bad = isShaped(name, operation, await stage.call(method, urlOf(path, changed), body === undefined ? target.body : body, { key, ...(target.headers === undefined ? {} : { headers: target.headers }) }));
        isRefused(name, 'bad', bad, 400, 'AB01', param);
      }

      if (!isNone(entry.conflict)) isRefused(name, 'conflict', await send(await entry.conflict(stage, target)), 409, 'AB07');

      const isConditional = entry.isConditional ?? names.length > 0;
      if (takesIfMatch(operation)) assert.ok(isConditional, `${name} takes if-match, says its description`);
      const stale = await send(target, { headers: { 'if-match': '"0"' } });
      if (isConditional) isRefused(name, 'stale', stale, 412, 'AB07');
      else isRefused(name, 'if-match', stale, 400, 'AB01', 'if-match');

      const right = await send(target);
      assert.equal(right.status, entry.status ?? 200, `${name}: ${JSON.stringify(right.body)}`);
      if (isConditional && method !== 'DELETE') assert.match(right.headers.get('etag') ?? '', /^"\d+"$/, `${name} tells no version`);
      if (method === 'PUT' && isConditional && defined.some((each) => each.operation.method === 'GET' && each.operation.path === path)) {
        const read = await stage.call('GET', urlOf(path, { params: target.params ?? {} }), undefined, { key });
        assert.equal(read.headers.get('etag'), right.headers.get('etag'), `${name} tells another version than a read`);
        isRefused(name, 'stale', await send(target, { headers: { 'if-match': `"${Number(right.headers.get('etag')?.slice(1, -1)) - 1}"` } }), 412, 'AB07');
      }
      await entry.check(right, stage, target);
      (table[name] ??= []).push(`right ${right.status}`);
    });
  }

  after(() => {
    const width = Math.max(...Object.keys(table).map(({ length }) => length));
    for (const [name, found] of Object.entries(table)) process.stdout.write(`${name.padEnd(width)}  ${[...new Set(found)].join(', ')}\n`);
  });
});
