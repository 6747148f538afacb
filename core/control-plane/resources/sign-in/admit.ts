// Who of those whom the identity provider names may come in: users, people who are invited, and others where the settings say so. A person is known by the
// issuer's own name for them from the first sign-in on; the first time it is the e-mail address that counts, which has to be verified.

import { unknownEmail } from '../../../auth/bootstrap.js';
import type { SignedIn } from '../../../auth/oidc.js';
import { fail } from '../../../errors/gateway-error.js';
import type { OidcSettings } from '../../../settings/read.js';
import { users, type UserRow } from '../../../storage/tables/users.js';
import type { ControlContext } from '../../context.js';
import { acceptInvite, waitingInvite } from '../invites/accept-invite.js';
import { hold, settingsOf } from '../people/find-person.js';
import { followGroups } from './group-memberships.js';

/** Puts what changes into the context. Throws SIGN_IN_REFUSED. */
export async function admit(context: ControlContext, oidc: OidcSettings, organisationId: string, person: SignedIn): Promise<UserRow> {
  const settings = await settingsOf(context, organisationId);
  if (person.subject === '' || person.issuer === '') throw refused('the identity provider does not say who you are');
  const known = await context.repository.find(users, 'identity', [organisationId, person.issuer, person.subject]);
  checkDomain(person.email ?? known?.row.email ?? '', oidc.emailDomains, settings.allow_subdomains === true);
  if (known !== undefined) {
    // Who is removed at the same time is not signed in.
    hold(context, known);
    if (person.groups !== null) await followGroups(context, settings, known.row, person.groups, false, []);
    return known.row;
  }
  const { email } = person;
  if (email === undefined || email === unknownEmail || !/^[^\s@]+@[^\s@]+$/.test(email)) throw refused('the identity provider names no e-mail address of yours; it has to give the claim email');
  if (!person.isVerified && !oidc.takesUnverified) throw refused('the identity provider does not say that your e-mail address is verified');
  const { user, isNew, workspaceIds } = await firstSignIn(context, oidc, organisationId, { ...person, email });
  if (person.groups !== null) await followGroups(context, settings, user, person.groups, isNew, workspaceIds);
  return user;
}

async function firstSignIn(
  context: ControlContext, oidc: OidcSettings, organisationId: string, { email, issuer, subject, firstName, lastName }: SignedIn & { readonly email: string },
): Promise<{ readonly user: UserRow; readonly isNew: boolean; readonly workspaceIds: readonly string[] }> {
  const { repository, nowMs, change } = context;
  const identity = { issuer, subject };
  const stored = await repository.find(users, 'email', [organisationId, email]);
  if (stored !== undefined) {
    const { row } = stored;
    // Addresses are given to others in time.
    if (row.identity !== null && row.identity.issuer === issuer) throw refused('another person of the identity provider has signed in with this e-mail address before; ask an admin to remove that user');
    const user: UserRow = { ...row, identity, firstName: row.firstName || firstName, lastName: row.lastName || lastName, updatedAtMs: nowMs };
    change.update(stored, user);
    return { user, isNew: false, workspaceIds: [] };
  }
  const invite = await waitingInvite(context, organisationId, email);
  if (invite !== undefined) return { ...await acceptInvite(context, invite, { firstName, lastName }, identity), isNew: true };
  if (!oidc.takesUnknown) throw refused(`there is no user ${email.slice(0, 100)}, and no invite; ask an admin for one`);
  const user: UserRow = { id: context.newId(), organisationId, email, firstName, lastName, role: 'member', identity, createdAtMs: nowMs, updatedAtMs: nowMs };
  change.insert(users, user);
  return { user, isNew: true, workspaceIds: [] };
}

function checkDomain(email: string, domains: readonly string[], takesSubdomains: boolean): void {
  if (domains.length === 0) return;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!domains.some((each) => domain === each || (takesSubdomains && domain.endsWith(`.${each}`)))) throw refused('people with e-mail addresses of your domain do not');
}

const refused = (reason: string): Error => fail('SIGN_IN_REFUSED', { reason });
