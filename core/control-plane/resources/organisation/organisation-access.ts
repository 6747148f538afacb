import { fail } from '../../../errors/gateway-error.js';
import type { Stored } from '../../../storage/change.js';
import { organisations, type OrganisationRow } from '../../../storage/tables/organisations.js';
import type { ControlContext } from '../../context.js';

/** The caller's. */
export async function ownOrganisation(context: ControlContext): Promise<Stored<OrganisationRow>> {
  const stored = await context.repository.get(organisations, context.caller.organisationId);
  if (stored === undefined) throw fail('ROW_UNKNOWN', { kind: 'organisation', id: context.caller.organisationId });
  context.subject = stored;
  return stored;
}
