import { isObject } from '@gateway/plugin-sdk';
import { slugOfModel } from '../../../plan/compile.js';
import { openConfig } from '../../../storage/open-rows.js';
import { absentSecret } from '../../../storage/sealer.js';
import { configs, type ConfigRow } from '../../../storage/tables/configs.js';
import { DeclaredSecret, declareSlugged, type DeclaredReference, type Members } from '../../define-declared.js';
import { replaceSecrets } from './config-secrets.js';
import { configsResource } from './resource.js';

/** The objects that a config or one of its targets names. A slug there may be that of a provider or of a virtual key. */
function* references(config: unknown, place: string): Generator<DeclaredReference> {
  if (!isObject(config)) return;
  const { provider, virtual_key: virtualKey, targets, override_params: override, default_params: defaults, ...others }: Members = { ...config };
  const named: readonly (readonly [member: string, slug: string | undefined])[] = [
    ['provider', typeof provider === 'string' && provider.startsWith('@') ? provider.slice(1) : undefined],
    ['virtual_key', typeof virtualKey === 'string' ? virtualKey.replace(/^@/, '') : undefined],
    ['override_params.model', slugOfModel(Object(override).model)], ['default_params.model', slugOfModel(Object(defaults).model)],
  ];
  for (const [member, name] of named) if (name !== undefined) for (const section of ['providers', 'virtual_keys']) yield { section, name, place: `${place}.${member}` };
  for (const side of ['input_guardrails', 'output_guardrails', 'input_mutators', 'output_mutators', 'before_request_hooks', 'after_request_hooks'] as const) {
    const list: unknown = others[side];
    for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
      const name: unknown = isObject(entry) ? entry.id : entry;
      if (typeof name === 'string') yield { section: 'guardrails', name, place: `${place}.${side}.${index}` };
    }
  }
  if (Array.isArray(targets)) for (const [index, target] of targets.entries()) yield* references(target, `${place}.targets.${index}`);
}

export const configsDeclared = declareSlugged<ConfigRow>({
  section: 'configs', resource: configsResource, table: configs,
  // One that somebody archived is there again; a file cannot say so.
  defaults: { is_default: false, status: 'active' },
  all: async function* all({ repository, caller }) {
    for await (const stored of repository.each(configs, { index: 'organisation', parts: [caller.organisationId] })) if (stored.row.status === 'active') yield stored;
  },
  references: ({ config }) => references(config, 'config'),
  view: async ({ sealer, services }, { row }) => ({
    slug: row.slug, name: row.name, is_default: row.isDefault, status: row.status,
    // A text that was left out of a backup is like no other.
    config: row.sealedConfig === absentSecret ? null
      : await replaceSecrets(JSON.parse(openConfig(row, sealer)), services.registry, ({ text, place }) => DeclaredSecret.of(text, place.replace(/^config\./, ''))),
  }),
});
