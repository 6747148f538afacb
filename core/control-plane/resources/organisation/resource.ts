import { object, orNull } from '../../../storage/schema-parts.js';
import type { OrganisationRow } from '../../../storage/tables/organisations.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { defineResource, operation, type Reply } from '../../define-resource.js';
import { idText, named, nothing, time, timeText } from '../../envelope.js';
import { metadataField } from '../../metadata.js';
import { namedGuardrails } from '../guardrails/guardrail-users.js';
import { exclusionList, exclusionUpdate } from './exclusions.js';
import { ownOrganisation } from './organisation-access.js';
import { changedSettings, settingsFields } from './settings-fields.js';

const guardrailsMax = 100;
const guardrails = () => Type.Optional(orNull(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: guardrailsMax, uniqueItems: true })));

const updateFields = object({ name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })), settings: Type.Optional(settingsFields) });
const defaultsFields = object({ metadata: Type.Optional(orNull(metadataField())), input_guardrails: guardrails(), output_guardrails: guardrails() });

const defaultsMembers = { metadata: metadataField(), input_guardrails: Type.Array(Type.String()), output_guardrails: Type.Array(Type.String()) };
const organisationSchema = named('Organisation', object({
  id: idText(), object: Type.Literal('organisation'), name: Type.String(), created_at: timeText(), last_updated_at: timeText(), settings: settingsFields, defaults: object(defaultsMembers),
}));

const view = (row: OrganisationRow): Reply => ({
  id: row.id, object: 'organisation', name: row.name, created_at: time(row.createdAtMs), last_updated_at: time(row.updatedAtMs), settings: row.settings, defaults: row.defaults,
});

async function update(context: ControlContext, { name, settings }: Static<typeof updateFields>): Promise<Reply> {
  const stored = await ownOrganisation(context);
  const { row } = stored;
  context.change.update(stored, { ...row, name: name ?? row.name, settings: settings === undefined ? row.settings : changedSettings(settings, row.settings), updatedAtMs: context.nowMs });
  return {};
}

async function updateDefaults(context: ControlContext, { metadata, input_guardrails, output_guardrails }: Static<typeof defaultsFields>): Promise<Reply> {
  const stored = await ownOrganisation(context);
  const { defaults } = stored.row;
  context.change.update(stored, {
    ...stored.row, updatedAtMs: context.nowMs,
    defaults: {
      metadata: metadata === undefined ? defaults.metadata : metadata ?? {},
      input_guardrails: input_guardrails === undefined ? defaults.input_guardrails : await namedGuardrails(context, null, input_guardrails ?? [], 'input_guardrails', 'input_guardrails'),
      output_guardrails: output_guardrails === undefined ? defaults.output_guardrails : await namedGuardrails(context, null, output_guardrails ?? [], 'output_guardrails', 'output_guardrails'),
    },
  });
  return {};
}

export const organisationResource = defineResource({
  name: 'organisation',
  kind: 'organisation',
  operations: {
    read: operation({
      method: 'GET', path: '/admin/organisation', aliases: ['/organisation/settings'], scope: 'organisation_settings.read', reply: organisationSchema,
      handle: async (context) => view((await ownOrganisation(context)).row),
    }),
    update: operation({
      method: 'PUT', path: '/admin/organisation', aliases: ['/organisation/settings'], scope: 'organisation_settings.update', action: 'updated', body: updateFields, reply: nothing,
      handle: (context, { body }) => update(context, body),
    }),
    readDefaults: operation({
      method: 'GET', path: '/admin/organisation/defaults', scope: 'organisation_settings.read', reply: object({ ...defaultsMembers, object: Type.Literal('organisation-defaults') }),
      handle: async (context) => ({ ...(await ownOrganisation(context)).row.defaults, object: 'organisation-defaults' }),
    }),
    updateDefaults: operation({
      method: 'PUT', path: '/admin/organisation/defaults', scope: 'organisation_settings.update', action: 'updated', body: defaultsFields, reply: nothing,
      handle: (context, { body }) => updateDefaults(context, body),
    }),
    listInputExclusions: exclusionList('input_guardrails'),
    updateInputExclusions: exclusionUpdate('input_guardrails'),
    listOutputExclusions: exclusionList('output_guardrails'),
    updateOutputExclusions: exclusionUpdate('output_guardrails'),
  },
});
