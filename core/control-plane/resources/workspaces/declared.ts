import { object } from '../../../storage/schema-parts.js';
import { configs } from '../../../storage/tables/configs.js';
import { workspaces, type WorkspaceRow } from '../../../storage/tables/workspaces.js';
import { declareResource, filled, membersFor, perform, type DeclaredReference, type Members } from '../../define-declared.js';
import { workspacesResource } from './resource.js';

const { create, update, remove } = workspacesResource.operations;
// Who belongs to it is said elsewhere.
const { users: _users, ...members }: Members = { ...Object(Object(create?.body).properties) };

const noDefaults = { metadata: null, input_guardrails: null, output_guardrails: null, user_api_key_config: null };

export const workspacesDeclared = declareResource<WorkspaceRow>({
  section: 'workspaces', resource: workspacesResource, table: workspaces, level: 'organisation', identity: 'slug',
  entry: object({ ...Object(members) }),
  defaults: { description: null, icon: null, defaults: null, usage_limits: [], rate_limits: [], log_bodies: null },
  // Defaults name objects of the workspace, which are made after it.
  late: ['defaults'],
  references: function* references({ defaults }): Generator<DeclaredReference> {
    const { user_api_key_config: config }: Members = { ...Object(defaults) };
    if (typeof config === 'string') yield { section: 'configs', name: config, place: 'defaults.user_api_key_config' };
  },
  find: ({ context }, slug) => context.repository.find(workspaces, 'slug', [context.caller.organisationId, slug]),
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(workspaces, { index: 'organisation', parts: [caller.organisationId] })) if (stored.row.status === 'active') yield stored;
  },
  workspaceIdOf: () => null,
  nameOf: ({ slug }) => slug,
  view: async ({ repository }, { row }) => {
    const { metadata, input_guardrails, output_guardrails, user_api_key_config: config } = row.defaults;
    const named = config === null ? undefined : (await repository.get(configs, config))?.row.slug ?? config;
    return {
      slug: row.slug, name: row.name, description: row.description, icon: row.icon, usage_limits: row.usageLimits, rate_limits: row.rateLimits, log_bodies: row.logBodies ?? null,
      defaults: filled({
        ...(filled(metadata) === undefined ? {} : { metadata }), ...(input_guardrails.length === 0 ? {} : { input_guardrails }), ...(output_guardrails.length === 0 ? {} : { output_guardrails }),
        ...(named === undefined ? {} : { user_api_key_config: named }),
      }) ?? null,
    };
  },
  update: ({ context }, stored, changed) => {
    if (update === undefined) throw new TypeError('workspaces are not changed');
    const { defaults, ...others } = changed;
    return perform(update, context, { id: stored.row.id, body: defaults === undefined ? others : { ...others, defaults: { ...noDefaults, ...Object(defaults) } } });
  },
  create: ({ context }, entry) => {
    if (create === undefined) throw new TypeError('workspaces are not made');
    return perform(create, context, { body: membersFor(entry, create.body) });
  },
  remove: ({ context }, { row }) => {
    if (remove === undefined) throw new TypeError('workspaces are not removed');
    return perform(remove, context, { id: row.id, body: { name: row.name } });
  },
});
