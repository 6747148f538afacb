import { object } from '../../../storage/schema-parts.js';
import { organisations, type OrganisationRow } from '../../../storage/tables/organisations.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { Type, type TSchema } from '../../../storage/type.js';
import type { Operation } from '../../define-resource.js';
import { declareResource, filled, perform, type Members } from '../../define-declared.js';
import { organisationResource } from './resource.js';

const { update, updateDefaults, updateInputExclusions, updateOutputExclusions } = organisationResource.operations;

const list = (): TSchema<readonly string[]> => Type.Array(Type.String({ minLength: 1, maxLength: 255 }));
const noDefaults = { metadata: null, input_guardrails: null, output_guardrails: null };

export const organisationDeclared = declareResource<OrganisationRow>({
  section: 'organisation', resource: organisationResource, table: organisations, level: 'organisation', identity: null,
  entry: object({
    ...Object(Object(update?.body).properties),
    defaults: Type.Optional(updateDefaults?.body ?? {}),
    exclusions: Type.Optional(object({ input_guardrails: Type.Optional(list()), output_guardrails: Type.Optional(list()) })),
  }),
  late: ['defaults', 'exclusions'],
  find: ({ context }) => context.repository.get(organisations, context.caller.organisationId),
  all: async function* all({ repository, caller }) {
    const stored = await repository.get(organisations, caller.organisationId);
    if (stored !== undefined) yield stored;
  },
  workspaceIdOf: () => null,
  nameOf: () => '',
  view: async ({ repository }, { row }) => {
    const slugsOf = async (ids: readonly string[]): Promise<string[]> => {
      const slugs: string[] = [];
      for (const id of ids) {
        const workspace = (await repository.get(workspaces, id))?.row;
        if (workspace?.status === 'active') slugs.push(workspace.slug);
      }
      return slugs.sort();
    };
    const { metadata, input_guardrails, output_guardrails } = row.defaults;
    const excluded = { input_guardrails: await slugsOf(row.exclusions.input_guardrails), output_guardrails: await slugsOf(row.exclusions.output_guardrails) };
    const filledLists = (lists: Readonly<Record<string, readonly string[]>>): Members => Object.fromEntries(Object.entries(lists).filter(([, each]) => each.length > 0));
    return {
      name: row.name, settings: filled(row.settings) ?? null,
      defaults: filled({ ...(filled(metadata) === undefined ? {} : { metadata }), ...filledLists({ input_guardrails, output_guardrails }) }) ?? null,
      exclusions: filled(filledLists(excluded)) ?? null,
    };
  },
  // The settings in a file are complete: one that the file leaves out is removed.
  update: async ({ context }, { row }, { defaults, exclusions, settings, ...others }) => {
    let after = row;
    const run = async (operation: Operation | undefined, body: Members, take: (written: OrganisationRow) => Partial<OrganisationRow>): Promise<void> => {
      if (operation === undefined) throw new TypeError('the organisation is not changed');
      await perform(operation, context, { body });
      const written = context.change.rows.pop();
      // Each writes the row, and one member of it.
      after = { ...after, ...take(written?.after as unknown as OrganisationRow), updatedAtMs: context.nowMs };
    };
    const all = settings === undefined ? undefined : { ...Object.fromEntries(Object.keys(row.settings).map((name) => [name, null])), ...Object(settings ?? {}) };
    if (all !== undefined || Object.keys(others).length > 0) await run(update, { ...others, ...(all === undefined ? {} : { settings: all }) }, ({ name, settings: written }) => ({ name, settings: written }));
    if (defaults !== undefined) await run(updateDefaults, { ...noDefaults, ...Object(defaults) }, (written) => ({ defaults: written.defaults }));
    if (exclusions !== undefined) {
      const { input_guardrails: input = [], output_guardrails: output = [] }: Members = { ...Object(exclusions) };
      await run(updateInputExclusions, { workspaces: input }, (written) => ({ exclusions: { ...after.exclusions, input_guardrails: written.exclusions.input_guardrails } }));
      await run(updateOutputExclusions, { workspaces: output }, (written) => ({ exclusions: { ...after.exclusions, output_guardrails: written.exclusions.output_guardrails } }));
    }
    if (context.subject !== null) context.change.update(context.subject, after);
  },
  create: () => { throw new TypeError('the organisation is there'); },
});
