import type { CachePlugin } from './kinds/cache.js';
import type { ExporterPlugin } from './kinds/exporter.js';
import type { GuardrailPlugin } from './kinds/guardrail.js';
import type { HookPlugin } from './kinds/hook.js';
import type { Auth, Endpoint, ProviderPlugin } from './kinds/provider.js';
import type { SecretsPlugin } from './kinds/secrets.js';
import type { StoragePlugin } from './kinds/storage.js';
import type { StrategyPlugin } from './kinds/strategy.js';
import type { ObjectSchema, Schema } from './schema.js';
import type { EndpointName } from './shared.js';

type Definition<P> = Omit<P, 'kind' | 'contract'>;
type ProviderDefinition<S extends ObjectSchema> = Omit<Definition<ProviderPlugin<S>>, 'params'> & { readonly params?: S };

const noParams = { type: 'object', properties: {} } as const satisfies ObjectSchema;
const apiKey = { type: 'string', secret: true, description: 'API key of the provider.' } as const satisfies Schema;

/** Signatures are made of credentials that each provider has of its own. */
const sendsKey = ({ type }: Auth): boolean => type !== 'none' && type !== 'signed';

function withApiKey<S extends ObjectSchema>(auth: Auth, params: S | undefined): S;
function withApiKey(auth: Auth, params: ObjectSchema = noParams): ObjectSchema {
  return sendsKey(auth) && params.properties.api_key === undefined ? { ...params, properties: { api_key: apiKey, ...params.properties } } : params;
}

export const defineStrategy = <const S extends ObjectSchema>(plugin: Definition<StrategyPlugin<S>>): StrategyPlugin<S> =>
  ({ kind: 'strategy', contract: 1, ...plugin });
export const defineCache = <const S extends ObjectSchema>(plugin: Definition<CachePlugin<S>>): CachePlugin<S> =>
  ({ kind: 'cache', contract: 1, ...plugin });
export const defineGuardrail = <const S extends ObjectSchema>(plugin: Definition<GuardrailPlugin<S>>): GuardrailPlugin<S> =>
  ({ kind: 'guardrail', contract: 1, ...plugin });
export const defineHook = <const S extends ObjectSchema>(plugin: Definition<HookPlugin<S>>): HookPlugin<S> =>
  ({ kind: 'hook', contract: 1, ...plugin });
/**
 * A provider whose auth sends the API key takes an `api_key` without saying so. One that is declared stays as it is; where credentials are read
 * in a function (`baseUrl`, `sign`), declare it.
 */
export const defineProvider = <const S extends ObjectSchema = typeof noParams>(plugin: ProviderDefinition<S>): ProviderPlugin<S> =>
  ({ kind: 'provider', contract: 1, ...plugin, params: withApiKey(plugin.auth, plugin.params) });
export const defineStorage = <const S extends ObjectSchema>(plugin: Definition<StoragePlugin<S>>): StoragePlugin<S> =>
  ({ kind: 'storage', contract: 1, ...plugin });
export const defineExporter = <const S extends ObjectSchema>(plugin: Definition<ExporterPlugin<S>>): ExporterPlugin<S> =>
  ({ kind: 'exporter', contract: 1, ...plugin });
export const defineSecrets = <const S extends ObjectSchema>(plugin: Definition<SecretsPlugin<S>>): SecretsPlugin<S> =>
  ({ kind: 'secrets', contract: 1, ...plugin });

/** Paths that OpenAI's own API gives its endpoints, below the version segment. */
export const openaiPaths = {
  chatCompletions: '/chat/completions',
  completions: '/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  imageGenerations: '/images/generations',
  imageEdits: '/images/edits',
  imageVariations: '/images/variations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  rerank: '/rerank',
  moderations: '/moderations',
  files: '/files',
  batches: '/batches',
  fineTuning: '/fine_tuning/jobs',
  models: '/models',
} as const satisfies Partial<Record<EndpointName, string>>;

/** A provider that speaks OpenAI's wire format. */
export interface CompatibleProvider {
  readonly title: string;
  readonly describe: string;
  readonly baseUrl: string;
  /** Default: the API key as `Authorization: Bearer`. */
  readonly auth?: ProviderPlugin['auth'];
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's name in the gateway's table of prices and models, if it is not its id. */
  readonly priceTable?: string;
  /** Credentials and settings beside `api_key`. */
  readonly params?: ObjectSchema;
  /** What clients call them besides. */
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** `true` takes OpenAI's own path. */
  readonly endpoints: { readonly [E in Exclude<EndpointName, 'proxy'>]?: (E extends keyof typeof openaiPaths ? true : never) | Endpoint };
}

/** An OpenAI-compatible provider as pure data: bearer auth, one `api_key`, and the paths of OpenAI unless told otherwise. */
export const defineCompatible = (provider: CompatibleProvider): ProviderPlugin => {
  const endpoints: Record<string, Endpoint> = {};
  for (const [name, spec] of Object.entries(provider.endpoints)) {
    endpoints[name] = spec === true ? openaiPaths[name as keyof typeof openaiPaths] : spec;
  }
  return defineProvider({ ...provider, auth: provider.auth ?? { type: 'bearer' }, endpoints });
};
