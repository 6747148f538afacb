// Sign-in of people: to the identity provider, back from it, who is signed in, and out again.

import { hashKey } from '../../../auth/key.js';
import type { OidcClient } from '../../../auth/oidc.js';
import { actsEverywhere } from '../../../auth/roles.js';
import { fail, isGatewayError } from '../../../errors/gateway-error.js';
import { sessionMsMax } from '../../../snapshot/session-age.js';
import { choice, object, orNull } from '../../../storage/schema-parts.js';
import { bootstraps } from '../../../storage/tables/bootstraps.js';
import { sessions } from '../../../storage/tables/sessions.js';
import { organisationRoles, users, type UserRow } from '../../../storage/tables/users.js';
import { workspaceRoles } from '../../../storage/tables/workspace-members.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type Static } from '../../../storage/type.js';
import { nobody, type ControlContext } from '../../context.js';
import { cookieOf, isSecureOrigin, sessionCookie, setCookie, signInCookie } from '../../cookies.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { nothing, time, timeText } from '../../envelope.js';
import { ownAuditRecord } from '../../jobs.js';
import { headerOf, isLoopbackHost } from '../../request-facts.js';
import { settingsOf } from '../people/find-person.js';
import { membershipsOf } from '../people/membership.js';
import { addSession } from './add-session.js';
import { admit } from './admit.js';

/** From the button to the way back. */
const signInSeconds = 600;
const workspacesShown = 1_000;
const sealedPlace = 'sign-in/cookie/state';
const returnCharsMax = 2_048;

const loginQuery = object({ return_to: Type.Optional(Type.String({ maxLength: returnCharsMax, description: 'a path of this gateway that the browser goes to when the person is signed in' })) });
/** Whoever sends the browser back may add more (RFC 6749, section 4.1.2). */
const callbackQuery = Type.Object({ code: Type.Optional(Type.String()), state: Type.Optional(Type.String()), error: Type.Optional(Type.String()) }, { additionalProperties: { type: 'string' } });

const sessionReply = object({
  object: Type.Literal('session'), type: choice(['user', 'api_key']),
  user: orNull(object({ id: Type.String(), email: Type.String(), first_name: Type.String(), last_name: Type.String(), role: choice(organisationRoles) })),
  workspaces: Type.Array(object({ id: Type.String(), slug: Type.String(), name: Type.String(), role: choice(workspaceRoles) })),
  created_at: orNull(timeText()), expires_at: orNull(timeText()),
});

interface Remembered {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
  readonly expiresAtMs: number;
}

/** Throws SIGN_IN_OFF. */
function openTo(context: ControlContext): { readonly oidc: OidcClient; readonly origin: string; readonly isSecure: boolean } {
  const { oidc, publicUrl } = context.services;
  if (oidc === undefined) throw fail('SIGN_IN_OFF', { reason: 'set GATEWAY_OIDC_ISSUER and GATEWAY_OIDC_CLIENT_ID first' });
  // Whoever names another host in a call would have codes of the issuer sent there.
  if (publicUrl === undefined && !isLoopbackHost(headerOf(context.request, 'host') ?? '')) throw fail('SIGN_IN_OFF', { reason: 'set GATEWAY_PUBLIC_URL first, the address under which browsers reach the gateway' });
  const { origin } = context;
  return { oidc, origin, isSecure: isSecureOrigin(origin) };
}

/** A path of this gateway, and nothing that a browser would take for another place. Throws FIELD_INVALID. */
function localPath(given: string): string {
  const base = 'http://gateway.invalid';
  const isLocal = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(given) && URL.canParse(given, base) && new URL(given, base).origin === base;
  if (!isLocal) throw fail('FIELD_INVALID', { param: 'return_to', reason: 'must be a path of this gateway, such as /console' });
  return given;
}

async function login(context: ControlContext, { return_to = '/' }: Static<typeof loginQuery>): Promise<Reply> {
  const returnTo = localPath(return_to);
  const { oidc, origin, isSecure } = openTo(context);
  const { url, ...secrets } = await oidc.begin(`${origin}/auth/callback`);
  const remembered: Remembered = { ...secrets, returnTo, expiresAtMs: context.nowMs + signInSeconds * 1000 };
  const sealed = Buffer.from(context.sealer.seal(JSON.stringify(remembered), sealedPlace), 'base64').toString('base64url');
  sendTo(context, url, setCookie(signInCookie(isSecure), sealed, signInSeconds, isSecure));
  return {};
}

function sendTo({ answer }: ControlContext, url: string, ...cookies: readonly string[]): void {
  answer.status = 302;
  answer.headers.push('location', url, 'cache-control', 'no-store', ...cookies.flatMap((cookie) => ['set-cookie', cookie]));
}

/** Throws SIGN_IN_FAILED. */
function remembered(context: ControlContext, isSecure: boolean, state: string | undefined): Remembered {
  const sealed = cookieOf(headerOf(context.request, 'cookie') ?? '', signInCookie(isSecure));
  const gone = (): Error => fail('SIGN_IN_FAILED', { reason: 'it was not begun in this browser, or it took too long' });
  if (sealed === undefined || sealed === '') throw gone();
  try {
    // The seal is ours, so the text is one that this file has written.
    const value: Remembered = JSON.parse(context.sealer.open(Buffer.from(sealed, 'base64url').toString('base64'), sealedPlace));
    if (value.expiresAtMs > context.nowMs && value.state === state) return value;
  } catch (thrown) {
    if (!isGatewayError(thrown)) throw thrown;
  }
  throw gone();
}

