import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { anyObject, filledText, object, orNull, textMap, timeMs } from '../schema-parts.js';

/** A secret that stands elsewhere: which manager has it, how to get in there, and where it lies. Its value is in no row. */
export const secretReferences = defineTable({
  name: 'secret-reference',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    slug: filledText(),
    name: Type.String(),
    description: orNull(Type.String()),
    /** As the client calls the manager. */
    managerType: filledText(),
    /** Id of the plugin. */
    managerId: filledText(),
    /** Members of the credentials that are not secrets. */
    authConfig: anyObject(),
    /** JSON of an object: those that are. */
    sealedAuth: orNull(filledText()),
    /** How replies show them. */
    maskedAuth: textMap(),
    path: filledText(),
    /** Member of the document at the path; null: the document is one value, or the mapping names the member. */
    key: orNull(filledText()),
    allowsAllWorkspaces: Type.Boolean(),
    /** Ids; without `allowsAllWorkspaces` the only ones. */
    workspaces: Type.Array(filledText()),
    tags: Type.Unsafe<Readonly<Record<string, string>> | null>({ type: ['object', 'null'], additionalProperties: { type: 'string' } }),
    createdBy: Type.String(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    organisation: { of: (row) => [row.organisationId] },
    slug: { isUnique: true, of: (row) => [row.organisationId, row.slug] },
  },
  secrets: ['sealedAuth'],
});
export type SecretReferenceRow = RowOf<typeof secretReferences>;

export const isOpenTo = (row: Pick<SecretReferenceRow, 'allowsAllWorkspaces' | 'workspaces'>, workspaceId: string): boolean => row.allowsAllWorkspaces || row.workspaces.includes(workspaceId);
