import { secretReferences, type SecretReferenceRow } from '../../../storage/tables/secret-references.js';
import { workspaces } from '../../../storage/tables/workspaces.js';
import { declareResource, secretsIn, type DeclaredReference } from '../../define-declared.js';
import { authOf } from './auth-config.js';
import { secretReferencesResource } from './resource.js';

export const secretReferencesDeclared = declareResource<SecretReferenceRow>({
  section: 'secret_references', resource: secretReferencesResource, table: secretReferences, level: 'organisation', identity: 'slug',
  // Who may map it stays as it is when the file says nothing of it.
  defaults: { description: null, auth_config: {}, secret_key: null, tags: null },
  references: function* references({ allowed_workspaces: allowed }): Generator<DeclaredReference> {
    const names: readonly unknown[] = Array.isArray(allowed) ? allowed : [];
    for (const [index, name] of names.entries()) if (typeof name === 'string') yield { section: 'workspaces', name, place: `allowed_workspaces.${index}` };
  },
  find: ({ context }, slug) => context.repository.find(secretReferences, 'slug', [context.caller.organisationId, slug]),
  all: ({ repository, caller }) => repository.each(secretReferences, { index: 'organisation', parts: [caller.organisationId] }),
  workspaceIdOf: () => null,
  nameOf: ({ slug }) => slug,
  view: async (context, { row }) => {
    const allowed: string[] = [];
    for (const id of row.workspaces) {
      const workspace = (await context.repository.get(workspaces, id))?.row;
      if (workspace?.status === 'active') allowed.push(workspace.slug);
    }
    const auth = authOf(context, row);
    return {
      slug: row.slug, name: row.name, description: row.description, manager_type: row.managerType,
      auth_config: Object.fromEntries(Object.entries(auth).map(([name, value]) => [name, Object.hasOwn(row.authConfig, name) ? value : secretsIn(value, name)])),
      secret_path: row.path, secret_key: row.key, tags: row.tags, allow_all_workspaces: row.allowsAllWorkspaces, ...(row.allowsAllWorkspaces ? {} : { allowed_workspaces: allowed }),
    };
  },
});