async function callback(context: ControlContext, query: Static<typeof callbackQuery>): Promise<Reply> {
  const { oidc, origin, isSecure } = openTo(context);
  const { returnTo, ...secrets } = remembered(context, isSecure, query.state);
  const stateHash = hashKey(secrets.state);
  const { repository, nowMs, change } = context;
  if (await repository.find(sessions, 'state', [stateHash]) !== undefined) throw fail('SIGN_IN_FAILED', { reason: 'this sign-in was finished before' });
  const address = new URL(`${origin}/auth/callback`);
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') address.searchParams.set(name, value);
  const person = await oidc.finish(address, secrets);
  const first = await repository.get(bootstraps, 'first');
  if (first === undefined) throw fail('ROW_UNKNOWN', { kind: 'organisation', id: 'first' });
  const { organisationId } = first.row;
  context.actor = { ...nobody, organisationId };
  const user = await admit(context, oidc.settings, organisationId, person);
  const lifeMs = sessionMsMax(await settingsOf(context, organisationId));
  const { id, token } = await addSession(context, user, stateHash, lifeMs);
  change.audit.push({ ...ownAuditRecord(nowMs, { organisationId, workspaceId: null, resourceType: 'session', uri: '/auth/callback' }, 'signed-in', { session_id: id, email: user.email }), method: 'GET', user_id: user.id, user_type: 'user' });
  sendTo(context, returnTo, setCookie(sessionCookie(isSecure), token, Math.floor(lifeMs / 1000), isSecure), setCookie(signInCookie(isSecure), '', 0, isSecure));
  return {};
}

async function logout(context: ControlContext): Promise<Reply> {
  const { caller, repository, nowMs, services } = context;
  const stored = caller.keyType === 'session' ? await repository.get(sessions, caller.keyId) : undefined;
  if (stored !== undefined) context.change.update(stored, { ...stored.row, endedAtMs: nowMs });
  const isSecure = services.publicUrl === undefined ? services.isTls === true : isSecureOrigin(services.publicUrl);
  context.answer.headers.push('set-cookie', setCookie(sessionCookie(isSecure), '', 0, isSecure));
  return {};
}

async function whoAmI(context: ControlContext): Promise<Reply> {
  const { caller, repository } = context;
  context.answer.headers.push('cache-control', 'no-store');
  if (caller.keyType === 'none') throw fail('SESSION_INVALID');
  const session = caller.keyType === 'session' ? await repository.get(sessions, caller.keyId) : undefined;
  const user = session === undefined ? undefined : await repository.get(users, session.row.userId);
  if (session === undefined || user === undefined) return { object: 'session', type: 'api_key', user: null, workspaces: [], created_at: null, expires_at: null };
  const { row } = user;
  const expiresAtMs = Math.min(session.row.expiresAtMs, session.row.createdAtMs + sessionMsMax(await settingsOf(context, row.organisationId)));
  return {
    object: 'session', type: 'user', user: { id: row.id, email: row.email, first_name: row.firstName, last_name: row.lastName, role: row.role },
    workspaces: await workspacesOf(context, row), created_at: time(session.row.createdAtMs), expires_at: time(expiresAtMs),
  };
}

async function workspacesOf(context: ControlContext, user: UserRow): Promise<readonly Reply[]> {
  const { repository } = context;
  const shown: Reply[] = [];
  if (actsEverywhere(user.role)) {
    for await (const { row } of repository.page(workspaces, { index: 'organisation', parts: [user.organisationId], limit: workspacesShown, reverse: true })) {
      if (row.status === 'active') shown.push({ id: row.id, slug: row.slug, name: row.name, role: 'admin' });
    }
    return shown;
  }
  for (const { row: { workspaceId, role } } of (await membershipsOf(context, user.id)).slice(0, workspacesShown)) {
    const row = (await repository.get(workspaces, workspaceId))?.row;
    if (row?.status === 'active') shown.push({ id: row.id, slug: row.slug, name: row.name, role });
  }
  return shown;
}

export const signInResource = defineResource({
  name: 'sign-in',
  kind: 'session',
  operations: {
    login: operation({ method: 'GET', path: '/auth/login', scope: null, isPublic: true, status: 302, query: loginQuery, reply: nothing, handle: (context, { query }) => login(context, query) }),
    callback: operation({ method: 'GET', path: '/auth/callback', scope: null, isPublic: true, status: 302, query: callbackQuery, reply: nothing, handle: (context, { query }) => callback(context, query) }),
    session: operation({ method: 'GET', path: '/auth/session', scope: null, isPublic: true, reply: sessionReply, handle: (context) => whoAmI(context) }),
    logout: operation({ method: 'POST', path: '/auth/logout', scope: null, isPublic: true, action: 'deleted', reply: nothing, handle: (context) => logout(context) }),
  },
});
