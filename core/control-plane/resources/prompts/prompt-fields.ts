// The members of a version of a prompt: as clients send them, checked, and as they are stored.

import { fail } from '../../../errors/gateway-error.js';
import { slugOfModel } from '../../../plan/compile.js';
import { parsePrompt } from '../../../prompts/parse-prompt.js';
import type { PromptTemplate } from '../../../prompts/prompt-template.js';
import { templateCharsMax } from '../../../prompts/template.js';
import { anyObject, object, orNull } from '../../../storage/schema-parts.js';
import { providers } from '../../../storage/tables/providers.js';
import type { PromptVersionRow } from '../../../storage/tables/prompts.js';
import { Type, type Static } from '../../../storage/type.js';
import type { ControlContext } from '../../context.js';
import { flag, isTrue } from '../../envelope.js';
import { checkPartials, parsedTemplate } from './versions.js';

/** JSON of parameters, tools and the like of one version, each. */
const jsonCharsMax = 128 * 1024;
const toolsMax = 128;

const list = () => Type.Optional(orNull(Type.Array(anyObject(), { maxItems: toolsMax })));

export const stringField = () => Type.String({ minLength: 1, maxLength: templateCharsMax });
export const collectionField = () => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'id or slug; the default collection when it is left out' }));
export const descriptionField = () => Type.Optional(orNull(Type.String({ maxLength: 1000 })));

/** Of create and update alike. */
export const versionFields = {
  model: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 512 }))),
  virtual_key: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 256, description: 'slug of a provider, with or without @; not needed where the model is written @slug/model' }))),
  version_description: descriptionField(),
  functions: list(),
  tools: list(),
  tool_choice: Type.Optional(Type.Unsafe<Readonly<Record<string, unknown>> | string | null>({ type: ['object', 'string', 'null'], maxLength: 64 })),
  is_raw_template: Type.Optional(flag()),
  template_metadata: Type.Optional(orNull(anyObject())),
  prompt_metadata: Type.Optional(orNull(anyObject())),
};

const given = object({ ...versionFields, string: Type.Optional(stringField()), parameters: Type.Optional(anyObject()) });
type GivenVersion = Static<typeof given>;

/** Any of them makes a new version. */
export const isVersioned = (body: GivenVersion): boolean =>
  [body.string, body.parameters, body.model, body.virtual_key, body.functions, body.tools, body.tool_choice, body.is_raw_template, body.template_metadata, body.prompt_metadata, body.version_description].some((each) => each !== undefined);

type VersionContent = Pick<PromptVersionRow, 'description' | 'string' | 'isRaw' | 'template' | 'parameters' | 'functions' | 'tools' | 'toolChoice' | 'metadata' | 'model' | 'provider'>;

/** `before`: the newest version, for what `given` leaves out; null: there is none. Its template as well, which is already part of it. */
export async function versionContent(context: ControlContext, workspaceId: string, body: GivenVersion, before: PromptVersionRow | null): Promise<{ readonly content: VersionContent; readonly template: PromptTemplate }> {
  const string = body.string ?? before?.string;
  if (string === undefined) throw fail('FIELD_INVALID', { param: 'string', reason: 'is required' });
  const isRaw = body.is_raw_template === undefined ? before?.isRaw ?? false : isTrue(body.is_raw_template);
  const template = parsedTemplate('string', () => parsePrompt(string, isRaw));
  await checkPartials(context, workspaceId, template.partials, null);
  const model = body.model === undefined ? before?.model ?? null : body.model;
  const provider = body.virtual_key === undefined ? before?.provider ?? null : body.virtual_key?.replace(/^@/, '') ?? null;
  await checkProvider(context, workspaceId, provider, model);
  const metadata = body.template_metadata ?? body.prompt_metadata;
  const toolChoice = body.tool_choice === undefined ? before?.toolChoice ?? null : body.tool_choice === null ? null : jsonOf('tool_choice', body.tool_choice);
  return {
    template,
    content: {
      description: body.version_description ?? '', string, isRaw, template: JSON.stringify(template), parameters: kept('parameters', body.parameters, before?.parameters, {}),
      functions: kept('functions', body.functions, before?.functions, []), tools: kept('tools', body.tools, before?.tools, []), toolChoice,
      metadata: kept('template_metadata', metadata, before?.metadata, {}), model, provider,
    },
  };
}

/** Values for members that a client leaves out when it replaces a whole version. The provider stays, since a prompt cannot be called without one. */
export const emptyVersion = (before: PromptVersionRow): PromptVersionRow =>
  ({ ...before, isRaw: false, functions: '[]', tools: '[]', toolChoice: null, metadata: '{}', model: null });

const kept = (param: string, value: unknown, before: string | undefined, empty: unknown): string =>
  (value === undefined ? before ?? JSON.stringify(empty) : jsonOf(param, value ?? empty));

function jsonOf(param: string, value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length > jsonCharsMax) throw fail('FIELD_INVALID', { param, reason: `is longer than ${jsonCharsMax} characters as JSON` });
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) throw fail('FIELD_INVALID', { param: `${param}.__proto__`, reason: 'cannot be a field; leave it out' });
  return text;
}

async function checkProvider({ repository }: ControlContext, workspaceId: string, provider: string | null, model: string | null): Promise<void> {
  const isThere = async (slug: string): Promise<boolean> => await repository.find(providers, 'slug', [workspaceId, slug]) !== undefined;
  if (provider !== null) {
    if (!await isThere(provider)) throw fail('REFERENCE_UNKNOWN', { param: 'virtual_key', kind: 'provider', id: `@${provider.slice(0, 64)} in this workspace` });
    return;
  }
  // One that begins with @ and names no provider could be a model of the provider that the prompt does not name.
  const slug = slugOfModel(model);
  if (slug === undefined) throw fail('FIELD_INVALID', { param: 'virtual_key', reason: 'is required: the slug of a provider, unless the model is written @slug/model' });
  if (!await isThere(slug)) throw fail('REFERENCE_UNKNOWN', { param: 'model', kind: 'provider', id: `@${slug.slice(0, 64)} in this workspace` });
}
