import { Type } from '../type.js';
import { defineTable, type RowOf } from '../define-table.js';
import { choice, filledText, object, orNull, timeMs } from '../schema-parts.js';
import { slugIndexes } from './slug-indexes.js';

/** Key of an index in the order of the last change, oldest first. */
const inOrder = (timeInMs: number): string => String(timeInMs).padStart(15, '0');

/** Of a version that calls reach without its number: slugs of the partials that its template names. */
const use = () => object({ number: Type.Integer({ minimum: 1 }), partials: Type.Array(filledText()) });

const common = {
  id: filledText(),
  organisationId: filledText(),
  workspaceId: filledText(),
  slug: filledText(),
  name: Type.String(),
  /** The default collection of a workspace has the workspace's id. */
  collectionId: filledText(),
  status: choice(['active', 'archived']),
  /** Numbers and ids of the published and of the newest version. */
  published: Type.Integer({ minimum: 1 }),
  publishedId: filledText(),
  latest: Type.Integer({ minimum: 1 }),
  latestId: filledText(),
  uses: Type.Array(use()),
  createdBy: filledText(),
  createdAtMs: timeMs(),
  updatedAtMs: timeMs(),
};

const inCollection = {
  ...slugIndexes,
  collection: { of: (row: { readonly collectionId: string; readonly updatedAtMs: number }) => [row.collectionId, inOrder(row.updatedAtMs)] },
};

/** A prompt, which calls name by its slug. Its content is in its versions. */
export const prompts = defineTable({
  name: 'prompt',
  format: 1,
  schema: object({
    ...common,
    /** Model of the published version, for lists. */
    model: orNull(Type.String()),
    /** One version has a label, and a version one label. */
    labels: Type.Array(object({ labelId: filledText(), number: Type.Integer({ minimum: 1 }), versionId: filledText() })),
  }),
  indexes: inCollection,
});
export type PromptRow = RowOf<typeof prompts>;

export const promptVersions = defineTable({
  name: 'prompt-version',
  format: 1,
  schema: object({
    id: filledText(),
    promptId: filledText(),
    workspaceId: filledText(),
    /** From 1, in the order of their making. */
    number: Type.Integer({ minimum: 1 }),
    description: Type.String(),
    string: Type.String(),
    isRaw: Type.Boolean(),
    /** PromptTemplate of `string`, as JSON. */
    template: filledText(),
    /** JSON objects and lists, as texts. */
    parameters: filledText(),
    functions: filledText(),
    tools: filledText(),
    toolChoice: orNull(Type.String()),
    metadata: filledText(),
    model: orNull(Type.String()),
    /** Slug of the provider, without @; null: the model names it. */
    provider: orNull(Type.String()),
    createdBy: filledText(),
    createdAtMs: timeMs(),
  }),
  indexes: {
    prompt: { of: (row) => [row.promptId] },
    number: { isUnique: true, of: (row) => [row.promptId, String(row.number)] },
  },
});
export type PromptVersionRow = RowOf<typeof promptVersions>;

/** A piece of template that prompts of its workspace name by its slug. */
export const promptPartials = defineTable({
  name: 'prompt-partial',
  format: 1,
  schema: object(common),
  indexes: inCollection,
});
export type PromptPartialRow = RowOf<typeof promptPartials>;

export const partialVersions = defineTable({
  name: 'partial-version',
  format: 1,
  schema: object({
    id: filledText(),
    partialId: filledText(),
    workspaceId: filledText(),
    number: Type.Integer({ minimum: 1 }),
    description: Type.String(),
    string: Type.String(),
    /** Template of `string`, as JSON. */
    template: filledText(),
    createdBy: filledText(),
    createdAtMs: timeMs(),
  }),
  indexes: {
    partial: { of: (row) => [row.partialId] },
    number: { isUnique: true, of: (row) => [row.partialId, String(row.number)] },
  },
});
export type PartialVersionRow = RowOf<typeof partialVersions>;

export const promptLabels = defineTable({
  name: 'prompt-label',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    /** Its name, which calls write behind the @. */
    slug: filledText(),
    description: Type.String(),
    colorCode: Type.String(),
    createdBy: filledText(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: slugIndexes,
});
export type PromptLabelRow = RowOf<typeof promptLabels>;

export const promptCollections = defineTable({
  name: 'prompt-collection',
  format: 1,
  schema: object({
    id: filledText(),
    organisationId: filledText(),
    workspaceId: filledText(),
    slug: filledText(),
    name: Type.String(),
    parentId: orNull(filledText()),
    createdBy: filledText(),
    createdAtMs: timeMs(),
    updatedAtMs: timeMs(),
  }),
  indexes: {
    ...slugIndexes,
    parent: { of: (row) => (row.parentId === null ? null : [row.parentId, inOrder(row.updatedAtMs)]) },
  },
});
export type PromptCollectionRow = RowOf<typeof promptCollections>;
